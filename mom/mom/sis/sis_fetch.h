#ifndef SIS_FETCH_H
#define SIS_FETCH_H
/* Files that the last run of a job has left on another host, brought here piece by piece (SIS FETCH). What goes wrong on
 * the way is tried again from the first file, until the other host cannot be reached for some seconds, or has put us off for
 * some minutes; what it refuses is not.
 * Nothing is forgotten there before bring_confirm. Loop thread only. */
#include <stddef.h>

#include "err.h"

struct bring;
struct parts;
struct run;

struct bring_spec {
    const char *from;         /* "SERVICE ADDRESS" as in START; ADDRESS "-": it is away. Copied */
    const char *const *files; /* as FETCH names them; outlives it */
    size_t n_files;
    /* ^ A descriptor to write file `i` to, from its beginning; ours from then on. Not called for one that is empty. */
    int (*make)(void *arg, size_t i, struct err *e);
    /* ^ Once, never inside bring_begin: all is here (NULL), or `why`: PBSE_SISCOMM, the host cannot be reached, or does not come to it; PBSE_SYSTEM,
     * something is wrong there or here; else what it has refused with. Not after bring_stop, which may be called in it. */
    void (*over)(void *arg, const struct err *why);
    void *arg;
};

/* NULL: no memory. */
struct bring *bring_begin(struct parts *m, const struct run *r, const struct bring_spec *spec, struct err *e);
const char *bring_service(const struct bring *b); /* whose files they are */
/* After over(NULL): what has come is on record here, the other host may forget it. `b` is freed by itself; *at, where the
 * owner has it, is set to NULL then. */
void bring_confirm(struct bring *b, struct bring **at);
void bring_stop(struct bring *b); /* NULL is fine */

#endif
