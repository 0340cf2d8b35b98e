#ifndef WEB_WATCH_TALLY_H
#define WEB_WATCH_TALLY_H
/* What two looks at a job say has happened to it in between. Pure but for its own memory; one thread. */
#include "pbs_ifl.h"
#include "web_watch.h"

struct json_out;
struct web_tally;

struct web_tally *web_tally_create(void); /* NULL: no memory */
void web_tally_destroy(struct web_tally *t);

/* Forget all jobs; what was counted stays. */
void web_tally_restart(struct web_tally *t);

/* A job as it is now. `known`: this is not news but how things are, so only differences to what is remembered count. */
void web_tally_job(struct web_tally *t, const char *id, const struct attrl *attribs, bool is_news,
                   struct web_watch_counts *counts);
/* The job is gone. */
void web_tally_gone(struct web_tally *t, const char *id, int64_t now_s, struct web_watch_counts *counts);

/* Write the last preemptions into an array that is open: job, user, queue, for, method, at, lost_core_seconds. */
void web_tally_preemptions(const struct web_tally *t, struct json_out *j);

#endif
