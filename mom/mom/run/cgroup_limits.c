/* Which cgroup limits a run gets. Three sources, one for each question: the MOM probed at its start which controllers
 * this host has (home->freezer.limit); the configuration says which of them the site wants; the chunks of the job on this
 * host say how much.
 *
 * Nothing is limited here. prepare.c has the processors chosen when it takes START, order_make.c writes all limits into the
 * run's order, and the shepherd creates the cgroups from that order and removes them. So a changed configuration counts for
 * runs that start later.
 *
 * Processors: the vnodes of this host share them in the order of their definition, each as many as it offers (share_of). A
 * host whose vnodes offer more than it has binds no job, because the shares do not fit into its processors.
 *
 * A fifth limit is a member of enum confine_limit (mom/host/confine_limits.h) and a case in bound_of and word. */
#include "cgroup_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mom_config.h"
#include "mom_home.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "units.h"
#include "vnodes.h"

/* What one processor of a run adds to the weight of that processor; a suspended run adds 1. So a job that takes the place of
 * suspended ones gets free processors first, then those of suspended jobs, and those of running jobs last. The order holds
 * while fewer than RUNS_WEIGHT suspended jobs share a processor. */
enum { RUNS_WEIGHT = 1000 };

/* ---- processors */
static size_t ncpus_of(const struct vnodes_one *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->attrs[i].name, "resources_available") == 0 &&
            strcmp(v->attrs[i].resource, "ncpus") == 0)
            return strtoul(v->attrs[i].value, NULL, 10);
    return 0;
}

/* Of our own vnode: what a vnode file says, else the configuration, else all. */
static size_t own_ncpus(const struct home *h)
{
    const char *said = config_resource(h->config, "ncpus");

    for (size_t i = 0; i < h->vnodes->n; i++)
        if (strcmp(h->vnodes->list[i].name, h->node) == 0)
            for (size_t k = 0; k < h->vnodes->list[i].n; k++)
                if (strcmp(h->vnodes->list[i].attrs[k].resource, "ncpus") == 0)
                    said = h->vnodes->list[i].attrs[k].value;
    return said ? strtoul(said, NULL, 10) : h->cpus.n;
}

/* The share of the vnode `name`. NULL: `from` is the number of processors that all vnodes offer together. */
static struct cpus_share share_of(const struct home *h, const char *name)
{
    struct cpus_share s = {0, own_ncpus(h)};

    if (name && strcmp(name, h->node) == 0)
        return s;
    for (size_t i = 0; i < h->vnodes->n; i++) {
        const struct vnodes_one *v = &h->vnodes->list[i];

        if (strcmp(v->name, h->node) == 0)
            continue;
        s = (struct cpus_share){s.from + s.n, ncpus_of(v)};
        if (name && strcmp(name, v->name) == 0)
            return s;
    }
    return (struct cpus_share){s.from + s.n, 0};
}

static bool binds(const struct home *h)
{
    return h->config->cpuset && h->freezer.limit[CONFINE_CPUSET].kind != CONFINE_SIGNALS &&
           share_of(h, NULL).from <= h->cpus.n;
}

struct weighing {
    const struct home *home;
    const struct run *but;
    unsigned *weights;
};

/* A run that has given its room back (room_given) only delivers files: it needs no processor of its own. */
static void cgroup_limits_weigh(void *arg, struct run *r)
{
    const struct weighing *w = arg;

    if (r != w->but && !r->room_given && r->slot.state != RUN_RELEASED && r->slot.state != RUN_GONE)
        cpus_weigh(&w->home->cpus, w->weights, r->cpus, r->slot.state == RUN_SUSPENDED ? 1 : RUNS_WEIGHT);
}

static size_t chunk_ncpus(const struct exec_chunk *c)
{
    size_t n = 0;

    for (u_int k = 0; k < c->resources.resources_len; k++)
        if (strcmp(c->resources.resources_val[k].name, "ncpus") == 0)
            n += strtoul(c->resources.resources_val[k].value, NULL, 10);
    return n;
}

void cgroup_limits_choose_cpus(const struct home *h, struct runs *all, struct run *r)
{
    const struct exec_job_host *here = &r->start.hosts.hosts_val[r->start.my_host];
    unsigned *weights = binds(h) ? calloc(h->cpus.n, sizeof *weights) : NULL;
    char *chosen = weights ? calloc(h->cpus.n, 1) : NULL;
    struct weighing w = {h, r, weights};

    if (chosen) {
        runs_each(all, cgroup_limits_weigh, &w);
        for (u_int i = 0; i < here->chunks.chunks_len; i++) {
            const struct exec_chunk *x = &here->chunks.chunks_val[i];
            const struct cpus_wish wish = {share_of(h, x->vnode), chunk_ncpus(x), RUNS_WEIGHT};

            cpus_pick(&h->cpus, &wish, weights, chosen);
        }
        free(r->cpus);
        r->cpus = cpus_list(&h->cpus, chosen);
    }
    free(weights);
    free(chosen);
}

