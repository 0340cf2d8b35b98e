/* The parts that run jobs. See assembly.h.
 *
 * Down: a method (run, suspend, checkpoint, ...) gives its orders to exec_send. Up: exec_take and the methods tell events, and
 * assembly_events.c says which parts hear of which. A part created here knows only those that were created before it. */
#include "assembly.h"

#include "accounting.h"
#include "exec_hello.h"
#include "exec_send.h"
#include "exec_take.h"
#include "hook_hosts.h"
#include "hook_says.h"
#include "hook_server_life.h"
#include "host_loss.h"
#include "job_end.h"
#include "job_limits.h"
#include "join_wait.h"
#include "node_lost.h"
#include "node_watch.h"
#include "release_nodes.h"
#include "run.h"
#include "run_checkpoint.h"
#include "run_removal.h"
#include "run_suspend.h"
#include "run_terminate.h"
#include "run_withdraw.h"
#include "schedulers.h"
#include "services.h"
#include "stop_method.h"
#include "term_resend.h"
#include "virtual_time.h"

/* The ways of a run: to its start, and to each of its ends. */
static int create_methods(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->stop_methods = stop_methods_create();
    p->runs = runs_create(&s->ctx, p->fsm, p->services, p->send);
    p->run_suspend = run_suspend_create(&s->ctx, p->fsm, p->send, p->stop_methods);
    p->run_checkpoint = run_checkpoint_create(&s->ctx, p->fsm, p->send, p->services, p->stop_methods);
    p->run_removal = run_removal_create(&s->ctx, p->fsm, p->arrays, p->stop_methods);
    p->release_nodes = release_nodes_create(&s->ctx, p->send, p->stop_methods);
    s->run_terminate = run_terminate_create(&s->ctx, p->send);
    s->run_withdraw = run_withdraw_create(&s->ctx, p->send);
    return p->stop_methods && p->runs && p->run_suspend && p->run_checkpoint && p->run_removal &&
                   p->release_nodes && s->run_terminate && s->run_withdraw
               ? 0
               : err_no_memory(e);
}

static int create_ends(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->job_limits = job_limits_create(&s->ctx, p->services, p->send);
    s->host_loss = host_loss_create(&s->ctx, p->send, p->runs, p->run_suspend, p->run_checkpoint);
    s->job_end = job_end_create(&s->ctx, p->fsm, p->send, p->commit, s->host_loss);
    s->join_wait = join_wait_create(s->loop, &s->ctx, s->job_end);
    s->term_resend = term_resend_create(s->loop, &s->ctx, p->runs);
    return s->job_limits && s->host_loss && s->job_end && s->join_wait && s->term_resend ? 0
                                                                                         : err_no_memory(e);
}

/* The serving end of EXEC. */
static int create_exec(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->take = exec_take_create(&s->ctx, p->services, p->fsm, p->commit);
    s->node_lost = node_lost_create(&s->ctx, s->job_end);
    s->node_watch = node_watch_create(s->loop, &s->ctx, p->services, node_lost_expired, s->node_lost);
    s->time = virtual_time_create(s->loop, &s->ctx, p->commit, p->send, schedulers_all_wait, p->schedulers);
    if (!s->take || !s->node_lost || !s->node_watch || !s->time)
        return err_no_memory(e);
    s->hello = exec_hello_create(&(struct exec_hello_parts){.ctx = &s->ctx,
                                                            .services = p->services,
                                                            .send = p->send,
                                                            .take = s->take,
                                                            .watch = s->node_watch,
                                                            .commit = p->commit,
                                                            .store_reader = p->store_reader,
                                                            .time = s->time,
                                                            .certs = s->set.certs,
                                                            .hooks = {.greeted = hook_hosts_greeted,
                                                                      .piece = hook_hosts_piece,
                                                                      .query = hook_hosts_query,
                                                                      .says = hook_says_serve,
                                                                      .arg = p->hook_server}});
    return s->hello ? 0 : err_no_memory(e);
}

int assembly_running(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->services = services_create(&s->ctx);
    p->send = exec_send_create(&s->ctx, p->services, p->commit, s->loop);
    if (!p->services || !p->send || hook_server_bind_hosts(p->hook_server, p->services) < 0)
        return err_no_memory(e);
    exec_send_on_attrs(p->send, hook_hosts_add_attrs, p->hook_server);
    exec_send_before_start(p->send, hook_hosts_precede,
                           p->hook_server); /* the hooks of a host are above its orders */
    return create_methods(s, e) < 0 || create_ends(s, e) < 0 ? -1 : create_exec(s, e);
}
