#ifndef DEPEND_END_H
#define DEPEND_END_H
/* One end of a dependency: a job of this server, or the record of one that has moved (depend_remote.h). */
#include "depend_remote.h"
#include "depend.h"
#include "depend_list.h"
#include "job.h"
#include "depend_fact.h"

/* What depend.c, depend_edges.c, depend_remote_news.c and depend_check.c share; private to these. */
struct depends {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct depend_remotes *depend_remotes;
    struct store_notes *store_notes;
    uint32_t search; /* number of the last search for a cycle */
};

struct depend_end {
    struct job *job;
    struct depend_remote *depend_remote; /* where job is NULL; both NULL: no job */
};

struct depend_end depend_end_find(const struct depends *w, struct job_key key);

static inline struct depend_end depend_end_of(struct job *j)
{
    return (struct depend_end){.job = j};
}
static inline bool depend_end_is(struct depend_end t)
{
    return t.job || t.depend_remote;
}

unsigned depend_end_facts(struct depend_end t); /* enum depend_fact */
bool depend_end_is_over(struct depend_end t);
bool depend_end_waits(struct depend_end t); /* it has not begun, or waits again */
const char *depend_end_name(struct depend_end t);
const char *depend_end_user(struct depend_end t);                            /* interned; NULL: not known */
struct depend_item depend_end_item(struct depend_end t, enum depend_kind k); /* a link of this kind to it */
/* Its links with jobs of this server. */
void depend_end_list(const struct depends *w, struct depend_end t, struct depend_items *out);

/* What is known of a job of this server in itself. */
unsigned depend_facts_of(const struct job *j);

/* Where a job of this number moved to, if nothing else is known of it here; NULL: it did not move. */
const char *depend_gone(const struct depends *w, struct job_key key, bool array);

#endif