/* ---- the order */
/* What the job's chunks on this host ask for; 0: nothing. */
static uint64_t memory_here(const struct run *r)
{
    const struct exec_job_host *h = &r->start.hosts.hosts_val[r->start.my_host];
    struct units_size size;
    uint64_t bytes = 0;

    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        for (u_int k = 0; k < h->chunks.chunks_val[i].resources.resources_len; k++)
            if (strcmp(h->chunks.chunks_val[i].resources.resources_val[k].name, "mem") == 0 &&
                units_parse_size(h->chunks.chunks_val[i].resources.resources_val[k].value, &size, NULL) == 0)
                bytes += units_size_bytes(size);
    return bytes;
}

static uint64_t processes(const struct home *h)
{
    return h->config->pids_max >= 0 ? (uint64_t)h->config->pids_max : h->pids_max;
}

/* "": none. `number` is memory for one. */
static const char *bound_of(const struct home *h, const struct run *r, enum confine_limit l,
                            char number[static 32])
{
    uint64_t n = 0;

    switch (l) {
    case CONFINE_MEMORY:
        n = h->config->enforce.kernel_mem ? memory_here(r) : 0;
        break;
    case CONFINE_PIDS:
        n = processes(h);
        break;
    case CONFINE_CPUSET:
        return r->cpus ? r->cpus : "";
    case CONFINE_DEVICES:
        return h->config->devices ? h->config->devices : "";
    case CONFINE_LIMIT_COUNT:
        break;
    }
    snprintf(number, 32, "%" PRIu64, n);
    return n ? number : "";
}

int cgroup_limits_make(const struct home *h, const struct run *r, struct shep_order *o, struct err *e)
{
    char number[32];

    o->groups.groups_val = calloc(CONFINE_LIMIT_COUNT, sizeof(struct shep_group));
    if (!o->groups.groups_val)
        return err_set(e, PBSE_SYSTEM, "no memory for the order of job %s", r->id);
    for (int l = 0; l < CONFINE_LIMIT_COUNT; l++) {
        const struct confine_seat *seat = &h->freezer.limit[l];
        const char *bound = bound_of(h, r, (enum confine_limit)l, number);
        struct shep_group *g = &o->groups.groups_val[o->groups.groups_len];

        if (seat->kind == CONFINE_SIGNALS || !bound[0])
            continue;
        *g = (struct shep_group){
            .limit = l, .kind = (shep_freezer)seat->kind, .dir = strdup(seat->dir), .bound = strdup(bound)};
        o->groups.groups_len++;
        if (!g->dir || !g->bound)
            return err_set(e, PBSE_SYSTEM, "no memory for the order of job %s", r->id);
    }
    return 0;
}

uint64_t cgroup_limits_processes_of_user(const struct home *h)
{
    return h->freezer.limit[CONFINE_PIDS].kind == CONFINE_SIGNALS ? processes(h) : 0;
}

/* ---- what holds jobs here, for the server's attribute `confinement` and for the log */
static const char *word(const struct home *h, enum confine_limit l)
{
    enum confine_kind kind = h->freezer.limit[l].kind;
    const bool wanted[CONFINE_LIMIT_COUNT] = {[CONFINE_MEMORY] = h->config->enforce.kernel_mem,
                                              [CONFINE_PIDS] = processes(h) > 0,
                                              [CONFINE_CPUSET] = binds(h),
                                              [CONFINE_DEVICES] = h->config->devices != NULL};

    if (l == CONFINE_PIDS && kind == CONFINE_SIGNALS && wanted[l])
        return "rlimit";
    return kind == CONFINE_SIGNALS ? "none" : wanted[l] ? confine_name(kind) : "off";
}

void cgroup_limits_describe(const struct home *h, char *text, size_t max)
{
    int n = snprintf(text, max, "suspend:%s", confine_name(h->freezer.kind));

    for (int l = 0; l < CONFINE_LIMIT_COUNT && n > 0 && (size_t)n < max; l++)
        n += snprintf(text + n, max - (size_t)n, ",%s:%s", confine_limit_name((enum confine_limit)l),
                      word(h, (enum confine_limit)l));
}

void cgroup_limits_warn(const struct home *h, char *text, size_t max)
{
    size_t offered = share_of(h, NULL).from;

    text[0] = '\0';
    if (h->config->cpuset && h->freezer.limit[CONFINE_CPUSET].kind != CONFINE_SIGNALS && offered > h->cpus.n)
        snprintf(text, max,
                 "%zu ncpus are offered, this host has %zu processors: jobs are not bound to processors",
                 offered, h->cpus.n);
}
