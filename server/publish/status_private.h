#ifndef STATUS_PRIVATE_H
#define STATUS_PRIVATE_H
/* What the files of status share; no other file includes this.
 *
 * status.c         objects to bytes and to history rows
 *
 * and, each on those above it:
 * status_names.c   what a query is to show
 * status_entry.c   one object of it
 * status_history.c what of it lies in the store
 * status_past.c    subjobs of an array that only the store knows
 * status_arrays.c  subjobs that are not objects
 * status_query.c   the walk, and the answer
 */
#include <jansson.h>

#include "jobid.h"
#include "attrib_render.h"
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
    struct status *st;
    enum attr_of of;
    struct attr_select want;
    struct attr_reader reader;
    const char *who; /* interned */
    struct select_criteria *select_criteria;
    bool names_only, subjobs, history;
    bool everything;   /* no names were asked for: what vanishes meanwhile is not reported */
    bool no_arrays;    /* subjobs are shown instead of their arrays */
    bool only_objects; /* of subjobs those that run, or have run */
    /* what is walked */
    bool all_jobs;
    const char *queue;    /* interned: jobs of this queue only; NULL: all */
    const char **names;   /* interned; of jobs: as asked */
    struct job_key *keys; /* of jobs, beside names */
    size_t n, cap, at;
    size_t ranged; /* subjobs of the arrays of whose ranges it names: each may be shown once for each */
    int looks;     /* how many more things this call may look at */
    /* subjobs */
    bool inside;           /* names[at] is being expanded into subjobs */
    struct idset *chosen;  /* the indices that names[at] means, once its array was found; NULL: all of them */
    int64_t index;         /* of the last one looked at */
    size_t expanded;       /* how many of them were shown */
    struct job *ghost;     /* a subjob that is not an object, as it would look; NULL: none was made */
    uint64_t ghost_change; /* of its array, when it was made */
    bool ghost_matches;    /* the criteria */
    struct status_past *past; /* the array that was met last in history */
    struct job_key last;      /* all_jobs: what was shown last */
    /* history */
    struct found *page;
    size_t n_page, at_page;
    bool page_is_last, page_is_there;
    uint64_t page_removed;     /* jobs_removed() when the page was asked for */
    struct job_key page_lacks; /* a job that was not in memory any more then */
    bool asking;               /* the reader has our pointer */
    bool dead;                 /* destroyed while asking: the answer frees it */
    void (*free)(struct status_query *q);
    void (*wake)(void *arg);
    void *wake_arg;
    struct rpc_request *request; /* of status_reply */
    /* the end */
    size_t served, missing;
    struct err first;
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

/* ---- status_names.c */
int status_names_choose(struct status_query *q, const char *ids, struct err *e);
struct object *status_names_find(const struct status_query *q, const char *name); /* of no job; or NULL */
void status_names_unknown(struct status_query *q, const char *name);
void status_names_finished(struct status_query *q,
                           const char *name); /* it is history, which was not asked for */

/* ---- status_entry.c */
/* Does this reader know of it, as far as its script's arrival goes? */
bool status_entry_is_there(const struct status_query *q, const struct job *j);
/* Is this object to be shown, as far as it is a job? */
bool status_entry_wants(const struct status_query *q, const struct job *j);
/* A subjob is history when its array is. */
bool status_entry_is_history(const struct status_query *q, const struct job *j);
/* Append an entry: whole, or its beginning and its end with attributes between. -1: no memory. */
int status_entry_put(struct status_query *q, const struct object *o, struct rpc_buf *out);
int status_entry_put_resource(struct status_query *q, const struct resource *r, struct rpc_buf *out);
int status_entry_begin(struct rpc_buf *out, const char *name, struct attrib_render_attrs *a);
int status_entry_end(struct status_query *q, struct rpc_buf *out, struct attrib_render_attrs *a);

/* ---- status_history.c */
bool status_history_is_kept(const struct status_query *q);
/* The page of history that follows q->last, or the row of one job, is asked for: -1. 0: it could not be. */
int status_history_ask_job(struct status_query *q, struct job_key key);
/* The row to be shown next. -1: not known yet; 0: there is none; 1: *f. */
int status_history_next(struct status_query *q, struct found **f);
/* 1: appended; 0: not for this query; -1: no memory. */
int status_history_show(struct status_query *q, const struct found *f, struct rpc_buf *out);
void status_history_drop(struct status_query *q);
/* Append what history says: of this name, these attributes. -1: no memory. */
int status_history_put(struct status_query *q, const char *id, json_t *attrs, struct rpc_buf *out);

/* The row of this job, found by continuing from where the last one was found. -1: not known yet; 0: none; 1: *f. */
int status_history_row(struct status_query *q, struct job_key key, struct found **f);
/* A job that is not in memory and has no row: may it have left memory for the store since that was read? true: it
 * is read again; wait. */
bool status_history_again(struct status_query *q, struct job_key key);

/* ---- status_arrays.c */
/* The subjob of this index, whatever it is: an object, an index, a row. 1: appended; 0: not for this query; -1:
 * not known yet. *index is the last one that this is true of: of many that are alike and not wanted. */
int status_arrays_show(struct status_query *q, const struct job *array, int64_t *index, struct rpc_buf *out);
/* The array whose subjobs may follow this key in a walk over all; NULL: none. */
const struct job *status_arrays_after(const struct status_query *q, struct job_key last);
/* The first index above q->last, of that array or of the past one; ARRAY_NONE: none. */
int64_t status_arrays_next_index(const struct status_query *q, const struct job *array);
/* The next subjob of names[at], which is an array or a range. The same answers, and STATUS_PAUSE; 0 is the end, and
 * q->at is the next name then. */
int status_arrays_expand(struct status_query *q, struct rpc_buf *out);
void status_arrays_fini(struct status_query *q);

/* ---- status_past.c */
/* This row was met: if it is an array that may be seen, its subjobs can be told of. */
void status_past_note(struct status_query *q, const struct found *f);
/* Its indices; NULL: the last one noted is another. */
const struct array_map *status_past_map(const struct status_query *q, int64_t seq);
bool status_past_has_moved(const struct status_query *q,
                           int64_t seq); /* to another server, with all its subjobs */
/* A subjob that has no row: it was deleted before it ran. 1: appended; 0: not for this query. */
int status_past_show(struct status_query *q, int64_t index, struct rpc_buf *out);
void status_past_fini(struct status_query *q);

static inline bool status_key_is_above(struct job_key a, struct job_key b)
{
    return a.seq != b.seq ? a.seq > b.seq : a.index > b.index;
}

#endif
