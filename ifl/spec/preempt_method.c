/* The two tables. See preempt_method.h.
 *
 * A new method is a row of `methods` and its result a row of `results`; which code performs it is bound by letter in
 * server/run (struct method) and, where the host has a part in it, in mom/. */
#include "preempt_method.h"

#include <string.h>

static const struct preempt_method_row methods[METHOD_COUNT] = {
    [METHOD_NONE] = {0, "", "", "", PREEMPT_OPEN, false, false, false},
    [METHOD_SUSPEND] = {'S', "suspend", "suspended",
                        "it is suspended, stays in memory and continues where it was", PREEMPT_SUSPENDED,
                        true, false, true},
    [METHOD_CHECKPOINT] = {'C', "checkpoint", "checkpointed",
                           "it is checkpointed and removed, and restarts from its image",
                           PREEMPT_CHECKPOINTED, true, false, false},
    [METHOD_REQUEUE] = {'R', "requeue", "requeued",
                        "it is ended and queued again, and starts from its beginning", PREEMPT_REQUEUED, true,
                        true, false},
    [METHOD_DELETE] = {'D', "delete", "deleted", "it is ended and deleted", PREEMPT_DELETED, true, true,
                       false},
    [METHOD_RELEASE] = {'P', "release", "released",
                        "it gives the hosts that it offered and runs on with the rest", PREEMPT_RELEASED,
                        false, false, false},
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

enum method_id preempt_method_of_letter(char letter)
{
    for (int m = METHOD_NONE + 1; m < METHOD_COUNT; m++)
        if (methods[m].letter == letter)
            return (enum method_id)m;
    return METHOD_NONE;
}

const char *preempt_result_code(enum preempt_result r)
{
    return results[r].code;
}

enum preempt_result preempt_result_of_code(const char *code)
{
    for (int r = PREEMPT_OPEN + 1; r < PREEMPT_RESULT_COUNT; r++)
        if (strcmp(results[r].code, code) == 0)
            return (enum preempt_result)r;
    return PREEMPT_OPEN;
}

char preempt_result_letter(enum preempt_result r)
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
