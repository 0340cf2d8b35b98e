/* What a suspension gives back, resource by resource. See freed_by.h. */
#include "freed_by.h"

/* Turns of time slices are short, so memory stays where it is whatever the site's list says. */
static bool frees(const struct cluster *cl, const struct job *j, const char *resource)
{
    bool keeps_memory = j->queue && j->queue->gang && policy_is_memory(resource);

    return !keeps_memory && policy_suspend_frees(cluster_policy(cl), resource);
}

/* Parts stay, with 0 of what is kept: the list has as many parts as the job's allocation, in the same
 * order. */
void freed_by_suspension(const struct cluster *cl, const struct job *j, struct allocation *out)
{
    const struct catalogue *c = cluster_catalogue(cl);

    allocation_copy(out, &j->on);
    for (size_t i = 0; i < out->n; i++) {
        struct amounts *use = &out->a[i].use;
        for (uint32_t k = 0; k < use->n; k++)
            if (!frees(cl, j, catalogue_get(c, use->a[k].res)->name))
                use->a[k].n = 0;
    }
}

/* Equal amounts though the lists may differ in entries of 0. */
static bool are_same(const struct allocation *a, const struct allocation *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->a[i].node != b->a[i].node || !amounts_cover(&a->a[i].use, &b->a[i].use, NULL) ||
            !amounts_cover(&b->a[i].use, &a->a[i].use, NULL))
            return false;
    return true;
}

void freed_by_note(const struct cluster *cl, struct job *j, bool keeps)
{
    struct allocation now = {.n = 0};

    if (keeps)
        freed_by_suspension(cl, j, &now);
    if (are_same(&j->freed, &now)) {
        allocation_fini(&now);
        return;
    }
    allocation_fini(&j->freed);
    j->freed = now;
}
