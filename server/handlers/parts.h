#ifndef PARTS_H
#define PARTS_H
/* Everything a handler may call, held together: the first argument of every handler. assembly.c fills it in. */
#include "alter.h"
#include "server_ctx.h"

struct accounting;
struct mail;
struct arrays;
struct commit;
struct dispatch;
struct eligible_time;
struct exec_send;
struct hook_server;
struct job_fsm;
struct loop;
struct stop_methods;
struct move_out;
struct names;
struct store_notes;
struct plan_earmarks;
struct preempt_notices;
struct preempt_jobs;
struct store_reader;
struct run_removal;
struct release_nodes;
struct reservations;
struct route;
struct runs;
struct schedulers;
struct services;
struct shutdown;
struct status;
struct submit;
struct run_suspend;
struct track_request;
struct victims;
struct node_drains;
struct watches;

struct parts {
    struct server_ctx *ctx;
    struct loop *loop;
    struct commit *commit;
    struct names *names;
    struct store_notes *store_notes;
    struct move_out *move_out;
    struct track_request *track_request;
    struct store_reader *store_reader;
    struct job_fsm *fsm;
    struct services *services;
    struct exec_send *send;
    struct runs *runs;
    struct run_suspend *run_suspend;
    struct run_checkpoint *run_checkpoint;
    struct run_removal *run_removal;
    struct release_nodes *release_nodes;
    struct stop_methods *stop_methods;
    struct victims *victims;
    const struct preempt_notices *preempt_notices;
    struct node_drains *node_drains;
    struct preempt_jobs *preempt_jobs;
    struct plan_earmarks *plan_earmarks;
    struct submit *submit;
    struct reservations *reservations;
    struct route *route;
    struct eligible_time *eligible_time;
    struct alter_parts alter;
    struct status *status;
    struct watches *watches;
    struct schedulers *schedulers;
    struct accounting *accounting;
    struct mail *mail;
    struct arrays *arrays;
    struct hook_server *hook_server;
    struct shutdown *shutdown;
    const struct dispatch *dispatch;
    const char *home;           /* PBS_HOME */
    bool of_pair, is_secondary; /* this server is one of two with one store; which of them */
};

#endif
