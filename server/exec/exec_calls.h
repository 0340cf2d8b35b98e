#ifndef EXEC_CALLS_H
#define EXEC_CALLS_H
/* The program PBS_EXEC_PROG: its table of calls, and each of them but HELLO (exec_hello.h).
 *
 * A connection carries a service_conn from its HELLO on, which names the service. A call on a connection without one, or before
 * HELLO is accepted, is refused. */
#include "rpc_request.h"

/* To be served with a struct exec_hello as argument. */
extern const struct rpc_program exec_calls_program;

#endif
