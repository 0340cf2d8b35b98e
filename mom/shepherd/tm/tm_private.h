#ifndef TM_PRIVATE_H
#define TM_PRIVATE_H
/* What the files of TM share; private to them. Each uses those before it: tm_reply.c (the answer), tm_output.c (where
 * output goes), tm_hooks.c (what hooks say to it), tm_asks.c (doing it here), tm_attach.c (making a process a task), tm_helper.c (the PMIx helper), tm_server.c (who asks, and where it is done). */
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

enum {
    SIGNALS_KEPT = 64,
    WAITING_MAX =
        48 << 20, /* bytes of questions without an answer: room for one obit of each of TASKS_MAX tasks */
    LARGE = 4096  /* an answer of more bytes is not kept where many wait to be read */
};

/* Where an answer goes: to a client of the listener, or to a call of another host. */
struct tm_reply {
    struct tm_server *tm;
    size_t cost; /* of its share of WAITING_MAX */
    bool is_letter;
    struct mom_link_ticket ticket; /* letter */
    unsigned from;
    uint64_t number;
    uint64_t client;
    uint32_t xid;
    bool relay; /* the question is a spawn whose output the client wants */
    bool asked; /* hooks have accepted it: the environment of a spawn is whole */
    struct tasks_waiter waiter;
    struct tm_reply *next; /* held back while suspended */
    struct tmx_ask *ask;
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
    struct tm_place place;
    pid_t first;
    bool awake; /* what follows is there: most jobs never ask */
    const char *cookie;
    struct job_nodes nodes;
    struct tm_listener *listener;
    struct tasks *tasks;
    size_t attached; /* of them, that live */
    struct peer_rpc *peer_rpc;
    struct output_relays *output_relays;
    struct tm_helper *helper; /* NULL: none was ever wanted */
    struct tm_inflow *inflows;
    struct tm_reply *held_first, **held_end;
    size_t waiting; /* bytes of questions without an answer */
    struct {
        unsigned from;
        uint64_t number;
    } signals[SIGNALS_KEPT]; /* letters with signals that were obeyed, the last ones */
    unsigned next_signal;
};

/* ---- tm_reply.c */
/* Answers and frees `r`. */
void tm_reply_answer(struct tm_reply *r, const struct tmx_answer *a);
void tm_reply_refuse(struct tm_reply *r, int code, const char *text);
/* The answer will be late: is there room to keep the question? Else it is refused, and `r` is gone. */
bool tm_reply_may_wait(struct tm_reply *r);
/* Keep a copy of the question in r->ask. -1: no memory. */
int tm_reply_keep_ask(const struct tmx_ask *ask, struct tm_reply *r);

/* ---- tm_asks.c */
/* A task is there. On the disk, for a MOM that finds the shepherd gone; and the MOM is told. */
struct shep_task_news;
void tm_asks_record(const struct tm_server *t, const struct shep_task_news *n);
void tm_asks_record_end(const struct tm_server *t, unsigned id);
/* The question is about this host. `r` is taken. */
void tm_ask_here(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
/* Until the job runs again. Takes `r`. */
void tm_asks_hold_back(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
void tm_asks_do_held(struct tm_server *t);
void tm_asks_forget_held(struct tm_server *t);

/* ---- tm_hooks.c */
/* True: hooks of the host are asked first, and `r` is taken: `then` is called when they have accepted it. */
typedef void tm_hooks_then(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
bool tm_hooks_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r, tm_hooks_then *then);

/* ---- tm_output.c */
void tm_output_send(void *arg, struct task_relay *p, const struct tmx_output_args *args);
void tm_output_take(struct tm_server *t, const struct tmx_output_args *args, struct tm_reply *r);
/* The client that has spawned `task` wants its output. -1: no memory. */
int tm_output_expect(struct tm_server *t, unsigned task, uint64_t client);
void tm_output_client_gone(struct tm_server *t, uint64_t client);
void tm_output_forget(struct tm_server *t);

#endif
