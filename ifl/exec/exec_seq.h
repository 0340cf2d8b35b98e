#ifndef EXEC_SEQ_H
#define EXEC_SEQ_H
/* The numbers of the exec protocol, pure: events are 1, 2, 3 ... for each (job, run, service), kept until
 * acknowledged, applied once; an outcome counts only for the attempt that is current.
 *
 * Both ends use it: who sends events has an exec_seq per run, who takes them a plain number per run and host.
 */
#include <stdbool.h>
#include <stdint.h>

/* The sender's side of one run. All zero is "nothing yet". */
struct exec_seq {
    uint64_t last;  /* number of the newest event; 0 none */
    uint64_t sent;  /* handed to the present connection up to here */
    uint64_t acked; /* durable at the server up to here; acked <= sent <= last after a rewind */
};

uint64_t exec_seq_next(struct exec_seq *s); /* number the next event */
/* The server has it up to `seq`. true: something new was acknowledged. A number beyond `last` (of a server that
 * knows another life of this run) is cut to it. */
bool exec_seq_ack(struct exec_seq *s, uint64_t seq);
void exec_seq_rewind(struct exec_seq *s); /* send again what is not acknowledged */
bool exec_seq_has_unsent(const struct exec_seq *s);
bool exec_seq_is_done(const struct exec_seq *s); /* everything is acknowledged */

/* The taker's side. */
enum exec_seq_verdict {
    EXEC_SEQ_APPLY,  /* the next one: *applied was raised */
    EXEC_SEQ_REPEAT, /* seen: acknowledge again */
    EXEC_SEQ_GAP     /* one before it is missing: do not acknowledge */
};
enum exec_seq_verdict exec_seq_take(uint64_t *applied, uint64_t seq);

/* Does an outcome of `attempt` count? 0 is an order nobody numbered. */
bool exec_seq_is_current(unsigned current_attempt, unsigned attempt);

#endif
