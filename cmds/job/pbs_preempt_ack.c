/* pbs_preempt_ack: a job answers the notice of its preemption. The command runs inside the job and speaks to its
 * shepherd, so the server need not know the user. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "pbs_ext.h"
#include "tm_wait.h"
#include "units.h"

enum { EXIT_ERROR = 1, EXIT_NO_NOTICE = 3, SECONDS_MAX = 30 * 24 * 3600, NODES_MAX = 60000 };

struct ack {
    struct cmd_args a;
    bool ready, decline, saved;
    const char *need, *offer;
};

static const struct option_row rows[] = {
    CMD_TEXT('n', struct ack, need, "seconds", "seconds that it still needs, from now"),
    CMD_TEXT('o', struct ack, offer, "vnode[+vnode ...]", "these may be taken, if that is enough"),
    CMD_FLAG('r', struct ack, ready, "it is ready: it may be preempted now"),
    CMD_FLAG('s', struct ack, saved, "it has saved itself: it may be preempted now"),
    CMD_FLAG('x', struct ack, decline, "it would rather not; this is recorded, and the deadline remains"),
};

static int pbs_preempt_ack_answer(const struct ack *t, enum pbs_tm_answer what, unsigned need_s,
                                  const char *nodes)
{
    struct tm_roots roots;
    tm_event_t event;
    int code = tm_init(NULL, &roots);
    const char *why;

    if (code == TM_SUCCESS)
        code = pbs_tm_notice(what, need_s, nodes, &event);
    if (code == TM_SUCCESS)
        code = tm_wait_for(event);
    why = pbs_tm_reason();
    if (code != TM_SUCCESS)
        (void)cmd_error(&t->a, "%s", *why ? why : tm_wait_error_text(code));
    (void)tm_finalize();
    return code == TM_SUCCESS ? 0 : code == TM_ENOTFOUND ? EXIT_NO_NOTICE : EXIT_ERROR;
}

static int pbs_preempt_ack_need(const struct ack *t)
{
    int64_t seconds;

    if (units_parse_duration_s(t->need, &seconds, NULL) < 0 || seconds <= 0 || seconds > SECONDS_MAX) {
        (void)cmd_error(&t->a, "\"%s\" is not a time between 1 and %d seconds", t->need, SECONDS_MAX);
        return EXIT_ERROR;
    }
    return pbs_preempt_ack_answer(t, PBS_TM_NEED, (unsigned)seconds, NULL);
}

/* Commas are accepted as plus signs. */
static int offer(const struct ack *t)
{
    char *nodes = strdup(t->offer);
    int rc;

    if (!nodes || strlen(nodes) > NODES_MAX) {
        free(nodes);
        (void)cmd_error(&t->a, "too many vnodes are named");
        return EXIT_ERROR;
    }
    for (char *c = nodes; *c; c++)
        if (*c == ',')
            *c = '+';
    rc = pbs_preempt_ack_answer(t, PBS_TM_OFFER, 0, nodes);
    free(nodes);
    return rc;
}

static int pbs_preempt_ack_run(void *settings, int n, char *operands[])
{
    struct ack *t = settings;

    if (n || t->ready + t->saved + t->decline + !!t->need + !!t->offer != 1)
        return cmd_usage(&t->a);
    if (t->ready || t->saved || t->decline)
        return pbs_preempt_ack_answer(t,
                                      t->ready   ? PBS_TM_READY
                                      : t->saved ? PBS_TM_SAVED
                                                 : PBS_TM_DECLINE,
                                      0, NULL);
    return t->need ? pbs_preempt_ack_need(t) : offer(t);
}

const struct cmd command = {
    .options = {.program = "pbs_preempt_ack", .operands = "", CMD_ROWS(rows)},
    .usage = "usage: pbs_preempt_ack -r | -s | -x\n       pbs_preempt_ack -n seconds\n"
             "       pbs_preempt_ack -o vnode[+vnode ...]\n",
    .usage_exit = 2,
    .size = sizeof(struct ack),
    .run = pbs_preempt_ack_run,
};
