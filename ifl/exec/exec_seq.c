/* Numbers of events. See exec_seq.h.
 *
 * Three marks that only rise but for `sent`, which falls back to `acked` when a connection is lost. There
 * is no list of events here: who keeps them asks which are to be sent and which may be forgotten. */
#include "exec_seq.h"

uint64_t exec_seq_next(struct exec_seq *s)
{
    return ++s->last;
}

bool exec_seq_ack(struct exec_seq *s, uint64_t seq)
{
    if (seq > s->last)
        seq = s->last;
    if (seq <= s->acked)
        return false;
    s->acked = seq;
    if (s->sent < seq) /* after a rewind: the server has more than we remember having sent */
        s->sent = seq;
    return true;
}

void exec_seq_rewind(struct exec_seq *s)
{
    s->sent = s->acked;
}

bool exec_seq_has_unsent(const struct exec_seq *s)
{
    return s->sent < s->last;
}

bool exec_seq_is_done(const struct exec_seq *s)
{
    return s->acked == s->last;
}

enum exec_seq_verdict exec_seq_take(uint64_t *applied, uint64_t seq)
{
    if (seq <= *applied)
        return EXEC_SEQ_REPEAT;
    if (seq > *applied + 1)
        return EXEC_SEQ_GAP;
    *applied = seq;
    return EXEC_SEQ_APPLY;
}

bool exec_seq_is_current(unsigned current_attempt, unsigned attempt)
{
    return attempt == current_attempt || attempt == 0;
}
