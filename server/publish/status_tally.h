#ifndef STATUS_TALLY_H
#define STATUS_TALLY_H
/* How a query ends: how many entries it has shown, how many names it did not find, and why not the first of them. Begins as {0}. */
#include <stddef.h>

#include "err.h"

struct status_tally {
    size_t served, missing;
    struct err first;
};

/* One more is missing, for this reason. */
void status_tally_miss(struct status_tally *t, const struct err *why);
/* The same: "TEXT NAME". */
void status_tally_miss_name(struct status_tally *t, int code, const char *text, const char *name);
/* The job is history, which was not asked for. */
void status_tally_miss_finished(struct status_tally *t, const char *name);
/* What to put into the tail of the answer; see status_query_result. */
void status_tally_result(const struct status_tally *t, struct err *out);

#endif
