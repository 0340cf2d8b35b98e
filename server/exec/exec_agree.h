#ifndef EXEC_AGREE_H
#define EXEC_AGREE_H
/* The agreement of a HELLO: first the answer on each run that the service holds, then, when the answer is on its way,
 * orders for those. Loop thread only. Rule: doc/reconciliation.md. */
#include <exec.h>

struct exec_hello_parts;
struct service;

/* One decision for each run in `a`, into out->runs, which the caller frees; fewer where there is no memory. */
void exec_agree_decide(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a,
                       exec_hello_result *out);
/* After the answer: KEPT for each run that is kept; START again or LOST for what is missing; START for sisters that
 * waited for this one's address. */
void exec_agree_act(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a);

#endif
