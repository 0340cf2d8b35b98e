#ifndef REQ_TABLE_H
#define REQ_TABLE_H
/* All IFL requests: rights, gate, whether they change anything, result, handler; and the same as the RPC
 * program that the listeners serve. */
#include <stddef.h>

#include "request.h"
#include "rpc_request.h"

extern const struct request_row req_table[];
extern const size_t req_table_count;
/* Every procedure calls dispatch_call: serve it with the dispatch as argument. */
extern const struct rpc_program req_program;

#endif
