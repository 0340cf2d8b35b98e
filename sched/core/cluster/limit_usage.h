#ifndef LIMIT_USAGE_H
#define LIMIT_USAGE_H
/* What each user, group and project has running in one queue, or in the server: jobs and counted amounts.
 * Kept whether there are limits or not, so that a new limit knows at once what runs. */
#include "amounts.h"
#include "limit_list.h"

struct tally;

struct tally *limit_counts_create(void);
void limit_counts_destroy(struct tally *t);

/* One job more (times 1) or less (-1) of this entity; `name` is interned, NULL is nobody. */
void tally_add(struct tally *t, enum limit_of of, const char *name, const struct amounts *want,
               int64_t times);

int64_t limit_counts_jobs(const struct tally *t, enum limit_of of, const char *name);
int64_t tally_amount(const struct tally *t, enum limit_of of, const char *name, res_id res);

#endif
