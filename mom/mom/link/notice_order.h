#ifndef NOTICE_ORDER_H
#define NOTICE_ORDER_H
/* A job here is to give way: the server's NOTICE to its shepherd, and the job's answer back as an event. */
#include <exec.h>

struct mom;
struct run;
struct shep_notice_reply;

/* The run has a shepherd. One that knows of no notices is answered for: EXEC_NOTICE_REFUSE. */
void notice_order_take(struct mom *m, struct run *r, const exec_notice_args *a);

void notice_order_reply(void *mom, struct run *r,
                        const struct shep_notice_reply *a); /* shepherds_hooks.notice_reply */

#endif
