#ifndef STATUS_STATE_H
#define STATUS_STATE_H
/* The fields of a query, for the files status*.c; others ask status.h. The comments say which file writes.
 *
 * Each calls those before it: status.c (objects to bytes and to history rows), status_names.c, status_entry.c, status_history.c,
 * status_past.c, status_arrays.c, status_query.c (the walk, and the answer). */
#include "attrib_render.h"
#include "jobid.h"
#include "status.h"

struct array_map;
struct idset;
struct status_past;
struct rpc_request;

struct status {
    struct server_ctx *ctx;
    struct store_reader *store_reader; /* NULL: no history */
    struct attrib_render *attrib_render;
};

struct found { /* a history row, copied out of the reader's hands */
    struct job_key key;
    char *id, *owner, *queue, *attrs;
};

struct status_query {
    /* what is asked: status_query.c, and status_names.c with the names */
    struct status *st;
    enum attr_of of;
    struct attr_select want;
    struct attr_reader reader;
    const char *who; /* interned */
    struct select_criteria *select_criteria;
    bool names_only, subjobs, history;
    bool no_arrays;    /* subjobs are shown instead of their arrays */
    bool only_objects; /* of subjobs those that run, or have run */
    void (*wake)(void *arg);
    void *wake_arg;
    struct rpc_request *request; /* of status_query_reply */

    /* what is walked: status_names.c; status_query.c and status_arrays.c step */
    bool everything; /* no names were asked for: what vanishes meanwhile is not reported */
    bool all_jobs;
    const char *queue;    /* interned: jobs of this queue only; NULL: all */
    const char **names;   /* interned; of jobs: as asked */
    struct job_key *keys; /* of jobs, beside names */
    size_t n, cap, at;
    size_t ranged;       /* subjobs of the arrays of whose ranges it names: each may be shown once for each */
    struct job_key last; /* all_jobs: what was shown last; status_query.c */
    int looks;           /* how many more things this call may look at; status_query.c */

    /* subjobs: status_arrays.c, and status_past.c its part */
    bool inside;           /* names[at] is being expanded into subjobs */
    struct idset *chosen;  /* the indices that names[at] means, once its array was found; NULL: all of them */
    int64_t index;         /* of the last one looked at */
    size_t expanded;       /* how many of them were shown */
    struct job *ghost;     /* a subjob that is not an object, as it would look; NULL: none was made */
    uint64_t ghost_change; /* of its array, when it was made */
    bool ghost_matches;    /* the criteria */
    struct status_past *past; /* the array that was met last in history; status_past.c */

    /* history: status_history.c */
    struct found *page;
    size_t n_page, at_page;
    bool page_is_last, page_is_there;
    uint64_t page_removed;                /* jobs_removed() when the page was asked for */
    struct job_key page_lacks;            /* a job that was not in memory any more then */
    bool asking;                          /* the reader has our pointer */
    bool dead;                            /* destroyed while asking: the answer frees it; status_query.c */
    void (*free)(struct status_query *q); /* status_query.c */

    /* the end: the file that shows, or finds nothing, counts */
    size_t served, missing;
    struct err first; /* why the first name is missing */
};

/* The index in the key of a name that is a range of subjobs: what it means is computed when its turn comes. */
enum { STATUS_RANGE = -2 };
/* status_query_next and what it calls: nothing found yet, call again. Bounds what is done at once. */
enum { STATUS_PAUSE = 2 };

/* One more thing is looked at; false: not in this call any more. */
static inline bool status_may_look(struct status_query *q)
{
    return --q->looks >= 0;
}

static inline bool status_key_is_above(struct job_key a, struct job_key b)
{
    return a.seq != b.seq ? a.seq > b.seq : a.index > b.index;
}

#endif
