/* See freed_by.h. */
#include "freed_by.h"

static bool frees(const struct universe *u, const struct job *j, const char *resource)
{
    bool keeps_memory = j->queue && j->queue->gang && policy_is_memory(resource);

    return !keeps_memory && policy_suspend_frees(universe_policy(u), resource);
}

void yields_of_suspension(const struct universe *u, const struct job *j, struct pieces *out)
{
    const struct catalogue *c = universe_catalogue(u);

    pieces_copy(out, &j->on);
    for (size_t i = 0; i < out->n; i++) {
        struct amounts *use = &out->a[i].use;
        for (uint32_t k = 0; k < use->n; k++)
            if (!frees(u, j, catalogue_get(c, use->a[k].res)->name))
                use->a[k].n = 0;
    }
}

static bool are_same(const struct pieces *a, const struct pieces *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->a[i].node != b->a[i].node || !amounts_cover(&a->a[i].use, &b->a[i].use, NULL) ||
            !amounts_cover(&b->a[i].use, &a->a[i].use, NULL))
            return false;
    return true;
}

void yields_note(const struct universe *u, struct job *j, bool keeps)
{
    struct pieces now = {.n = 0};

    if (keeps)
        yields_of_suspension(u, j, &now);
    if (are_same(&j->yields, &now)) {
        pieces_fini(&now);
        return;
    }
    pieces_fini(&j->yields);
    j->yields = now;
}
