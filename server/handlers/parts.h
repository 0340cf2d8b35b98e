#ifndef PARTS_H
#define PARTS_H
/* Everything a handler may call, held together: the first argument of every handler. main.c fills it in. */
#include "alter.h"
#include "server_ctx.h"

struct accounting;
struct mail;
struct arrays;
struct commit;
struct eligible;
struct exec_send;
struct job_fsm;
struct loop;
struct methods;
struct move_out;
struct names;
struct notes;
struct plan_holds;
struct preempts;
struct reader;
struct removal;
struct resize;
struct route;
struct runs;
struct schedulers;
struct services;
struct status;
struct submit;
struct suspend;
struct tracks;
struct victims;
struct watches;

struct parts {
    struct site *site;
    struct loop *loop;
    struct commit *commit;
    struct names *names;
    struct notes *notes;
    struct move_out *move_out;
    struct tracks *tracks;
    struct reader *reader;
    struct job_fsm *fsm;
    struct services *services;
    struct exec_send *send;
    struct runs *runs;
    struct suspend *suspend;
    struct checkpoint *checkpoint;
    struct removal *removal;
    struct resize *resize;
    struct methods *methods;
    struct victims *victims;
    struct preempts *preempts;
    struct plan_holds *plan_holds;
    struct submit *submit;
    struct route *route;
    struct eligible *eligible;
    struct alter_parts alter;
    struct status *status;
    struct watches *watches;
    struct schedulers *schedulers;
    struct accounting *accounting;
    struct mail *mail;
    struct arrays *arrays;
    const char *home;           /* PBS_HOME */
    bool of_pair, is_secondary; /* this server is one of two with one store; which of them */
    /* ^ the server is to go down */
    void (*shutdown)(void *arg, int manner);
    void *shutdown_arg;
};

#endif
