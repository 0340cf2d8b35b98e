/* A list that is sorted once and then searched. See jobid_set.h.
 *
 * It errs on one side: where there was no memory for a name, or is none to search, every job counts as one that has come, and no
 * job is reported as missing that was shown. */
#include "jobid_set.h"

#include <stdlib.h>
#include <string.h>

void jobid_set_add(struct jobid_set *l, const char *id)
{
    char *name = strndup(id, strcspn(id, "."));

    if (name && l->n == l->room) {
        size_t room = l->room ? l->room * 2 : 64;
        char **more = reallocarray(l->name, room, sizeof *more);

        if (more) {
            l->name = more;
            l->room = room;
        }
    }
    if (name && l->n < l->room) {
        l->name[l->n++] = name;
        return;
    }
    free(name);
    l->failed = true;
}

static int jobid_set_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void jobid_set_sort(struct jobid_set *l)
{
    if (l->n)
        qsort(l->name, l->n, sizeof *l->name, jobid_set_compare);
}

bool jobid_set_has(const struct jobid_set *l, const char *id)
{
    char *name = strndup(id, strcspn(id, "."));
    bool has =
        l->failed || !name || (l->n && bsearch(&name, l->name, l->n, sizeof *l->name, jobid_set_compare));

    free(name);
    return has;
}

void jobid_set_fini(struct jobid_set *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
    *l = (struct jobid_set){0};
}
