#ifndef TALK_CALLER_H
#define TALK_CALLER_H
/* A program at the other end of a connection: sends records, in pieces if need be, and matches answers with its calls.
 *
 * What the server must keep at any time is asserted here: no answer without a call, none twice, no record that is neither. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc_buf.h"
#include "rpc_frame.h"
#include "rpc_msg.h"

struct talk;

enum caller_kind { CALLER_USER, CALLER_MANAGER, CALLER_SCHED, CALLER_MOM, CALLER_FOREIGN, CALLER_KINDS };
enum { CALLER_CALLS = 64 };

/* A call that is not answered yet, and what must hold of its answer. */
struct caller_call {
    uint32_t xid, prog, proc;
    bool may_wait;  /* its answer may be hours away */
    int64_t till_s; /* of the server's clock: then it must not wait any more; 0: it may, for ever */
    bool foreign;   /* it names a job of another user: must be refused */
    bool in_pieces; /* a submission whose script follows */
    bool counts;    /* its answer is for truth_counted */
};

struct caller {
    int fd; /* -1: not connected */
    enum caller_kind kind;
    int who;     /* user, or number of the MOM */
    bool deaf;   /* reads nothing for the time being */
    bool rude;   /* has broken the protocol: may be closed */
    bool broken; /* what it sends is not a record any more: nothing is answered */
    uint32_t next_xid;
    struct rpc_frame frame;
    struct byte_buf record, out;
    struct caller_call calls[CALLER_CALLS];
    size_t n_calls;
};

void caller_open(struct caller *c, int fd, enum caller_kind kind, int who);
/* Close at once; what was not answered is forgotten. */
void caller_close(struct caller *c);

/* Room for another call? */
bool caller_has_room(const struct caller *c);
/* Send a call with these arguments; the call, to be filled in further. */
struct caller_call *caller_send(struct caller *c, uint32_t prog, uint32_t proc, const struct byte_buf *args);
/* The answer to a call of the server. */
void caller_answer(struct caller *c, uint32_t xid, xdrproc_t codec, const void *result);
void caller_send_bytes(struct caller *c, const void *bytes, size_t n);

/* Write and read what is possible now; answers go to talk_answered, calls to talk_called. False: nothing moved. */
bool caller_pump(struct talk *t, struct caller *c);
/* Must its answer come by itself now? */
bool caller_call_is_due(const struct caller_call *call, int64_t now_s);
/* So many of its calls. */
size_t caller_awaits(const struct caller *c, int64_t now_s);

#endif
