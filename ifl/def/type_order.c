/* Types of the attributes that make up the policy of preemption. See type_order.h.
 *
 * A value keeps its text; the parser of preempt_order.h checks it. A reader of the value parses it again, into a struct
 * of fixed size. */
#include "type_order.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "preempt_order.h"
#include "type_scalar.h"

/* The parsers say what is wrong; the client text of the code goes in front of it. */
static int type_order_refuse(struct err *e, const struct err *why)
{
    return errors_set(e, why->code, "%s", why->text);
}

static int type_order_value_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    struct preempt_order o;
    struct err why;

    if (order_parse(text, &o, &why) < 0)
        return type_order_refuse(e, &why);
    return type_string.parse(t, text, out, e);
}

static int type_order_prio_value_parse(const struct value_type *t, const char *text, struct value *out,
                                       struct err *e)
{
    struct preempt_prio p;
    struct err why;

    if (preempt_order_parse_prio(text, &p, &why) < 0)
        return type_order_refuse(e, &why);
    return type_string.parse(t, text, out, e);
}

/* A queue's: as a scheduler's, or "none". */
static int type_order_queue_order_value_parse(const struct value_type *t, const char *text, struct value *out,
                                              struct err *e)
{
    return strcmp(text, "none") == 0 ? type_string.parse(t, text, out, e)
                                     : type_order_value_parse(t, text, out, e);
}

/* A job's: one group of letters. */
static int type_order_methods_value_parse(const struct value_type *t, const char *text, struct value *out,
                                          struct err *e)
{
    struct preempt_order o;

    if (order_parse(text, &o, NULL) < 0 || o.n != 1)
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

/* Of a maintenance reservation: methods after which the job is not on the host any more. */
static int type_order_drain_value_parse(const struct value_type *t, const char *text, struct value *out,
                                        struct err *e)
{
    struct preempt_methods l;

    if (strcmp(text, "none") != 0 &&
        (!*text || text[strspn(text, "CRD")] || !preempt_methods_parse(text, &l)))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

/* --- preempt_signal ----------------------------------------------------------------------------------- */

static bool is_signal(const char *name, size_t n)
{
    char word[16], *end;
    long number;

    if (!n || n >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    number = strtol(word, &end, 10);
    if (!*end)
        return number > 0 && number <= SIGRTMAX;
    for (int s = 1; s < NSIG; s++) {
        const char *known = sigabbrev_np(s);

        if (known && strcasecmp(known, strncasecmp(word, "SIG", 3) == 0 ? word + 3 : word) == 0)
            return true;
    }
    return false;
}

/* A job's: the word after the colon says which other processes than the script get it. */
static int type_order_signal_value_parse(const struct value_type *t, const char *text, struct value *out,
                                         struct err *e)
{
    size_t n = strcspn(text, ":");

    if (!is_signal(text, n) || (text[n] && strcmp(text + n, ":all") != 0))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

/* --- preempt_sort, and the types -------------------------------------------------------------------- */

static int type_order_sort_value_parse(const struct value_type *t, const char *text, struct value *out,
                                       struct err *e)
{
    enum preempt_sort sort;

    return preempt_order_parse_sort(text, &sort) < 0 ? value_bad(t, text, e)
                                                     : type_string.parse(t, text, out, e);
}

static int type_order_text_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return type_string.format(t, v, out);
}

static int type_order_text_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return type_string.compare(t, a, b);
}

#define CHECKED(fn)                                                                                          \
    .number = 3, .by = BY_NOTHING, .parse = fn, .format = type_order_text_format,                            \
    .compare = type_order_text_compare, .dup = value_dup, .free = value_free, .to_json = value_to_json_text, \
    .from_json = value_from_json_text

const struct value_type type_preempt_order = {.name = "preemption order",
                                              .form = "letters S C R D, with percentages between groups",
                                              CHECKED(type_order_value_parse)};
const struct value_type type_preempt_prio = {
    .name = "preemption levels", .form = "levels separated by commas", CHECKED(type_order_prio_value_parse)};
const struct value_type type_preempt_sort = {.name = "preemption sort",
                                             .form = "min_time_since_start, least_lost_work or fewest_jobs",
                                             CHECKED(type_order_sort_value_parse)};
const struct value_type type_queue_order = {.name = "preemption order of a queue",
                                            .form =
                                                "none, or letters S C R D, with percentages between groups",
                                            CHECKED(type_order_queue_order_value_parse)};
const struct value_type type_preempt_methods = {.name = "preemption methods",
                                                .form = "letters out of S C R D, each once",
                                                CHECKED(type_order_methods_value_parse)};
const struct value_type type_drain = {.name = "drain methods",
                                      .form = "none, or letters out of C R D, each once",
                                      CHECKED(type_order_drain_value_parse)};
const struct value_type type_preempt_signal = {.name = "preemption signal",
                                               .form = "a signal such as USR1, or USR1:all",
                                               CHECKED(type_order_signal_value_parse)};
