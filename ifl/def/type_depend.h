#ifndef TYPE_DEPEND_H
#define TYPE_DEPEND_H
/* Dependencies between jobs: "afterok:12.srv:13.srv,on:2".
 *
 * The value is the text, interned; the server asks for the parsed form when it acts on it. That a target
 * exists is not looked at here.
 */
#include <stdbool.h>
#include <stddef.h>

#include "value.h"

enum depend_kind {
    DEPEND_AFTER,
    DEPEND_AFTEROK,
    DEPEND_AFTERNOTOK,
    DEPEND_AFTERANY,
    DEPEND_BEFORE,
    DEPEND_BEFOREOK,
    DEPEND_BEFORENOTOK,
    DEPEND_BEFOREANY,
    DEPEND_ON,
    DEPEND_RUNONE,
    DEPEND_SYNCCOUNT,
    DEPEND_SYNCWITH,
    DEPEND_KIND_COUNT
};

struct depend {
    enum depend_kind kind;
    int64_t count;      /* ON, SYNCCOUNT */
    const char *target; /* else: a job's id, or "id@server"; into the text of the list */
    size_t target_len;
};

enum { DEPEND_MAX = 16384 }; /* targets in one list */

extern const struct value_type type_depend;

const char *depend_kind_name(enum depend_kind k); /* "afterok" */
bool depend_has_count(enum depend_kind k);        /* a number follows, no job */
bool depend_is_after(enum depend_kind k);         /* the job that has it waits */
bool depend_is_before(enum depend_kind k);        /* another job waits for the one that has it */

/* One element for each target or count, in order. *out: n elements that the caller frees; they borrow `text`.
 * -1: PBSE_BADATVAL with what would be right; PBSE_SYSTEM no memory. */
int depend_parse(const char *text, struct depend **out, size_t *n, struct err *e);

#endif
