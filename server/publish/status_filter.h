#ifndef STATUS_FILTER_H
#define STATUS_FILTER_H
/* What one query is asked for, by whom: which objects it shows, and what of them. Written when the query is created (status_query.c,
 * status_names.c), then only read. */
#include <stdbool.h>

#include "attr_select.h"
#include "attr_walk.h"
#include "attrib_render.h"
#include "select_criteria.h"
#include "server_ctx.h"

struct status_row { /* of history, copied out of the hands of the store's reader (status_history.c) */
    struct job_key key;
    char *id, *owner, *queue, *attrs;
};

struct status_filter {
    const struct server_ctx *ctx;
    struct attrib_render *attrib_render;
    enum attr_of of;
    struct attr_select want;
    struct attr_reader reader;
    const char *who; /* interned */
    struct select_criteria *select_criteria;
    const char *queue; /* interned: jobs of this queue only; NULL: all */
    bool all_jobs;     /* no names of jobs were given */
    bool names_only, subjobs, history;
    bool no_arrays;    /* subjobs are shown instead of their arrays */
    bool only_objects; /* of subjobs those that run, or have run */
};

void status_filter_fini(struct status_filter *f);

/* Does the reader know of it? Of a job whose script has not arrived only its owner and operators do. */
bool status_filter_is_there(const struct status_filter *f, const struct job *j);
/* A subjob is history when its array is. */
bool status_filter_is_history(const struct status_filter *f, const struct job *j);
/* Does it have what the criteria say? */
bool status_filter_matches(const struct status_filter *f, const struct job *j);
/* Is this object to be shown? A row of history: as far as can be said without its attributes. */
bool status_filter_wants(const struct status_filter *f, const struct job *j);
bool status_filter_wants_row(const struct status_filter *f, const struct status_row *row);
/* May the reader see subjobs of this array, which may have ended? Of one that only the store knows? */
bool status_filter_opens(const struct status_filter *f, const struct job *array);
bool status_filter_opens_row(const struct status_filter *f, const struct status_row *array);

#endif
