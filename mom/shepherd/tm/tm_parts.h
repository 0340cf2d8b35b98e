#ifndef TM_PARTS_H
#define TM_PARTS_H
/* The parts of TM, for the files tm_*.c, which call them; others ask tm_server.h. Each part has its fields to itself; what is kept here is
 * written by the file that the comment names.
 *
 * Each calls those before it: tm_reply.c (the answer), tm_output.c (where output goes), tm_hooks.c (what hooks say to it), tm_asks.c
 * (doing it here), tm_attach.c (making a process a task), tm_login.c (making a login one), tm_helper.c (the PMIx helper), tm_server.c (who asks, and where it is done). */
#include <stdbool.h>
#include <stddef.h>

#include "job_nodes.h"
#include "mom_link.h"
#include "output_relay.h"
#include "peer_rpc.h"
#include "tasks.h"
#include "tm_listener.h"
#include "tm_server.h"

struct tm_asks;
struct tm_helper;
struct tm_inflow;

struct tm_server {
    /* tm_server.c; the four behind `awake` are there when it is true: most jobs never ask */
    struct tm_place place;
    struct tm_listener *listener;
    bool awake;
    struct job_nodes nodes;
    struct peer_rpc *peer_rpc;
    struct output_relays *output_relays;
    struct tasks *tasks; /* tm_asks.c and tm_attach.c add */
    const char *cookie;  /* of the job, which clients show */
    pid_t first;         /* the job's first process */

    struct tm_asks *asks;
    struct tm_helper *helper;  /* NULL: none was ever wanted */
    struct tm_inflow *inflows; /* tm_output.c */
    size_t attached;           /* tasks that live and are not our children; tm_attach.c */
    size_t waiting;            /* bytes of questions without an answer; tm_reply.c */
};

#endif
