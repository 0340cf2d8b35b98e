#ifndef DECISIONS_H
#define DECISIONS_H
/* What a cycle wants done, and what it wants logged, in order. The list owns all its texts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum decision_kind {
    DECIDE_RUN,     /* job; text: exec_vnode; walltime_s */
    DECIDE_RESUME,  /* job; walltime_s */
    DECIDE_PREEMPT, /* job; names, runs: the victims, to be stopped for it, and the runs that they are in;
                       text: the exec_vnode for pbs_preempt_run, "" where only pbs_preempt_jobs will do; walltime_s */
    DECIDE_TURN,    /* job; names: to be suspended, since it is the job's turn */
    DECIDE_REFUSE,  /* job, which a request asked to be run; code and text: why it is not */
    DECIDE_CONFIRM, /* job: a reservation; text: its exec_vnode, or those of all its occurrences; at_s: when it begins, 0: as it says */
    DECIDE_DENY, /* job: a reservation; text: why it is not confirmed; at_s: when it could be, 0: not known */
    DECIDE_COMMENT, /* job; text: its comment */
    DECIDE_TOP, /* job; at_s: when it will begin, text: its exec_vnode then; at_s 0: it is not a top job any more */
    DECIDE_LOG /* job: the object of the line, "" of the cycle itself; text; event */
};

struct decision {
    enum decision_kind kind;
    char *job;
    char *text;
    char *why; /* of DECIDE_CONFIRM: why it is not earlier, in the room of others; NULL: it was not asked */
    char **names; /* NULL behind the last */
    int *runs;    /* beside names */
    size_t n_names;
    int code;
    int64_t at_s;
    int64_t walltime_s; /* it is given this one before it runs; 0: the one that it has */
    unsigned event;     /* enum log_mask */
};

/* ^ A line for the log, at the moment at which it is said. */
typedef void decisions_say_fn(unsigned event, const char *object, const char *text);

struct decisions {
    size_t n, cap;
    struct decision *a;
    decisions_say_fn *say; /* NULL: lines of the log are decisions among the others, DECIDE_LOG */
};

void decisions_fini(struct decisions *d); /* empty again, {0}; may be used on */

struct decision *decisions_add(struct decisions *d, enum decision_kind kind, const char *job,
                               const char *text);
void decisions_log(struct decisions *d, unsigned event, const char *object, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
