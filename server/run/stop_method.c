/* The table of methods. See stop_method.h.
 *
 * Rows are added by the parts that perform them, at their creation (run_suspend, run_checkpoint, run_removal, release_nodes);
 * victims look them up by id. A method's letters, words and result are a row of preempt_method.c: CONTRIBUTING.md says how to
 * add one. */
#include "stop_method.h"

#include <assert.h>
#include <stdlib.h>

struct stop_methods {
    struct stop_method rows[METHOD_COUNT]; /* by id; that of one that no part performs has no `can` */
};

struct stop_methods *stop_methods_create(void)
{
    return calloc(1, sizeof(struct stop_methods));
}

void stop_methods_destroy(struct stop_methods *m)
{
    free(m);
}

void stop_methods_add(struct stop_methods *m, const struct stop_method *row)
{
    assert(row->id > METHOD_NONE && row->id < METHOD_COUNT && !m->rows[row->id].can);
    m->rows[row->id] = *row;
}

const struct stop_method *stop_methods_find(const struct stop_methods *m, enum method_id id)
{
    return m->rows[id].can ? &m->rows[id] : NULL;
}
