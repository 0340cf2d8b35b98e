/* preempt_order, preempt_prio, preempt_sort: grammar and parsed form. See type_order.h.
 *
 * The types keep the text and only check it by parsing; whoever needs the parsed form parses again, into a
 * struct of fixed size. Errors name the word at fault and show a right value: administrators write these
 * by hand. */
#include "type_order.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "strbuf.h"
#include "type_scalar.h"

static const char blanks[] = " \t";

static int bad_order(const char *word, size_t n, const char *what, struct err *e)
{
    return errors_set(e, PBSE_BADATVAL, "preempt_order: '%.*s' %s; right is for example \"SCR 80 SC 50 S\"",
                      (int)(n > 40 ? 40 : n), word, what);
}

/* --- preempt_order ---------------------------------------------------------------------------------- */

static int parse_letters(const char *w, size_t n, char out[ORDER_MAX_LETTERS + 1], struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (!strchr("SCRD", w[i]))
            return bad_order(w, n, "has another letter than S C R D", e);
        if (memchr(w, w[i], i))
            return bad_order(w, n, "has a letter twice", e);
    }
    memcpy(out, w, n); /* four letters, none twice: it fits */
    out[n] = '\0';
    return 0;
}

static int parse_percent(const char *w, size_t n, int *out, struct err *e)
{
    int percent = 0;

    for (size_t i = 0; i < n; i++) {
        if (w[i] < '0' || w[i] > '9' || n > 9)
            return bad_order(w, n, "is neither letters nor a whole number", e);
        percent = percent * 10 + (w[i] - '0');
    }
    *out = percent;
    return 0;
}

/* One word: letters open group o->n, a number closes it. `open` tells which of both is due. */
static int parse_word(const char *w, size_t n, struct preempt_order *o, bool *open, struct err *e)
{
    bool digit = *w >= '0' && *w <= '9';

    if (digit && !*open)
        return bad_order(w, n, o->n ? "follows a percentage" : "stands first: letters come first", e);
    if (!digit && *open)
        return bad_order(w, n, "follows letters: a percentage must stand between", e);
    if (!digit) {
        if (o->n == ORDER_MAX_GROUPS)
            return bad_order(w, n, "is the 22nd group, 21 are the most", e);
        *open = true;
        o->group[o->n].above = -1;
        return parse_letters(w, n, o->group[o->n++].letters, e);
    }
    *open = false;
    return parse_percent(w, n, &o->group[o->n - 1].above, e);
}

int order_parse(const char *text, struct preempt_order *out, struct err *e)
{
    struct preempt_order o = {0};
    bool open = false;
    size_t n;

    for (const char *w = text + strspn(text, blanks); *w; w += n, w += strspn(w, blanks)) {
        n = strcspn(w, blanks);
        if (parse_word(w, n, &o, &open, e) < 0)
            return -1;
    }
    if (!o.n)
        return bad_order(text, strlen(text), "has no letters", e);
    if (!open)
        return bad_order(text, strlen(text), "ends in a percentage without letters behind it", e);
    *out = o;
    return 0;
}

const char *order_letters(const struct preempt_order *o, int percent_left)
{
    size_t i = 0;

    if (percent_left < 0)
        percent_left = 1;
    while (i + 1 < o->n && percent_left <= o->group[i].above)
        i++;
    return o->group[i].letters;
}

static int order_value_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    struct preempt_order o;

    if (order_parse(text, &o, e) < 0)
        return -1;
    return type_string.parse(t, text, out, e);
}

