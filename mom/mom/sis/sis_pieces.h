#ifndef SIS_PIECES_H
#define SIS_PIECES_H
/* Answers to SIS FETCH. */
#include <stdint.h>

struct rpc_request;

/* The bytes from `offset` on, as many as go into one answer. fd < 0: a file that is not there, which has none. */
void sis_pieces_reply(struct rpc_request *q, int fd, uint64_t offset);
void sis_pieces_refuse(struct rpc_request *q, int code, const char *text); /* code 0: it is done */

#endif
