/* The helper is a process of the job, so what the kernel lets it run on is what the job may use here (cgroup or affinity), and no
 * message says it. All ranks of this host get their places at once, when the launch is registered (helper_launch.c): the share of a
 * rank depends on how many there are. */
#include "helper_bind.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

/* The topology is that which the library has read already; its owner. */
static hwloc_topology_t helper_bind_topology(pmix_topology_t *t)
{
    PMIX_TOPOLOGY_CONSTRUCT(t);
    if (PMIx_Load_topology(t) != PMIX_SUCCESS || !t->topology || !t->source ||
        strncmp(t->source, "hwloc", 5) != 0)
        return NULL;
    return t->topology;
}

static hwloc_obj_type_t helper_bind_type(enum launch_bind how)
{
    return how == LAUNCH_BIND_NUMA     ? HWLOC_OBJ_NUMANODE
           : how == LAUNCH_BIND_SOCKET ? HWLOC_OBJ_PACKAGE
                                       : HWLOC_OBJ_CORE;
}

/* The objects of a type that have a processor of `allowed`. */
static unsigned helper_bind_objects(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_const_bitmap_t allowed,
                                    hwloc_obj_t *out, unsigned max)
{
    hwloc_obj_t o = NULL;
    unsigned n = 0;

    while (n < max && (o = hwloc_get_next_obj_by_type(t, type, o)))
        if (o->cpuset && hwloc_bitmap_intersects(o->cpuset, allowed))
            out[n++] = o;
    return n;
}

static void helper_bind_describe(hwloc_bitmap_t set, bool bound, struct helper_bind_place *out)
{
    pmix_cpuset_t c = {.source = (char[]){"hwloc"}, .bitmap = set};

    if (bound && hwloc_bitmap_list_asprintf(&out->cpus, set) < 0)
        out->cpus = NULL;
    if (PMIx_server_generate_cpuset_string(&c, &out->cpuset) != PMIX_SUCCESS)
        out->cpuset = NULL;
    if (PMIx_server_generate_locality_string(&c, &out->locality) != PMIX_SUCCESS)
        out->locality = NULL;
}

/* Where rank i of n goes among k objects: a share of its own where there are enough, else the block that it falls into. */
static void helper_bind_share(hwloc_obj_t *objects, unsigned k, unsigned i, unsigned n,
                              hwloc_const_bitmap_t allowed, hwloc_bitmap_t out)
{
    unsigned from = (unsigned)((unsigned long long)i * k / n),
             to = (unsigned)((unsigned long long)(i + 1) * k / n);

    hwloc_bitmap_zero(out);
    for (unsigned o = from; o < to || o == from; o++)
        hwloc_bitmap_or(out, out, objects[o]->cpuset);
    hwloc_bitmap_and(out, out, allowed);
}

/* How many objects of this kind the ranks share out; 0: they are not bound. By themselves they are bound only where the job has less
 * than the host, and no core is for two ranks. */
static unsigned helper_bind_find(hwloc_topology_t t, enum launch_bind how, unsigned n, hwloc_bitmap_t allowed,
                                 hwloc_obj_t *objects, unsigned max)
{
    bool by_core = how == LAUNCH_BIND_AUTO || how == LAUNCH_BIND_CORE;
    unsigned k;

    if (how == LAUNCH_BIND_NONE)
        return 0;
    if (how == LAUNCH_BIND_AUTO && hwloc_bitmap_isincluded(hwloc_topology_get_complete_cpuset(t), allowed))
        return 0;
    k = helper_bind_objects(t, helper_bind_type(how), allowed, objects, max);
    return by_core && n > k ? 0 : k;
}

void helper_bind_deal(enum launch_bind how, unsigned n, struct helper_bind_place *out)
{
    pmix_topology_t loaded;
    hwloc_topology_t t = helper_bind_topology(&loaded);
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), share = hwloc_bitmap_alloc();
    unsigned max = t ? (unsigned)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) : 0, k;
    hwloc_obj_t *objects = calloc(max + 1, sizeof *objects);

    memset(out, 0, n * sizeof *out);
    if (t && allowed && share && objects && hwloc_get_cpubind(t, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
        k = helper_bind_find(t, how, n, allowed, objects, max);
        for (unsigned i = 0; i < n; i++) {
            if (k)
                helper_bind_share(objects, k, i, n, allowed, share);
            helper_bind_describe(k ? share : allowed, k > 0, &out[i]);
        }
    }
    free(objects);
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(share);
}
