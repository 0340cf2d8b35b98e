/* Plain calls on one connection, one after the other. A node that exists already is not an error, so an interrupted start
 * can be repeated. A node is up when no word of its state says otherwise; the state is asked for repeatedly until the
 * deadline. */
#include "complex_nodes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

/* Between two questions whether nodes are free: short beside the start of a MOM, long beside an answer. */
enum { PAUSE_MS = 20 };

#define FIRST_QUEUE "workq" /* which each new server has */

static int complex_nodes_refused(int c, const char *what, struct err *e)
{
    const char *text = pbs_geterrmsg(c);

    return err_set(e, pbs_errno, "%s: %s (%d)", what, text ? text : "the server gives no reason", pbs_errno);
}

int complex_nodes_create(int c, const struct complex_names *nodes, struct err *e)
{
    for (int i = 0; i < nodes->n; i++) {
        int rc = pbs_manager(c, MGR_CMD_CREATE, MGR_OBJ_NODE, nodes->name[i], NULL, NULL);

        if (rc != 0 && rc != PBSE_NODEEXIST) {
            (void)complex_nodes_refused(c, "cannot create a node", e);
            return err_prefix(e, "%s", nodes->name[i]);
        }
    }
    return 0;
}

int complex_nodes_set_up(int c, struct err *e)
{
    char roots_name[] = ATTR_aclroot, root[] = "root", history_name[] = ATTR_JobHistoryEnable, on[] = "True";
    struct attropl roots = {.name = roots_name, .value = root, .op = SET};
    struct attropl history = {.name = history_name, .value = on, .op = SET};

    char methods_name[] = "preempt_methods_enable";
    struct attropl methods = {.name = methods_name, .value = on, .op = SET};

    history.next = geteuid() == 0 ? &roots : NULL;
    if (pbs_manager(c, MGR_CMD_SET, MGR_OBJ_SERVER, "", &history, NULL) != 0)
        return complex_nodes_refused(c, "cannot set up the server", e);
    if (pbs_manager(c, MGR_CMD_SET, MGR_OBJ_QUEUE, FIRST_QUEUE, &methods, NULL) != 0)
        return complex_nodes_refused(c, "cannot set up queue " FIRST_QUEUE, e);
    return 0;
}

void complex_nodes_state(int c, const char *node, char *out, size_t size)
{
    char name[] = ATTR_NODE_state;
    struct attrl want = {.name = name};
    struct batch_status *b = pbs_statvnode(c, node, &want, NULL);

    (void)snprintf(out, size, "%s", b && b->attribs && b->attribs->value ? b->attribs->value : "unknown");
    pbs_statfree(b);
}

static bool is_up(const char *state)
{
    return !strstr(state, "down") && !strstr(state, "unknown") && !strcasestr(state, "stale");
}

int complex_nodes_wait(int c, const struct complex_names *nodes, int limit_ms, struct err *e)
{
    int64_t end = clock_real_mono_ms() + limit_ms;
    char state[256];

    for (int i = 0; i < nodes->n; i++)
        for (;;) {
            complex_nodes_state(c, nodes->name[i], state, sizeof state);
            if (is_up(state))
                break;
            if (clock_real_mono_ms() >= end)
                return err_set(e, ETIMEDOUT, "node %s is %s after %d seconds", nodes->name[i], state,
                               limit_ms / 1000);
            (void)poll(NULL, 0, PAUSE_MS);
        }
    return 0;
}
