#ifndef TM_OUTPUT_H
#define TM_OUTPUT_H
/* Output of tasks that goes to a client of TM, here or on another host. */
#include "tm_reply.h"

struct task_relay;

void tm_output_send(void *arg, struct task_relay *p, const struct tmx_output_args *args);
void tm_output_take(struct tm_server *t, const struct tmx_output_args *args, struct tm_reply *r);
/* The client that has spawned `task` wants its output. -1: no memory. */
int tm_output_expect(struct tm_server *t, unsigned task, uint64_t client);
void tm_output_client_gone(struct tm_server *t, uint64_t client);
void tm_output_forget(struct tm_server *t);

#endif
