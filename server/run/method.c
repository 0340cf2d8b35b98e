/* The table of methods. See method.h.
 *
 * Rows are added by the parts that perform them, at their creation; victims look them up by letter. */
#include "method.h"

#include <assert.h>
#include <stdlib.h>

enum { MAX_METHODS = 8 };

struct methods {
    struct method rows[MAX_METHODS];
    size_t n;
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
    assert(m->n < MAX_METHODS);
    m->rows[m->n++] = *row;
}

const struct method *methods_find(const struct methods *m, char letter)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->rows[i].letter == letter)
            return &m->rows[i];
    return NULL;
}

void methods_on_failed(struct methods *m, method_failed_fn *fn, void *arg)
{
    m->failed = fn;
    m->failed_arg = arg;
}

void method_failed(struct methods *m, struct job *j, char letter, int code, const char *text)
{
    if (m->failed)
        m->failed(m->failed_arg, j, letter, code, text);
}
