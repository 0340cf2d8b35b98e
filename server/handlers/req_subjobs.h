#ifndef REQ_SUBJOBS_H
#define REQ_SUBJOBS_H
/* Requests that name subjobs: one (41[3]), some (41[1-9:2]), or all of an array (41[]). */
#include "parts.h"
#include "request.h"

struct idset;

struct req_subjobs {
    struct parts *parts;
    struct job *array;    /* referenced */
    struct idset *chosen; /* NULL: all */
    bool few_chosen;      /* fewer than there are objects: the walk looks each up */
    int64_t at;
};

/* Does this name mean subjobs? 1: *out is filled, and req_subjobs_end frees it; 0: it names an ordinary job;
 * -1: PBSE_IVALREQ, PBSE_UNKJOBID (no such array, or none of these indices), PBSE_PERM, PBSE_HISTJOBID, and
 * PBSE_NOHISTARRAYSUBJOB: all of them have ended. */
int req_subjobs_find(struct parts *p, const struct request *r, const char *id, struct req_subjobs *out,
                     struct err *e);
void req_subjobs_end(struct req_subjobs *s);

/* The next of them that is an object, by index; NULL: no more. Jobs may come and go between two calls. */
struct job *req_subjobs_next(struct req_subjobs *s);

/* The job of this name, for a user who may act on it; a queued index of an array becomes one: *fresh, and it is to be
 * kept or folded in this loop iteration (queued/arrays.h). NULL: as req_find_job, and what arrays_may_start says. */
struct job *req_subjobs_need_job(struct parts *p, const struct request *r, const char *id, bool *fresh,
                                 struct err *e);

#endif
