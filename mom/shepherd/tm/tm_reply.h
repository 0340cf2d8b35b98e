#ifndef TM_REPLY_H
#define TM_REPLY_H
/* Where the answer to a question of TM goes, and the answer itself. The other files of TM call this one; it calls none of them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tm.h>

#include "mom_link.h"
#include "tasks.h"

struct tm_server;

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
    bool by_root; /* the client is a process of root */
    bool relay;   /* the question is a spawn whose output the client wants */
    bool asked;   /* hooks have accepted it: the environment of a spawn is whole */
    struct tasks_waiter waiter;
    struct tm_reply *next; /* held back while suspended */
    struct tmx_ask *ask;
};

/* For a question of n bytes, which may have to be kept. Freed by its answer. NULL: no memory. */
struct tm_reply *tm_reply_create(struct tm_server *t, size_t n);
/* Answers and frees `r`. */
void tm_reply_answer(struct tm_reply *r, const struct tmx_answer *a);
void tm_reply_refuse(struct tm_reply *r, int code, const char *text);
/* The answer will be late: is there room to keep the question? Else it is refused, and `r` is gone. */
bool tm_reply_may_wait(struct tm_reply *r);
/* Keep a copy of the question in r->ask. -1: no memory. */
int tm_reply_keep_ask(const struct tmx_ask *ask, struct tm_reply *r);

#endif
