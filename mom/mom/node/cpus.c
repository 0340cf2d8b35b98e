/* Choosing is greedy: the least used, one after the other. Neighbours are together in the list, so a run on
 * an idle host gets neighbours; on a busy one it gets what is left. */
#include "cpus.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

int cpus_look(struct cpus *c, struct err *e)
{
    hwloc_topology_t t;
    hwloc_obj_t pu = NULL;
    int n;

    *c = (struct cpus){0};
    if (hwloc_topology_init(&t) < 0)
        return err_errno(e, errno, "cannot look at the processors");
    if (hwloc_topology_load(t) < 0) {
        hwloc_topology_destroy(t);
        return err_errno(e, errno, "cannot look at the processors");
    }
    n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    c->number = calloc(n > 0 ? (size_t)n : 1, sizeof *c->number);
    while (c->number && (pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu)))
        c->number[c->n++] = pu->os_index;
    hwloc_topology_destroy(t);
    return c->number ? 0 : err_no_memory(e);
}

void cpus_fini(struct cpus *c)
{
    free(c->number);
    *c = (struct cpus){0};
}

void cpus_weigh(const struct cpus *c, unsigned weights[], const char *list, unsigned weight)
{
    hwloc_bitmap_t set = list ? hwloc_bitmap_alloc() : NULL;

    if (set && hwloc_bitmap_list_sscanf(set, list) == 0)
        for (size_t i = 0; i < c->n; i++)
            weights[i] += hwloc_bitmap_isset(set, c->number[i]) ? weight : 0;
    hwloc_bitmap_free(set);
}

void cpus_pick(const struct cpus *c, const struct cpus_wish *w, unsigned weights[], char chosen[])
{
    for (size_t k = 0; k < w->want && k < w->of.n; k++) {
        size_t best = c->n;

        for (size_t i = w->of.from; i < w->of.from + w->of.n && i < c->n; i++)
            if (!chosen[i] && (best == c->n || weights[i] < weights[best]))
                best = i;
        if (best == c->n)
            return;
        chosen[best] = 1;
        weights[best] += w->weight;
    }
}

char *cpus_list(const struct cpus *c, const char chosen[])
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char *text = NULL;

    for (size_t i = 0; set && i < c->n; i++)
        if (chosen[i])
            hwloc_bitmap_set(set, c->number[i]);
    if (set && !hwloc_bitmap_iszero(set) && hwloc_bitmap_list_asprintf(&text, set) < 0)
        text = NULL;
    hwloc_bitmap_free(set);
    return text;
}
