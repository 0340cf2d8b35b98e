/* Lines of a search at log level DEBUG3, as PBS writes them: what each vnode gave, or why not. Nothing here is computed unless that
 * level is on (search_log_is_on), so a search costs nothing more. See search_log.h. */
#include "search_log.h"

#include <string.h>

#include "log.h"
#include "strbuf.h"

/* AMOUNTS_MAX: a choice for one line of the log; vnodes have far fewer resources than fill it. */
enum { AMOUNTS_MAX = 4096 };

bool search_log_is_on(const struct decisions *log, const struct asker *a)
{
    return log && a->job && log_is_on(LOGE_DEBUG3);
}

/* Is every vnode for this job only one of its kind? */
static bool goes_by_kinds(const struct asker *a, const struct chunk *k)
{
    const struct request *q = a->request;
    size_t n_big;

    cluster_big_hosts(a->cl, &n_big);
    return (q->sharing == SHARING_EXCL || q->sharing == SHARING_EXCLHOST) && q->arrange != ARRANGE_PACK &&
           n_big == 0 && !match_is_named(a, k) && !a->job->urged &&
           !policy_sorts_by_use(cluster_policy(a->cl));
}

/* "ncpus=1" of "4:ncpus=1". */
static const char *one_of(const struct chunk *k)
{
    size_t digits = strspn(k->text, "0123456789");

    return k->text[digits] == ':' ? k->text + digits + 1 : k->text;
}

void search_log_begin(struct decisions *log, const struct asker *a, const struct chunk *k)
{
    if (!search_log_is_on(log, a))
        return;
    if (goes_by_kinds(a, k))
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Chunk: %s", k->text);
    else
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Evaluating subchunk: %s", one_of(k));
}

static void log_piece(struct decisions *log, const struct asker *a, const struct alloc_part *x)
{
    char number[RES_TEXT_MAX];
    struct strbuf b;

    strbuf_init(&b, AMOUNTS_MAX);
    for (uint32_t i = 0; i < x->use.n; i++) {
        const struct resource *r = catalogue_get(cluster_catalogue(a->cl), x->use.a[i].res);
        strbuf_addf(&b, "%s%s=%s", i ? ":" : "", r->name, res_format(r, x->use.a[i].n, number));
    }
    decisions_log(log, LOGE_DEBUG3, x->node->name, "vnode allocated %s", strbuf_str(&b));
    strbuf_fini(&b);
}

/* A chunk that was split has one line for all its parts. */
void search_log_end(struct decisions *log, const struct asker *a, const struct chunk *k,
                    const struct allocation *out, size_t first, bool done)
{
    if (!search_log_is_on(log, a) || goes_by_kinds(a, k))
        return;
    for (size_t i = first; done && i < out->n; i++) {
        log_piece(log, a, &out->a[i]);
        if (i + 1 == out->n || !out->a[i + 1].joined)
            decisions_log(log, LOGE_DEBUG3, a->job->id, "Allocated one subchunk: %s", one_of(k));
    }
    if (!done)
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Failed to satisfy subchunk: %s", k->text);
}

void search_log_host(struct decisions *log, const struct asker *a, const char *host, bool is_open,
                     const char *lacks)
{
    if (!search_log_is_on(log, a))
        return;
    decisions_log(log, LOGE_DEBUG3, a->job->id, "Evaluating host %s", host);
    if (!is_open)
        decisions_log(log, LOGE_DEBUG3, a->job->id, "No free nodes available");
    else if (lacks)
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Insufficient host-level resources %s", lacks);
}

static const char *or_empty(const char *value)
{
    return value ? value : "\"\"";
}

void search_log_set(struct decisions *log, const struct asker *a, const char *res, const char *value)
{
    if (search_log_is_on(log, a))
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Evaluating placement set: %s=%s", res, or_empty(value));
}

void search_log_small(struct decisions *log, const struct asker *a, const char *res, const char *value,
                      const struct reason *why)
{
    char text[REASON_TEXT_MAX];

    if (search_log_is_on(log, a))
        decisions_log(log, LOGE_DEBUG3, a->job->id, "Placement set %s=%s is too small: %s", res,
                      or_empty(value), reason_log(why, text));
}

void search_log_span(struct decisions *log, const struct asker *a)
{
    if (search_log_is_on(log, a))
        decisions_log(log, LOGE_DEBUG3, a->job->id,
                      "Request won't fit into any placement sets, will use all nodes");
}
