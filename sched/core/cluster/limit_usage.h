#ifndef LIMIT_USAGE_H
#define LIMIT_USAGE_H
/* What each user, group and project has running in one queue, or in the server: jobs and counted amounts.
 * Kept whether there are limits or not, so that a new limit knows at once what runs. */
#include "amounts.h"
#include "limit_list.h"

struct limit_usage;

struct limit_usage *limit_usage_create(void);
void limit_usage_destroy(struct limit_usage *t);

/* One job more (times 1) or less (-1) of this entity; `name` is interned; NULL is ignored. */
void limit_usage_add(struct limit_usage *t, enum limit_of of, const char *name, const struct amounts *want,
                     int64_t times);

int64_t limit_usage_jobs(const struct limit_usage *t, enum limit_of of, const char *name);
int64_t limit_usage_amount(const struct limit_usage *t, enum limit_of of, const char *name, res_id res);

#endif