/* --- preempt_prio ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum prio_bit bit;
} prio_words[] = {{"normal_jobs", PRIO_NORMAL},
                  {"express_queue", PRIO_EXPRESS},
                  {"server_softlimits", PRIO_SERVER_SOFTLIMIT},
                  {"queue_softlimits", PRIO_QUEUE_SOFTLIMIT},
                  {"fairshare", PRIO_FAIRSHARE}};

enum { N_PRIO_WORDS = sizeof prio_words / sizeof prio_words[0] };

static int bad_prio(const char *word, size_t n, const char *what, struct err *e)
{
    return errors_set(e, PBSE_BADATVAL,
                      "preempt_prio: '%.*s' %s; levels are express_queue, normal_jobs, server_softlimits, "
                      "queue_softlimits, fairshare, joined by +",
                      (int)(n > 40 ? 40 : n), word, what);
}

static unsigned prio_bit_of(const char *w, size_t n)
{
    for (size_t i = 0; i < N_PRIO_WORDS; i++) {
        if (strlen(prio_words[i].name) == n && memcmp(prio_words[i].name, w, n) == 0)
            return prio_words[i].bit;
    }
    return 0;
}

/* "fairshare+queue_softlimits", n bytes. */
static int parse_level(const char *w, size_t n, unsigned *level, struct err *e)
{
    const char *end = w + n;
    size_t m;

    *level = 0;
    for (const char *p = w; p <= end; p += m + 1) {
        m = 0;
        while (p + m < end && p[m] != '+')
            m++;
        unsigned bit = prio_bit_of(p, m);
        if (!bit)
            return bad_prio(p, m, "is no level", e);
        *level |= bit;
    }
    return 0;
}

int prio_parse(const char *text, struct preempt_prio *out, struct err *e)
{
    struct preempt_prio prio = {0};
    size_t n, m;

    for (const char *p = text; *p; p += n + (p[n] == ',')) {
        p += strspn(p, blanks);
        n = m = strcspn(p, ",");
        while (m && strchr(blanks, p[m - 1]))
            m--;
        if (prio.n == PRIO_MAX_LEVELS)
            return bad_prio(p, m, "is one level too many, 20 are the most", e);
        if (parse_level(p, m, &prio.level[prio.n++], e) < 0)
            return -1;
    }
    if (!prio.n)
        return bad_prio(text, strlen(text), "has no level", e);
    *out = prio;
    return 0;
}

const char *prio_name(enum prio_bit bit)
{
    for (size_t i = 0; i < N_PRIO_WORDS; i++) {
        if (prio_words[i].bit == bit)
            return prio_words[i].name;
    }
    return NULL;
}

static int prio_value_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    struct preempt_prio p;

    if (prio_parse(text, &p, e) < 0)
        return -1;
    return type_string.parse(t, text, out, e);
}

/* A queue's: as a scheduler's, or "none". */
static int queue_order_value_parse(const struct value_type *t, const char *text, struct value *out,
                                   struct err *e)
{
    return strcmp(text, "none") == 0 ? type_string.parse(t, text, out, e)
                                     : order_value_parse(t, text, out, e);
}

/* A job's: one group of letters. */
static int methods_value_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    struct preempt_order o;

    if (order_parse(text, &o, NULL) < 0 || o.n != 1)
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

/* A job's: who else than the script is to get it stands behind the colon. */
static int signal_value_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    size_t n = strcspn(text, ":");

    if (!is_signal(text, n) || (text[n] && strcmp(text + n, ":all") != 0))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

/* --- preempt_sort, and the types -------------------------------------------------------------------- */

static int sort_value_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    static const char *const words[] = {"min_time_since_start", "least_lost_work", "fewest_jobs"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return type_string.parse(t, text, out, e);
    return value_bad(t, text, e);
}

static int text_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return type_string.format(t, v, out);
}

static int text_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return type_string.compare(t, a, b);
}

#define CHECKED(fn)                                                                                          \
    .number = 3, .by = BY_NOTHING, .parse = fn, .format = text_format, .compare = text_compare,              \
    .dup = value_dup, .free = value_free, .to_json = value_to_json_text, .from_json = value_from_json_text

const struct value_type type_preempt_order = {.name = "preemption order",
                                              .form = "letters S C R D, with percentages between groups",
                                              CHECKED(order_value_parse)};
const struct value_type type_preempt_prio = {
    .name = "preemption levels", .form = "levels separated by commas", CHECKED(prio_value_parse)};
const struct value_type type_preempt_sort = {.name = "preemption sort",
                                             .form = "min_time_since_start, least_lost_work or fewest_jobs",
                                             CHECKED(sort_value_parse)};
const struct value_type type_queue_order = {.name = "preemption order of a queue",
                                            .form =
                                                "none, or letters S C R D, with percentages between groups",
                                            CHECKED(queue_order_value_parse)};
const struct value_type type_preempt_methods = {
    .name = "preemption methods", .form = "letters out of S C R D, each once", CHECKED(methods_value_parse)};
const struct value_type type_preempt_signal = {
    .name = "preemption signal", .form = "a signal such as USR1, or USR1:all", CHECKED(signal_value_parse)};
