#ifndef RUN_WHERE_H
#define RUN_WHERE_H
/* Where a job shall run, from the text of a request: an exec_vnode, or vnodes without amounts (qrun -H n1+n2). The
 * latter get the chunks of the job's select in turn, each vnode (or bracket) one, starting again at the first when
 * there are fewer of them than chunks: what the job asks for is counted there as if a scheduler had said so. */
#include "err.h"

struct exec_vnode;
struct job;
struct server_ctx;

/* To be freed by exec_vnode_destroy. NULL: what exec_vnode_parse says, PBSE_IVALREQ it names no vnode, PBSE_UNKNODE a vnode
 * without amounts is not there, PBSE_SYSTEM. */
struct exec_vnode *run_where(const struct server_ctx *s, const struct job *j, const char *location,
                             struct err *e);

#endif
