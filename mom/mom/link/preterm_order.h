#ifndef PRETERM_ORDER_H
#define PRETERM_ORDER_H
/* Hooks of execjob_preterm: before a job is deleted, and only then.
 *
 * The first host is asked by the server (SIGNAL "TermJob") before the request is granted, and may refuse it. A sister is told to
 * end the job, and runs its hooks before it signals; what they answer changes nothing. Loop thread only. */
#include <stdbool.h>

struct mom;
struct rpc_request;
struct run;

#define PRETERM_SIGNAL "TermJob"

/* Answer the question: PBSE_HOOK_REJECT with the hook's words, else 0. */
void preterm_order_take(struct mom *m, struct run *r, struct rpc_request *q);

/* TERMINATE has come to a sister, which is to be deleted. True: hooks run, and RUN_EV_TERMINATE is posted when they have answered. Said again,
 * it does not wait for them. */
bool preterm_order_wait(struct mom *m, struct run *r);

#endif
