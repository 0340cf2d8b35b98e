/* preempt_order, preempt_prio, preempt_sort: grammar and parsed form. See preempt_order.h.
 *
 * Errors name the word at fault and show a right value, because administrators write these values by hand. */
#include "preempt_order.h"

#include <string.h>

#include "pbs_error.h"

static const char blanks[] = " \t";

static int bad_order(const char *word, size_t n, const char *what, struct err *e)
{
    return err_set(e, PBSE_BADATVAL, "preempt_order: '%.*s' %s; right is for example \"SCR 80 SC 50 S\"",
                   (int)(n > 40 ? 40 : n), word, what);
}

/* --- preempt_order ---------------------------------------------------------------------------------- */

static int parse_methods(const char *w, size_t n, struct preempt_methods *out, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        enum method_id m = preempt_method_of_letter(w[i]);

        if (!preempt_method_row(m)->in_order)
            return bad_order(w, n, "has another letter than S C R D", e);
        if (preempt_methods_has(out, m))
            return bad_order(w, n, "has a letter twice", e);
        preempt_methods_add(out, m);
    }
    return 0;
}

/* The percentage that closes group i. It must be below that of the group before, or the group would never be used. */
static int parse_percent(const char *w, size_t n, struct preempt_order *o, size_t i, struct err *e)
{
    int percent = 0;

    for (size_t k = 0; k < n; k++) {
        if (w[k] < '0' || w[k] > '9' || n > 9)
            return bad_order(w, n, "is neither letters nor a whole number", e);
        percent = percent * 10 + (w[k] - '0');
    }
    if (percent < 1 || percent > 100)
        return bad_order(w, n, "is not a percentage from 1 to 100", e);
    if (i > 0 && percent >= o->group[i - 1].above)
        return bad_order(w, n, "is not smaller than the percentage before it", e);
    o->group[i].above = percent;
    return 0;
}

/* One word: letters open group o->n, a number closes it. `open` tells which of both is due. */
static int parse_word(const char *w, size_t n, struct preempt_order *o, bool *open, struct err *e)
{
    bool digit = *w >= '0' && *w <= '9';

    if (digit && !*open)
        return bad_order(w, n, o->n ? "follows a percentage" : "is the first word: letters come first", e);
    if (!digit && *open)
        return bad_order(w, n, "follows letters: a percentage must separate them", e);
    if (!digit) {
        if (o->n == ORDER_MAX_GROUPS)
            return bad_order(w, n, "is the 22nd group, 21 are the most", e);
        *open = true;
        o->group[o->n].above = -1;
        return parse_methods(w, n, &o->group[o->n++].methods, e);
    }
    *open = false;
    return parse_percent(w, n, o, o->n - 1, e);
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

const struct preempt_methods *order_methods(const struct preempt_order *o, int percent_left)
{
    size_t i = 0;

    while (i + 1 < o->n && percent_left <= o->group[i].above)
        i++;
    return &o->group[i].methods;
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
    return err_set(e, PBSE_BADATVAL,
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
            return bad_prio(p, m, "is not a level", e);
        *level |= bit;
    }
    return 0;
}

int preempt_order_parse_prio(const char *text, struct preempt_prio *out, struct err *e)
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

int preempt_order_prio_value(const struct preempt_prio *p, unsigned mask, long queue_priority)
{
    int best = -1, best_bits = 0, normal = 0;

    for (size_t i = 0; i < p->n; i++) {
        int bits = __builtin_popcount(p->level[i]);

        if (p->level[i] == PRIO_NORMAL)
            normal = PRIO_TOP - PRIO_STEP * (int)(i + 1);
        if ((mask & p->level[i]) == p->level[i] && bits > best_bits) {
            best = (int)i;
            best_bits = bits;
        }
    }
    if (best < 0)
        return normal;
    return PRIO_TOP - PRIO_STEP * (best + 1) + (p->level[best] & PRIO_EXPRESS ? (int)queue_priority : 0);
}

/* --- preempt_sort --------------------------------------------------------------------------------------- */

int preempt_order_parse_sort(const char *text, enum preempt_sort *out)
{
    static const char *const words[PREEMPT_SORT_COUNT] = {[PREEMPT_LATEST] = "min_time_since_start",
                                                          [PREEMPT_LEAST] = "least_lost_work",
                                                          [PREEMPT_FEWEST] = "fewest_jobs"};

    for (int i = 0; i < PREEMPT_SORT_COUNT; i++)
        if (strcmp(words[i], text) == 0) {
            *out = (enum preempt_sort)i;
            return 0;
        }
    return -1;
}
