#ifndef SERVER_H
#define SERVER_H
/* The server as a whole: what main.c makes part by part, brought to life and ended.
 *
 *   main.c creates -> life_go_on -> life_catch_signals -> life_listen -> life_announce -> the loop -> life_stop
 *
 * Nobody is heard before everything the store knows is in its place again. */
#include <stdbool.h>

#include <openssl/ssl.h>

#include "err.h"
#include "parts.h"
#include "restore.h"
#include "rpc_server.h"
#include "server_settings.h"
#include "set_aside.h"
#include "server_ctx.h"
#include "failover_policy.h"

struct server {
    struct server_settings set;
    struct daemon *daemon;
    struct loop *loop;
    struct site site;
    struct parts parts;
    struct set_aside aside;
    struct restore_faults faults; /* of the store: set aside */
    struct names *names;
    struct peers *peers;
    struct scripts *scripts;
    struct node_watch *node_watch;
    struct node_lost *node_lost;
    struct terminate *terminate;
    struct job_limits *job_limits;
    struct notices *notices;
    struct partial *partial;
    struct clock *clock;
    struct virtual_time *time;
    struct host_loss *host_loss;
    struct job_end *job_end;
    struct join_wait *join_wait;
    struct resend *resend;
    struct exec_take *take;
    struct exec_hello *hello;
    struct start_time *start_time;
    struct arriving *arriving;
    struct wall_step *wall_step;
    struct depends *depends;
    struct aways *aways;
    struct away_links *away_links;
    struct eligible *eligible;
    struct maintenance *maintenance;
    struct history *history;
    struct mailer *mailer;
    struct ends *ends;
    struct job_log *job_log;
    struct guests *guests;
    struct dispatch *dispatch;
    struct shutdown *shutdown;
    struct rpc_server *rpc;
    struct rpc_served served[3];
    SSL_CTX *tls;
    struct cert_watch *cert_watch;
    struct loop_signal *signals[4];
    struct tenure *tenure; /* NULL: this server is alone */
    struct turn turn;
    bool lost;       /* the store is another's */
    uint64_t yields; /* epoch that the primary has asked us to leave; 0: none */
    bool was_ready;  /* whoever started us has been told */
};

/* Take up what the last server left: claims, states, preemptions, holds. -1: the store cannot be read. */
int life_go_on(struct server *s, bool is_new, const struct restore_counts *counts, struct err *e);
/* TERM, INT and QUIT end the loop, HUP opens the log anew. */
int life_catch_signals(struct server *s, struct err *e);
int life_listen(struct server *s, struct err *e);
/* What shows that a secondary is active begins here, and ends with life_stop. */
void life_announce(struct server *s);
/* ^ of the store: this server is active no more. */
void life_store_lost(void *arg, const struct err *why);
/* Everything in the reverse order of creation; what has changed is stored before. Of a server that was made in part, too. */
void life_stop(struct server *s);

#endif
