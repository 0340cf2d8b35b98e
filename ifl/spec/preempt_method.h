#ifndef PREEMPT_METHOD_H
#define PREEMPT_METHOD_H
/* The methods of preemption and the results that they have: one row each, of which every letter, code and word is made.
 *
 * Server, scheduler and commands use the enums. Letters and codes exist at the edges only: attributes (preempt_order,
 * preempt_methods), the wire (the reply of PreemptJobs), accounting and stored rows. Constant tables; any thread.
 */
#include <stdbool.h>
#include <stddef.h>

enum method_id {
    METHOD_NONE,
    METHOD_SUSPEND,    /* S: the job stays in memory and continues later */
    METHOD_CHECKPOINT, /* C: an image is made, the job is requeued and restarts from it */
    METHOD_REQUEUE,    /* R: the run ends, the job is queued again and starts from its beginning */
    METHOD_DELETE,     /* D: the run ends and the job with it */
    METHOD_RELEASE,    /* P: the job gives the hosts that it offered and runs on with the rest */
    METHOD_COUNT
};

/* How a preemption of one job ended. */
enum preempt_result {
    PREEMPT_OPEN, /* it has not ended yet */
    PREEMPT_SUSPENDED,
    PREEMPT_CHECKPOINTED,
    PREEMPT_REQUEUED,
    PREEMPT_DELETED,
    PREEMPT_RELEASED, /* a part of its hosts */
    PREEMPT_ENDED,    /* the job ended before a method reached it */
    PREEMPT_FAILED,   /* no method was left */
    PREEMPT_RESULT_COUNT
};

/* What the job is when a method has succeeded. */
enum preempt_after {
    AFTER_NONE,
    AFTER_SUSPENDED, /* stopped where it runs, it continues there and then */
    AFTER_QUEUED,    /* the run has ended, the job waits in its queue */
    AFTER_GONE,      /* the run has ended and the job with it */
    AFTER_SMALLER    /* it runs on fewer hosts */
};

struct preempt_method_row {
    char letter;                /* as in preempt_order */
    const char *name;           /* "suspend": for logs */
    const char *done;           /* "suspended": of the job, for comments */
    const char *noun;           /* "suspension": "Job preempted by ..." */
    const char *meaning;        /* a sentence for users */
    enum preempt_result result; /* when it succeeds */
    enum preempt_after after;   /* the same, as the state of the job */
    bool in_order;              /* may be used in preempt_order */
    bool loses_work;            /* what the run has done since its start is lost */
    bool keeps_memory;          /* the job stays in memory, so memory is not freed */
    bool needs_started;         /* it does nothing to a job that is still being started */
    bool needs_rerunable;       /* only for a job whose Rerunable is true */
    bool needs_checkpoint;      /* only for a job whose Checkpoint is not "n" */
};

/* The row of a method; that of METHOD_NONE has letter 0 and empty texts. */
const struct preempt_method_row *preempt_method_row(enum method_id m);
/* Return true if the run has ended when the method has succeeded: the job waits in its queue or is gone. */
bool preempt_method_ends_run(enum method_id m);
/* METHOD_NONE: no method has this letter. */
enum method_id preempt_method_of_letter(char letter);

/* "S" "C" "Q" "D" "P", "E", or "000": the `order` of a preempt_job_info (PBS External Reference, pbs_preempt_jobs(3B)).
 * "" while it is open. */
const char *preempt_method_result_code(enum preempt_result r);
/* PREEMPT_OPEN: the code is unknown. */
enum preempt_result preempt_method_result_of_code(const char *code);
/* S C R D P E: method= of the accounting record v. 0: it is open or has failed, and no record is written. */
char preempt_method_result_letter(enum preempt_result r);
/* The method that has this result; METHOD_NONE for ENDED, FAILED and OPEN. */
enum method_id preempt_result_method(enum preempt_result r);

/* A sequence of methods, to be tried from the first to the last; each occurs once. */
struct preempt_methods {
    unsigned char n;
    unsigned char m[METHOD_COUNT]; /* enum method_id */
};

enum { PREEMPT_LETTERS_MAX = METHOD_COUNT }; /* bytes that preempt_methods_format needs */

/* From letters, at most METHOD_COUNT - 1 of them; false, and `out` is empty: a letter is unknown or occurs twice. */
bool preempt_methods_parse(const char *letters, struct preempt_methods *out);
const char *preempt_methods_format(const struct preempt_methods *l, char out[static PREEMPT_LETTERS_MAX]);
bool preempt_methods_has(const struct preempt_methods *l, enum method_id m);
/* The first of them; METHOD_NONE: it is empty. */
enum method_id preempt_methods_first(const struct preempt_methods *l);
/* Append one that is not in it. */
void preempt_methods_add(struct preempt_methods *l, enum method_id m);
/* The same at the front. */
void preempt_methods_add_first(struct preempt_methods *l, enum method_id m);
void preempt_methods_drop_first(struct preempt_methods *l);
/* Keep those that `other` has too, in their own order. */
void preempt_methods_keep(struct preempt_methods *l, const struct preempt_methods *other);

#endif
