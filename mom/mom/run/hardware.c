/* The vnodes of this host as lists of attributes, for HELLO and for hooks. Three sources, each replaces the one before:
 * what hwloc measures, $resources_available of the configuration, the vnode files (Version 2, node/vnodes.c).
 *
 * Only ncpus, mem, arch, host and vnode are known here. Everything else that the configuration names is passed on as it is,
 * because the server has the list of resources. hwloc is asked at each call, so processors that were switched on or off are
 * seen at the next HELLO. Amounts that scripts of the site measure are in node/dyn_values.c. */
#include "hardware.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "attr_set.h"
#include "cgroup_limits.h"
#include "mom_config.h"
#include "mom_home.h"
#include "vnodes.h"

enum { CONFINEMENT_MAX = 160, TOPOLOGY_MAX = 100, KB = 1024, PERCENT = 100 };

struct measured {
    unsigned ncpus;
    unsigned long long mem_kb;
    char topology[TOPOLOGY_MAX]; /* as in topology_info */
};

/* At least one, also where the kernel does not list sockets. */
static unsigned hardware_count(hwloc_topology_t t, hwloc_obj_type_t what)
{
    int n = hwloc_get_nbobjs_by_type(t, what);

    return n > 0 ? (unsigned)n : 1;
}

static int measure(struct measured *m, struct err *e)
{
    hwloc_topology_t t;

    if (hwloc_topology_init(&t) < 0)
        return err_errno(e, errno, "hwloc cannot be initialized");
    if (hwloc_topology_load(t) < 0) {
        hwloc_topology_destroy(t);
        return err_errno(e, errno, "hwloc cannot read the topology of this host");
    }
    m->ncpus = hardware_count(t, HWLOC_OBJ_PU);
    m->mem_kb = hwloc_get_root_obj(t)->total_memory / KB;
    snprintf(m->topology, sizeof m->topology, "sockets=%u numanodes=%u cores=%u pus=%u",
             hardware_count(t, HWLOC_OBJ_PACKAGE), hardware_count(t, HWLOC_OBJ_NUMANODE),
             hardware_count(t, HWLOC_OBJ_CORE), m->ncpus);
    hwloc_topology_destroy(t);
    return 0;
}

static void hardware_add(struct exec_node *n, const char *name, const char *resource, const char *value)
{
    attr_set(&n->attrs, name, resource, value);
}

static void add_resource(const struct home *h, struct exec_node *n, const char *name, const char *measured)
{
    const char *said = config_resource(h->config, name);

    hardware_add(n, "resources_available", name, said ? said : measured);
}

static void add_others(const struct home *h, struct exec_node *n)
{
    static const char *const ours[] = {"ncpus", "mem", "arch", "host", "vnode"};

    for (size_t i = 0; i < h->config->n_resources; i++) {
        const struct config_resource *r = &h->config->resources[i];
        bool known = false;

        for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++)
            known |= strcmp(r->name, ours[k]) == 0;
        if (!known)
            hardware_add(n, "resources_available", r->name, r->value);
    }
}

static void add_confinement(const struct home *h, struct exec_node *n)
{
    char text[CONFINEMENT_MAX];

    cgroup_limits_describe(h, text, sizeof text);
    hardware_add(n, "confinement", "", text);
}

/* Our vnode with its attributes (resources_available.ncpus, mem, arch, host, vnode; pcpus; pbs_version ...). The caller
 * frees it with xdr_free(xdr_exec_node). */
static int hardware_node(const struct home *h, struct exec_node *out, struct err *e)
{
    struct measured m;
    char number[32];

    if (measure(&m, e) < 0)
        return -1;
    *out = (struct exec_node){.name = strdup(h->node)};
    if (!out->name)
        return err_no_memory(e);
    snprintf(number, sizeof number, "%u", m.ncpus);
    add_resource(h, out, "ncpus", number);
    hardware_add(out, "pcpus", "",
                 config_resource(h->config, "ncpus") ? config_resource(h->config, "ncpus") : number);
    snprintf(number, sizeof number, "%llukb", m.mem_kb);
    add_resource(h, out, "mem", number);
    add_resource(h, out, "arch", "linux");
    add_resource(h, out, "host", h->node);
    add_resource(h, out, "vnode", h->node);
    hardware_add(out, "topology_info", "", m.topology);
    add_confinement(h, out);
    add_others(h, out);
    return 0;
}

/* attr_set replaces a value that was measured or configured. */
static void add_defined(struct exec_node *n, const struct vnodes_one *v)
{
    for (size_t i = 0; i < v->n; i++)
        hardware_add(n, v->attrs[i].name, v->attrs[i].resource, v->attrs[i].value);
}

static int defined_node(const struct home *h, const struct vnodes_one *v, struct exec_node *out,
                        struct err *e)
{
    *out = (struct exec_node){.name = strdup(v->name)};
    if (!out->name)
        return err_no_memory(e);
    hardware_add(out, "resources_available", "arch", "linux");
    hardware_add(out, "resources_available", "host", h->node);
    hardware_add(out, "resources_available", "vnode", v->name);
    add_defined(out, v);
    return 0;
}

int hardware_nodes(const struct home *h, struct exec_node **out, size_t *n, struct err *e)
{
    struct exec_node *list = calloc(h->vnodes->n + 1, sizeof *list);
    size_t made = 0;

    if (!list)
        return err_no_memory(e);
    if (hardware_node(h, &list[made++], e) < 0) {
        free(list);
        return -1;
    }
    for (size_t i = 0; i < h->vnodes->n; i++) {
        const struct vnodes_one *v = &h->vnodes->list[i];

        if (strcmp(v->name, h->node) == 0)
            add_defined(&list[0], v);
        else if (defined_node(h, v, &list[made], e) == 0)
            made++;
    }
    *out = list;
    *n = made;
    return 0;
}

unsigned hardware_load_percent(void)
{
    double load;

    return getloadavg(&load, 1) == 1 && load > 0 ? (unsigned)(load * PERCENT) : 0;
}
