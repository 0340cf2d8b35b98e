/* Sort keys as text: a name, HIGH or LOW, and for vnodes which amount is meant. See sort_keys.h. */
#include "sort_keys.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "mem.h"
#include "words.h"

static int parse_high(const char *word, bool *high)
{
    *high = strcasecmp(word, "HIGH") == 0;
    return *high || strcasecmp(word, "LOW") == 0 ? 0 : -1;
}

/* --- of jobs ------------------------------------------------------------------------------------------ */

/* Words of their own meaning; any other one is a resource. */
static enum sort_what job_what(const char *name)
{
    static const struct {
        const char *name;
        enum sort_what what;
    } special[] = {{"job_priority", SORT_PRIORITY},
                   {"sort_priority", SORT_PRIORITY},
                   {"fair_share_perc", SORT_SHARE},
                   {"preempt_priority", SORT_LEVEL}};

    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(special[i].name, name) == 0)
            return special[i].what;
    return SORT_RESOURCE;
}

static int parse_job_key(const struct words *w, struct sort_key *k)
{
    if (w->n != 2 || parse_high(w->w[1], &k->high) < 0)
        return -1;
    k->what = job_what(w->w[0]);
    k->resource = k->what == SORT_RESOURCE ? mem_intern(w->w[0]) : NULL;
    return 0;
}

int sort_keys_add_job(struct policy *p, const char *text, struct err *e)
{
    struct sort_key k = {0};
    struct words w;
    int rc;

    if (p->n_job_sort >= POLICY_SORT_MAX)
        return err_set(e, EINVAL, "%s: there are more than %d", text, POLICY_SORT_MAX);
    words_init(&w);
    words_parse(text, " \t\"", WORDS_PLAIN, &w, NULL);
    rc = parse_job_key(&w, &k);
    words_fini(&w);
    if (rc < 0)
        return err_set(e, EINVAL, "%s: it is \"NAME HIGH\" or \"NAME LOW\"", text);
    p->job_sort[p->n_job_sort++] = k;
    return 0;
}

/* --- of vnodes ---------------------------------------------------------------------------------------- */

static int parse_amount(const char *word, enum node_what *what)
{
    static const struct {
        const char *word;
        enum node_what what;
    } words[] = {{"total", NODE_BY_TOTAL}, {"assigned", NODE_BY_ASSIGNED}, {"unused", NODE_BY_UNUSED}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, word) == 0) {
            *what = words[i].what;
            return 0;
        }
    return -1;
}

/* Without a third word an amount is the total. */
static int parse_node_key(const struct words *w, struct node_key *k)
{
    if (w->n < 2 || w->n > 3 || parse_high(w->w[1], &k->high) < 0)
        return -1;
    k->what = NODE_BY_TOTAL;
    if (w->n == 3 && parse_amount(w->w[2], &k->what) < 0)
        return -1;
    if (strcmp(w->w[0], "sort_priority") == 0)
        k->what = NODE_BY_PRIORITY;
    else if (strcmp(w->w[0], "last_used_time") == 0)
        k->what = NODE_BY_LAST_USE;
    else
        k->resource = mem_intern(w->w[0]);
    return 0;
}

int sort_keys_add_node(struct policy *p, const char *text, struct err *e)
{
    struct node_key k = {0};
    struct words w;
    int rc;

    if (p->n_node_sort >= POLICY_SORT_MAX)
        return err_set(e, EINVAL, "%s: there are more than %d", text, POLICY_SORT_MAX);
    words_init(&w);
    words_parse(text, " \t\"", WORDS_PLAIN, &w, NULL);
    rc = parse_node_key(&w, &k);
    words_fini(&w);
    if (rc < 0)
        return err_set(
            e, EINVAL,
            "%s: it is \"NAME HIGH\" or \"NAME LOW\", for an amount with total, assigned or unused", text);
    p->node_sort[p->n_node_sort++] = k;
    return 0;
}
