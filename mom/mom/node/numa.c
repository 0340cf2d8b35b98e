/* Parts without processors (memory of a device) are left out; what they have is not lost, as no job could be there alone. */
#include "numa.h"

#include <errno.h>
#include <hwloc.h>

#include "strbuf.h"

enum { TEXT_MAX = 1 << 20, KB = 1024 };

static void numa_add(struct strbuf *b, const char *node, int i, int ncpus, unsigned long long mem_kb)
{
    strbuf_addf(b, "%s[%d]: resources_available.ncpus = %d\n", node, i, ncpus);
    strbuf_addf(b, "%s[%d]: resources_available.mem = %llukb\n", node, i, mem_kb);
}

static int add_parts(hwloc_topology_t t, const char *node, struct strbuf *b)
{
    hwloc_obj_t part = NULL;
    int n = 0;

    while ((part = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, part))) {
        int ncpus = hwloc_get_nbobjs_inside_cpuset_by_type(t, part->cpuset, HWLOC_OBJ_PU);

        if (ncpus > 0)
            numa_add(b, node, n++, ncpus, part->attr->numanode.local_memory / KB);
    }
    return n;
}

char *numa_lines(const char *node, struct err *e)
{
    hwloc_topology_t t;
    struct strbuf b;
    int n;

    if (hwloc_topology_init(&t) < 0) {
        err_errno(e, errno, "cannot look at the hardware");
        return NULL;
    }
    strbuf_init(&b, TEXT_MAX);
    strbuf_addf(&b,
                "$configversion 2\n%s: resources_available.ncpus = 0\n%s: resources_available.mem = 0kb\n",
                node, node);
    n = hwloc_topology_load(t) < 0 ? -1 : add_parts(t, node, &b);
    if (n < 0)
        err_errno(e, errno, "cannot look at the hardware");
    else if (n < 2)
        strbuf_reset(&b);
    hwloc_topology_destroy(t);
    if (n >= 0)
        return strbuf_take(&b);
    strbuf_fini(&b);
    return NULL;
}
