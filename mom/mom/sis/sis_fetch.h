#ifndef SIS_FETCH_H
#define SIS_FETCH_H
/* Files that the last run of a job has left on another host, brought here piece by piece (SIS FETCH). What goes wrong on
 * the way is tried again from the first file, until the other host cannot be reached for some seconds, or has put us off for
 * some minutes; what it refuses is not.
 * Nothing is forgotten there before sis_fetch_confirm. Loop thread only. */
#include <stddef.h>

#include "err.h"

struct sis_fetch;
struct mom;
struct run;

struct sis_fetch_spec {
    const char *from;         /* "SERVICE ADDRESS" as in START; ADDRESS "-": it is away. Copied */
    const char *const *files; /* as FETCH names them; outlives it */
    size_t n_files;
    /* ^ A descriptor to write file `i` to, from its beginning; ours from then on. Not called for one that is empty. */
    int (*make)(void *arg, size_t i, struct err *e);
    /* ^ Once, never inside sis_fetch_begin: all is here (NULL), or `why`: PBSE_SISCOMM, the host cannot be reached, or does not come to it; PBSE_SYSTEM,
     * something is wrong there or here; else what it has refused with. Not after sis_fetch_stop, which may be called in it. */
    void (*over)(void *arg, const struct err *why);
    void *arg;
};

/* NULL: no memory. */
struct sis_fetch *sis_fetch_begin(struct mom *m, const struct run *r, const struct sis_fetch_spec *spec,
                                  struct err *e);
const char *sis_fetch_service(const struct sis_fetch *b); /* whose files they are */
/* After over(NULL): what has come is on record here, the other host may forget it. `b` is freed by itself; *at, where the
 * owner has it, is set to NULL then. */
void sis_fetch_confirm(struct sis_fetch *b, struct sis_fetch **at);
void sis_fetch_stop(struct sis_fetch *b); /* NULL is fine */

#endif
