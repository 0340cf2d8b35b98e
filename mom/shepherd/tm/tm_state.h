#ifndef TM_STATE_H
#define TM_STATE_H
/* The fields of TM, for the files tm_*.c; others ask tm_server.h. The comments say which file writes.
 *
 * Each calls those before it: tm_reply.c (the answer), tm_output.c (where output goes), tm_hooks.c (what hooks say to it), tm_asks.c
 * (doing it here), tm_attach.c (making a process a task), tm_helper.c (the PMIx helper), tm_server.c (who asks, and where it is done). */
#include <stdbool.h>
#include <stdint.h>

#include <tm.h>
#include <uthash.h>

#include "tm_listener.h"
#include "job_nodes.h"
#include "peer_rpc.h"
#include "mom_link.h"
#include "output_relay.h"
#include "tasks.h"
#include "tm_server.h"

struct tm_reply;

enum {
    SIGNALS_KEPT = 64,
    WAITING_MAX =
        48 << 20, /* bytes of questions without an answer: room for one obit of each of TASKS_MAX tasks */
    LARGE = 4096  /* an answer of more bytes is not kept where many wait to be read */
};

/* A piece for a client that is not known yet: the answer to its spawn comes on another way. */
struct tm_early {
    struct tm_reply *reply; /* NULL: none */
    char *bytes;
    size_t n;
};

/* Output of a task that is not written by the task itself: what of it has arrived, and who wants it. */
struct tm_inflow {
    UT_hash_handle hh;
    unsigned task;
    uint64_t next[2];
    bool known;      /* who wants it; */
    uint64_t client; /* 0: has gone, or the job's files */
    struct tm_early early[2];
};

struct tm_server {
    /* tm_server.c */
    struct tm_place place;
    pid_t first;
    bool awake; /* what follows is there: most jobs never ask */
    const char *cookie;
    struct job_nodes nodes;
    struct tm_listener *listener;
    struct peer_rpc *peer_rpc;
    struct output_relays *output_relays;
    struct tasks *tasks; /* tm_asks.c and tm_attach.c add */

    size_t attached;                         /* of the tasks, that live; tm_attach.c */
    struct tm_helper *helper;                /* NULL: none was ever wanted; tm_helper.c */
    struct tm_inflow *inflows;               /* tm_output.c */
    struct tm_reply *held_first, **held_end; /* tm_asks.c */
    size_t waiting; /* bytes of questions without an answer; tm_server.c adds, tm_reply.c takes off */
    struct {
        unsigned from;
        uint64_t number;
    } signals[SIGNALS_KEPT]; /* letters with signals that were obeyed, the last ones; tm_asks.c */
    unsigned next_signal;
};

#endif
