#ifndef TM_HELPER_H
#define TM_HELPER_H
/* The PMIx helper of the job on this host (mom/pmix): a process of the owner that speaks PMIx to the job's programs, and to us over
 * a socket that it inherits. Started by the first question for it, or before the job's first process where the job asks for it
 * (PBS_PMIX in its environment); started again by the next question when it has died. It ends when the socket closes.
 *
 * To us it is a client like others, which needs no INIT. What comes for it from tasks and other hosts (TMX_ASK_PMIX) is said to it,
 * and its answer is theirs. What it has declared of its programs ends with it. */
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct rpc_call_hdr;
struct tm_client;
struct tm_helper;
struct tm_reply;
struct tm_server;
struct tmx_ask;
struct words;

/* A question for the helper here. `r` is taken. */
void tm_helper_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);

/* See tm_server_begin_helper; the server of tasks is awake. */
int tm_helper_begin(struct tm_server *t, struct words *env, struct err *e);

/* TMX_ASK_DECLARE: what the helper says of its programs is what the owner's programs have said; taken back when it ends before the job. */
void tm_helper_declare(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);

/* What the notice file says, for the programs that the helper knows; attempt 0: it is gone. */
void tm_helper_tell(struct tm_server *t, unsigned attempt, const char *text);

/* The job's processes are ending: the helper is not to be waited for. */
void tm_helper_end(struct tm_server *t);
void tm_helper_destroy(struct tm_helper *h); /* after the listener */

/* For tm_server.c: the call TMX_HELPER; a client that has gone. */
void tm_helper_on_ready(struct tm_server *t, struct tm_client *g, const struct rpc_call_hdr *h);
void tm_helper_client_gone(struct tm_server *t, uint64_t client);

#endif
