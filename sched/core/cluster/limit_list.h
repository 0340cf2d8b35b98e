#ifndef LIMIT_LIST_H
#define LIMIT_LIST_H
/* The run limits of one queue, or of the server, as rows: of jobs or of a counted resource, for all together, for each
 * user, group or project, or for one by name; hard or soft. Both syntaxes end here:
 *
 *   max_run = [u:PBS_GENERIC=4],[g:chem=10],[o:PBS_ALL=100]      max_user_run = 4, max_running = 100
 *   max_run_res.ncpus = [u:anna=8]                               max_user_res.ncpus = 8
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"

enum limit_of { LIMIT_OF_ALL = 'o', LIMIT_OF_USER = 'u', LIMIT_OF_GROUP = 'g', LIMIT_OF_PROJECT = 'p' };

struct limit {
    enum limit_of of;
    bool soft;
    const char *name; /* interned; NULL: each one of that kind that has no row of its own */
    res_id res;       /* RES_NONE: jobs */
    int64_t most;
};

struct limit_list {
    size_t n, cap;
    struct limit *a;
};

void limit_list_clear(struct limit_list *l); /* empty; keeps the memory */
void limit_list_fini(struct limit_list *l);

/* Take an attribute if it is a run limit; false: it is another attribute. What cannot be read is not a limit. */
bool limit_list_take(struct limit_list *l, const struct catalogue *c, const char *name, const char *resource,
                     const char *value);

/* The row that counts for this entity: its own, else the one for each. NULL: unlimited. `name` is interned. */
const struct limit *limit_list_find(const struct limit_list *l, enum limit_of of, const char *name,
                                    res_id res, bool soft);

/* Is there any row, hard or soft, for this kind of entity? Then its jobs are not all alike. */
bool limit_list_have(const struct limit_list *l, enum limit_of of);

uint64_t limit_list_hash(const struct limit_list *l, uint64_t seed);

#endif
