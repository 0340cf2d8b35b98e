/* A run host by host. See run_hosts.h.
 *
 * A host is a service, not a vnode: several vnodes of one MOM are one host of the run. Hosts are in the
 * order in which the chunks first name them, and the first one runs the script. Service names are
 * interned, here and in the nodes, so they are compared by address.
 *
 * A host's state only rises: SENT, READY, then RELEASED or LOST, which are final. When it leaves READY its vnodes are free in
 * the same moment (run_hosts_release), so `uses` of a job and states of its hosts never disagree between two steps. */
#include "run_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "intern.h"
#include "log.h"
#include "pbs_error.h"
#include "ranks.h"
#include "services.h"
#include "server_ctx.h"
#include "start_order.h"
#include "strbuf.h"

/* As PBS_VALUE_MAX of ifl/protocol/types.x: who shows the job must be able to send it. */
enum { VALUE_MAX = 1 << 20 };

/* "n1/0*4+n2/1": host, number of jobs it has already, cpus where not one. */
static void add_exec_host(struct strbuf *out, const struct node *n, const struct exec_vnode_part *p)
{
    strbuf_add_sep(out, "+");
    strbuf_addf(out, "%s/%zu", n->obj.name, n->n_uses);
    for (size_t i = 0; i < p->res.n; i++)
        if (strcmp(p->res.a[i].name, "ncpus") == 0 && strcmp(p->res.a[i].value, "1") != 0)
            strbuf_addf(out, "*%s", p->res.a[i].value);
}

/* The services of the vnodes, each once, in order of chunks. */
static int run_hosts_collect(struct server_ctx *s, const struct exec_vnode *where, const char **names,
                             struct ranks *seen, struct strbuf *exec_host, struct err *e)
{
    size_t chunk = 0;

    for (size_t i = 0; i < where->n; i++) {
        const struct exec_vnode_part *p = &where->part[i];
        const struct node *node = nodes_find(s->nodes, p->vnode);
        int64_t rank;

        if (!node)
            return err_set(e, PBSE_UNKNODE, "Unknown node %s", p->vnode);
        if (!node->service)
            return err_set(e, PBSE_RESCUNAV, "no execution service is here for node %s", p->vnode);
        rank = ranks_add(seen, node->service->name);
        if (rank == RANKS_NONE)
            return err_set(e, PBSE_SYSTEM, "no memory for hosts");
        names[rank] = node->service->name;
        if (i == 0 || p->chunk != chunk)
            add_exec_host(exec_host, node, p);
        chunk = p->chunk;
    }
    return 0;
}

int run_hosts_make(struct server_ctx *s, struct job *j, const struct exec_vnode *where, unsigned version,
                   struct run **out, struct err *e)
{
    const char **names = calloc(where->n ? where->n : 1, sizeof *names);
    struct strbuf exec_host, exec_vnode;
    struct ranks *seen = ranks_create();
    struct run *r = NULL;
    int rc = -1;

    if (start_order_check(s, where, e) < 0) {
        free(names);
        ranks_destroy(seen);
        return -1;
    }
    strbuf_init(&exec_host, VALUE_MAX);
    strbuf_init(&exec_vnode, VALUE_MAX);
    if (!names || !seen) {
        err_set(e, PBSE_SYSTEM, "no memory for a run of %s", j->obj.name);
        goto out;
    }
    if (run_hosts_collect(s, where, names, seen, &exec_host, e) < 0)
        goto out;
    if (exec_vnode_format(where, &exec_vnode) < 0 || !strbuf_ok(&exec_host)) {
        err_set(e, PBSE_IVALREQ, "exec_vnode or exec_host of %s would be longer than %d bytes", j->obj.name,
                VALUE_MAX);
        goto out;
    }
    r = job_run_create(version, strbuf_str(&exec_vnode), strbuf_str(&exec_host), ranks_count(seen));
    if (!r) {
        err_set(e, PBSE_SYSTEM, "no memory for a run of %s", j->obj.name);
        goto out;
    }
    for (size_t i = 0; i < ranks_count(seen); i++)
        r->hosts[i].service = intern_again(names[i]);
    *out = r;
    rc = 0;
out:
    strbuf_fini(&exec_host);
    strbuf_fini(&exec_vnode);
    ranks_destroy(seen);
    free(names);
    return rc;
}

bool run_hosts_all_ready(const struct run *r)
{
    for (size_t i = 1; i < r->n_hosts; i++)
        if (r->hosts[i].state == RUN_HOST_SENT)
            return false;
    return r->hosts[0].state == RUN_HOST_READY;
}

bool run_hosts_all_suspended(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (!r->hosts[i].suspended && !r->hosts[i].leaving && r->hosts[i].state <= RUN_HOST_READY)
            return false;
    return true;
}

void run_hosts_clear_suspended(struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        r->hosts[i].suspended = false;
}

static const struct node_use *use_of_service(const struct job *j, const char *service)
{
    const struct node_use *u = j->uses;

    while (u && (u->lent || u->node->service_name != service))
        u = u->next_of_job;
    return u;
}

void run_hosts_release(struct server_ctx *s, struct job *j, struct run_host *h, enum run_host_state how)
{
    const struct node_use *u;

    while ((u = use_of_service(j, h->service)))
        assign_release_node(s->assign, j, u->node);
    h->state = how;
}
