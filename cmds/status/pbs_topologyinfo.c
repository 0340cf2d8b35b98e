/* pbs_topologyinfo: show how many sockets and processors the hosts have, as their MOMs have reported (topology_info
 * of the vnode that is the host itself; other vnodes of the host have none). Licences that are counted by sockets
 * need it. */
#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "cmd.h"
#include "pbs_error.h"
#include "api_error.h"
#include "conn_pool.h"

struct topology {
    struct cmd_args a;
    bool all, processors, sockets;
};

static const struct option_row rows[] = {
    CMD_FLAG('a', struct topology, all, "every host of the complex"),
    CMD_FLAG('p', struct topology, processors, "how many processors (hardware threads)"),
    CMD_FLAG('s', struct topology, sockets, "how many sockets (the default)"),
};

/* Return N of "... NAME=N ..."; -1: missing. */
static long pbs_topologyinfo_count(const char *topology, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = topology; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return strtol(at + n + 1, NULL, 10);
    }
    return -1;
}

static void pbs_topologyinfo_put(long number)
{
    if (number < 0)
        fputs(" --", stdout);
    else
        printf(" %ld", number);
}

static void pbs_topologyinfo_show(const struct topology *q, const char *host, const char *topology)
{
    fputs(host, stdout);
    if (q->sockets || !q->processors)
        pbs_topologyinfo_put(pbs_topologyinfo_count(topology, "sockets"));
    if (q->processors)
        pbs_topologyinfo_put(pbs_topologyinfo_count(topology, "pus"));
    putchar('\n');
}

/* Return true if `host` names the vnode or the host of the vnode; NULL: any. */
static bool is_meant(const struct batch_status *v, const char *host)
{
    const char *on = attrs_value(v->attribs, ATTR_rescavail, "host");

    return !host || strcmp(v->name, host) == 0 || (on && strcmp(on, host) == 0);
}

/* Show the hosts of this name, or all. Return 0, or 1 after a message: it is unknown, or has reported nothing. */
static int show_host(const struct topology *q, const struct batch_status *vnodes, const char *host)
{
    size_t known = 0, told = 0;

    for (const struct batch_status *v = vnodes; v; v = v->next) {
        const char *topology = attrs_value(v->attribs, ATTR_NODE_TopologyInfo, NULL);

        if (!is_meant(v, host))
            continue;
        known++;
        if (topology) {
            pbs_topologyinfo_show(q, v->name, topology);
            told++;
        }
    }
    if (told || !host)
        return 0;
    cmd_error(&q->a, "%s: %s", host, known ? "its MOM has not reported what it has" : "Unknown node");
    return 1;
}

static struct batch_status *fetch(int c)
{
    struct attrs wants = {0};
    struct batch_status *vnodes;

    attrs_add(&wants, ATTR_NODE_TopologyInfo, NULL, "", SET);
    attrs_add(&wants, ATTR_rescavail, "host", "", SET);
    pbs_errno = 0;
    vnodes = pbs_statvnode(c, NULL, attrs_attrl(&wants), NULL);
    attrs_fini(&wants);
    return vnodes;
}

static int pbs_topologyinfo_run(void *settings, int n, char *operands[])
{
    struct topology *q = settings;
    struct conn_pool *s;
    struct batch_status *vnodes;
    int c, rc = 0;

    if (q->all == (n > 0))
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    c = s ? conn_pool_connect(s, NULL) : -1;
    vnodes = c < 0 ? NULL : fetch(c);
    if (c < 0 || (!vnodes && pbs_errno)) {
        if (c >= 0)
            api_error_report(&q->a, c, "");
        rc = 1;
    } else if (q->all) {
        rc = show_host(q, vnodes, NULL);
    }
    for (int i = 0; rc != 1 && i < n; i++)
        rc = show_host(q, vnodes, operands[i]) ? 2 : rc;
    pbs_statfree(vnodes);
    conn_pool_destroy(s);
    return rc ? 1 : 0;
}

const struct cmd command = {
    .options = {.program = "pbs_topologyinfo", .operands = "[host...]", CMD_ROWS(rows)},
    .usage = "Usage: pbs_topologyinfo [-p] [-s] {-a | host...}\n",
    .usage_exit = 1,
    .size = sizeof(struct topology),
    .run = pbs_topologyinfo_run,
};
