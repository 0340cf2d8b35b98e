/* The two tables. See preempt_method.h.
 *
 * A new method is a row of `methods` and its result a row of `results`. The code that performs it is a file of server/run with a
 * struct stop_method and, where hosts act, a file of mom/. All others ask the row what a method does. */
#include "preempt_method.h"

#include <string.h>

static const struct preempt_method_row methods[METHOD_COUNT] = {
    [METHOD_NONE] = {.name = "", .done = "", .noun = "", .meaning = ""},
    [METHOD_SUSPEND] = {.letter = 'S',
                        .name = "suspend",
                        .done = "suspended",
                        .noun = "suspension",
                        .meaning = "it is suspended, stays in memory and continues where it was",
                        .result = PREEMPT_SUSPENDED,
                        .after = AFTER_SUSPENDED,
                        .in_order = true,
                        .keeps_memory = true,
                        .needs_started = true},
    [METHOD_CHECKPOINT] = {.letter = 'C',
                           .name = "checkpoint",
                           .done = "checkpointed",
                           .noun = "checkpointing",
                           .meaning = "it is checkpointed and removed, and restarts from its image",
                           .result = PREEMPT_CHECKPOINTED,
                           .after = AFTER_QUEUED,
                           .in_order = true,
                           .needs_started = true,
                           .needs_checkpoint = true},
    [METHOD_REQUEUE] = {.letter = 'R',
                        .name = "requeue",
                        .done = "requeued",
                        .noun = "requeuing",
                        .meaning = "it is ended and queued again, and starts from its beginning",
                        .result = PREEMPT_REQUEUED,
                        .after = AFTER_QUEUED,
                        .in_order = true,
                        .loses_work = true,
                        .needs_rerunable = true},
    [METHOD_DELETE] = {.letter = 'D',
                       .name = "delete",
                       .done = "deleted",
                       .noun = "deletion",
                       .meaning = "it is ended and deleted",
                       .result = PREEMPT_DELETED,
                       .after = AFTER_GONE,
                       .in_order = true,
                       .loses_work = true},
    [METHOD_RELEASE] = {.letter = 'P',
                        .name = "release",
                        .done = "released",
                        .noun = "release of hosts",
                        .meaning = "it gives the hosts that it offered and runs on with the rest",
                        .result = PREEMPT_RELEASED,
                        .after = AFTER_SMALLER},
};

static const struct {
    const char *code;
    char letter;
    enum method_id method;
} results[PREEMPT_RESULT_COUNT] = {
    [PREEMPT_OPEN] = {"", 0, METHOD_NONE},
    [PREEMPT_SUSPENDED] = {"S", 'S', METHOD_SUSPEND},
    [PREEMPT_CHECKPOINTED] = {"C", 'C', METHOD_CHECKPOINT},
    [PREEMPT_REQUEUED] = {"Q", 'R', METHOD_REQUEUE},
    [PREEMPT_DELETED] = {"D", 'D', METHOD_DELETE},
    [PREEMPT_RELEASED] = {"P", 'P', METHOD_RELEASE},
    [PREEMPT_ENDED] = {"E", 'E', METHOD_NONE},
    [PREEMPT_FAILED] = {"000", 0, METHOD_NONE},
};

const struct preempt_method_row *preempt_method_row(enum method_id m)
{
    return &methods[m < METHOD_COUNT ? m : METHOD_NONE];
}

bool preempt_method_ends_run(enum method_id m)
{
    enum preempt_after after = preempt_method_row(m)->after;

    return after == AFTER_QUEUED || after == AFTER_GONE;
}

enum method_id preempt_method_of_letter(char letter)
{
    for (int m = METHOD_NONE + 1; m < METHOD_COUNT; m++)
        if (methods[m].letter == letter)
            return (enum method_id)m;
    return METHOD_NONE;
}

const char *preempt_method_result_code(enum preempt_result r)
{
    return results[r].code;
}

enum preempt_result preempt_method_result_of_code(const char *code)
{
    for (int r = PREEMPT_OPEN + 1; r < PREEMPT_RESULT_COUNT; r++)
        if (strcmp(results[r].code, code) == 0)
            return (enum preempt_result)r;
    return PREEMPT_OPEN;
}

char preempt_method_result_letter(enum preempt_result r)
{
    return results[r].letter;
}

enum method_id preempt_result_method(enum preempt_result r)
{
    return results[r].method;
}

/* --- sequences ----------------------------------------------------------------------------------------- */

bool preempt_methods_parse(const char *letters, struct preempt_methods *out)
{
    *out = (struct preempt_methods){0};
    for (const char *l = letters; *l; l++) {
        enum method_id m = preempt_method_of_letter(*l);

        if (m == METHOD_NONE || preempt_methods_has(out, m)) {
            out->n = 0;
            return false;
        }
        preempt_methods_add(out, m);
    }
    return true;
}

const char *preempt_methods_format(const struct preempt_methods *l, char out[static PREEMPT_LETTERS_MAX])
{
    for (unsigned i = 0; i < l->n; i++)
        out[i] = methods[l->m[i]].letter;
    out[l->n] = '\0';
    return out;
}

bool preempt_methods_has(const struct preempt_methods *l, enum method_id m)
{
    return memchr(l->m, (int)m, l->n) != NULL;
}

enum method_id preempt_methods_first(const struct preempt_methods *l)
{
    return l->n ? (enum method_id)l->m[0] : METHOD_NONE;
}

void preempt_methods_add(struct preempt_methods *l, enum method_id m)
{
    if (l->n < METHOD_COUNT - 1)
        l->m[l->n++] = (unsigned char)m;
}

void preempt_methods_add_first(struct preempt_methods *l, enum method_id m)
{
    if (l->n == METHOD_COUNT - 1)
        return;
    memmove(l->m + 1, l->m, l->n++);
    l->m[0] = (unsigned char)m;
}

void preempt_methods_drop_first(struct preempt_methods *l)
{
    if (l->n)
        memmove(l->m, l->m + 1, --l->n);
}

void preempt_methods_keep(struct preempt_methods *l, const struct preempt_methods *other)
{
    unsigned n = 0;

    for (unsigned i = 0; i < l->n; i++)
        if (preempt_methods_has(other, (enum method_id)l->m[i]))
            l->m[n++] = l->m[i];
    l->n = (unsigned char)n;
}
