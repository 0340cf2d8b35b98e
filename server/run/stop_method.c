/* The table of methods. See stop_method.h.
 *
 * Rows are added by the parts that perform them, at their creation; victims look them up by id. */
#include "stop_method.h"

#include <assert.h>
#include <stdlib.h>

struct methods {
    struct method rows[METHOD_COUNT]; /* by id; that of one that no part performs has no `can` */
    method_failed_fn *failed;
    void *failed_arg;
};

struct methods *methods_create(void)
{
    return calloc(1, sizeof(struct methods));
}

void methods_destroy(struct methods *m)
{
    free(m);
}

void methods_add(struct methods *m, const struct method *row)
{
    assert(row->id > METHOD_NONE && row->id < METHOD_COUNT && !m->rows[row->id].can);
    m->rows[row->id] = *row;
}

const struct method *methods_find(const struct methods *m, enum method_id id)
{
    return m->rows[id].can ? &m->rows[id] : NULL;
}

void methods_on_failed(struct methods *m, method_failed_fn *fn, void *arg)
{
    m->failed = fn;
    m->failed_arg = arg;
}

void method_failed(struct methods *m, struct job *j, enum method_id id, int code, const char *text)
{
    if (m->failed)
        m->failed(m->failed_arg, j, id, code, text);
}
