/* Facts about the jobs of dependencies, and lists of another server. See depend_fact.h.
 *
 * depend_check.c and depend_edges.c ask with the facts of an end (depend_end.c), which may be a job of this server or of another one; so a
 * job that moves away is judged as it would have been here. A list that cannot be read has no elements: it comes from another server, and must not
 * keep a job waiting for ever. */
#include "depend_fact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_ifl.h"

/* "after" waits for a start, the others for an end; one that is over without what is wanted never has it. */
enum depend_fact_met depend_fact_met(enum depend_kind k, unsigned facts)
{
    if (k == DEPEND_AFTER)
        return facts & DEPEND_FACT_STARTED ? DEPEND_FACT_MET
               : facts & DEPEND_FACT_OVER  ? DEPEND_FACT_NEVER
                                           : DEPEND_FACT_LATER;
    if (!(facts & DEPEND_FACT_OVER))
        return DEPEND_FACT_LATER;
    if (k == DEPEND_AFTERANY)
        return DEPEND_FACT_MET;
    return !(facts & DEPEND_FACT_OK) == (k == DEPEND_AFTERNOTOK) ? DEPEND_FACT_MET : DEPEND_FACT_NEVER;
}

/* A list as elements, which borrow from the text; one that cannot be read has none. */
struct depend_fact_elements {
    struct depend *v;
    size_t n;
};

static struct depend_fact_elements read_list(const char *list)
{
    struct depend_fact_elements l = {0};
    struct err ignored;

    if (list && *list && depend_parse(list, &l.v, &l.n, &ignored) < 0)
        l = (struct depend_fact_elements){0};
    return l;
}

static bool blocks(const struct depend *d)
{
    return depend_is_after(d->kind) || (d->kind == DEPEND_ON && d->count > 0);
}

bool depend_fact_list_blocks(const char *list)
{
    struct depend_fact_elements l = read_list(list);
    bool yes = false;

    for (size_t i = 0; i < l.n; i++)
        yes = yes || blocks(&l.v[i]);
    free(l.v);
    return yes;
}

bool depend_fact_list_has(const char *list, enum depend_kind k)
{
    struct depend_fact_elements l = read_list(list);
    bool yes = false;

    for (size_t i = 0; i < l.n; i++)
        yes = yes || l.v[i].kind == k;
    free(l.v);
    return yes;
}

static void write_kind(const struct depend_fact_elements *l, enum depend_kind k, bool *first,
                       struct strbuf *out)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct depend *d = &l->v[i];

        if (d->kind != k)
            continue;
        if (*first) {
            strbuf_add_sep(out, ",");
            strbuf_add(out, depend_kind_name(k));
        }
        *first = false;
        if (depend_has_count(k))
            strbuf_addf(out, ":%lld", (long long)d->count);
        else
            strbuf_addf(out, ":%.*s", (int)d->target_len, d->target);
    }
}

int depend_fact_list_cut(const char *list, struct strbuf *out)
{
    struct depend_fact_elements l = read_list(list);

    for (int k = 0; k < DEPEND_KIND_COUNT; k++) {
        bool first = true;

        if (depend_is_before((enum depend_kind)k))
            write_kind(&l, (enum depend_kind)k, &first, out);
    }
    free(l.v);
    return strbuf_ok(out) ? 0 : -1;
}

int depend_fact_list_join(const char *a, const char *b, struct strbuf *out)
{
    struct depend_fact_elements one = read_list(a), two = read_list(b);

    for (int k = 0; k < DEPEND_KIND_COUNT; k++) {
        bool first = true;

        write_kind(&one, (enum depend_kind)k, &first, out);
        write_kind(&two, (enum depend_kind)k, &first, out);
    }
    free(one.v);
    free(two.v);
    return strbuf_ok(out) ? 0 : -1;
}

static bool waits_for(const struct depend_fact_elements *l, const struct depend *d)
{
    for (size_t i = 0; i < l->n; i++)
        if (depend_is_after(l->v[i].kind) && l->v[i].target_len == d->target_len &&
            memcmp(l->v[i].target, d->target, d->target_len) == 0)
            return true;
    return false;
}

void depend_fact_list_released(const char *old, const char *now, void (*fn)(void *arg, const char *job),
                               void *arg)
{
    struct depend_fact_elements before = read_list(old), after = read_list(now);

    for (size_t i = 0; i < before.n; i++) {
        const struct depend *d = &before.v[i];
        char job[PBS_MAXCLTJOBID + 1];

        if (!depend_is_after(d->kind) || waits_for(&after, d))
            continue;
        (void)snprintf(job, sizeof job, "%.*s", (int)strcspn(d->target, "@:,"), d->target);
        fn(arg, job);
    }
    free(before.v);
    free(after.v);
}
