#ifndef SERVER_H
#define SERVER_H
/* The server as a whole: what main.c makes part by part, brought to life and ended.
 *
 *   main.c creates -> server_recover -> server_take_signals -> server_listen -> server_announce -> the loop ->
 * server_stop
 *
 * No connection is accepted before everything in the store is restored. */
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
    struct server_ctx ctx;
    struct parts parts;
    struct set_aside aside;
    struct restore_errors errors; /* of the store: set aside */
    struct names *names;
    struct peer_servers *peer_servers;
    struct script_cache *script_cache;
    struct node_watch *node_watch;
    struct node_lost *node_lost;
    struct run_terminate *run_terminate;
    struct run_withdraw *run_withdraw;
    struct job_limits *job_limits;
    struct preempt_notices *preempt_notices;
    struct clock *clock;
    struct virtual_time *time;
    struct host_loss *host_loss;
    struct job_end *job_end;
    struct join_wait *join_wait;
    struct term_resend *term_resend;
    struct exec_take *take;
    struct exec_hello *hello;
    struct start_time *start_time;
    struct submit_pieces *submit_pieces;
    struct clock_step *clock_step;
    struct depends *depends;
    struct depend_remotes *depend_remotes;
    struct depend_links *depend_links;
    struct eligible_time *eligible_time;
    struct maintenance *maintenance;
    struct history *history;
    struct mailer *mailer;
    struct exit_cache *exit_cache;
    struct job_audit *job_audit;
    struct munge_login *munge_login;
    struct dispatch *dispatch;
    struct shutdown *shutdown;
    struct rpc_server *rpc;
    struct rpc_served served[3];
    SSL_CTX *tls;
    struct cert_watch *cert_watch;
    struct loop_signal *signals[4];
    struct lease_monitor *lease_monitor; /* NULL: this server is alone */
    struct failover_policy failover_policy;
    bool lost;       /* another server has taken the store */
    uint64_t yields; /* epoch that the primary has asked this server to leave; 0: none */
    bool was_ready;  /* the process that started this server has been notified */
};

/* Restore what the last server left in the store: claims, states, preemptions, holds. -1: the store cannot be read. */
int server_recover(struct server *s, bool is_new, const struct restore_counts *counts, struct err *e);
/* TERM, INT and QUIT end the loop, HUP opens the log again. */
int server_take_signals(struct server *s, struct err *e);
int server_listen(struct server *s, struct err *e);
/* Create the sign that a secondary is active; server_stop removes it. */
void server_announce(struct server *s);
/* ^ of the store: another server has taken it; this server is no longer active. */
void server_store_lost(void *arg, const struct err *why);
/* Store what has changed, then destroy everything in the reverse order of creation. Works on a server that is only
 * partly created, too. */
void server_stop(struct server *s);

#endif
