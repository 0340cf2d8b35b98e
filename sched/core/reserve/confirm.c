/* The world at a time to come, made in the trial, and one search in it. See confirm.h.
 *
 * While it is placed a reservation is_out: nothing is kept for it, and one that runs has given its vnodes back. */
#include "confirm.h"

#include <stdlib.h>

#include "confirm_kept.h"
#include "intern.h"
#include "mem.h"
#include "prime_calendar.h"
#include "strbuf.h"
#include "trial.h"

enum {
    LOOKS_MAX = 64, /* times tried one by one; after these only those at which a reservation ends */
    TEXT_MAX = 1 << 24
};

struct confirm_walk {
    const struct confirm_ask *ask;
    struct request *request;
    const struct release_times *ends;
    size_t mark, n_given; /* the trial has given back so many of the ends, since `mark` */
    int64_t at_s;         /* the time to which it has come; 0: it is as before */
    bool charged;         /* it runs: its vnodes are given back first */
    bool runs;            /* the occurrence that is placed is the one that runs */
};

/* --- the world at that time ---------------------------------------------------------------------------------- */

static void confirm_reset(struct confirm_walk *w)
{
    trial_undo(w->ask->trial, w->mark);
    w->n_given = 0;
    w->at_s = 0;
    trial_give_all(w->ask->trial, &w->ends->leave);
    trial_give_all(w->ask->trial, &w->ends->kept);
    trial_take_all(w->ask->trial, &w->ends->come);
    if (w->charged)
        trial_give_all(w->ask->trial, &w->ask->resv->times[0].share);
}

/* What has ended by then is given back: never before the time to which it has come. */
static void confirm_advance(struct confirm_walk *w, int64_t at_s)
{
    w->at_s = at_s;
    for (size_t n = release_times_until(w->ends, at_s); w->n_given < n; w->n_given++)
        if (w->ends->a[w->n_given].resv != w->ask->resv)
            trial_give_all(w->ask->trial, w->ends->a[w->n_given].on);
}

/* To any time: occurrences follow one another, so each end is given back once. */
static void confirm_go(struct confirm_walk *w, int64_t at_s)
{
    if (w->at_s == 0 || at_s < w->at_s)
        confirm_reset(w);
    confirm_advance(w, at_s);
}

static bool meets_dedicated(const struct policy *p, int64_t from_s, int64_t to_s)
{
    int64_t next_s = prime_calendar_dedicated_changes_s(p->times, from_s);

    return !p->resv_ignores_dedicated &&
           (prime_calendar_is_dedicated(p->times, from_s) || (next_s && next_s < to_s));
}

/* Is this reservation on at any time of the span, and not yet now? Then what it asks for is to be added. */
static bool comes_in_span(const struct resv *r, int64_t from_s, int64_t to_s)
{
    for (size_t i = r->is_charged; i < r->n_times; i++)
        if (r->times[i].from_s < to_s && r->times[i].to_s > from_s)
            return true;
    return false;
}

/* What of this resource all other reservations use at the server more than now, in the span; below 0
 * where some are over by then. */
static int64_t used_by_resvs(const struct confirm_walk *w, res_id res, int64_t from_s, int64_t to_s)
{
    const struct cluster *cl = w->ask->cl;
    int64_t more = 0;

    for (const struct resv *r = cluster_next_resv(cl, NULL); r; r = cluster_next_resv(cl, r)) {
        if (r == w->ask->resv || r->n_times == 0 || !resv_is_promised(r))
            continue;
        if (r->is_charged && r->times[0].to_s <= from_s)
            more -= amounts_get(&r->want, res);
        if (comes_in_span(r, from_s, to_s))
            more += amounts_get(&r->want, res);
    }
    return more;
}

/* Of this resource at the server, at any time of the span: what is used now, less what has ended, and reservations. */
static int64_t server_used(const struct confirm_walk *w, res_id res, int64_t from_s, int64_t to_s)
{
    int64_t used = amounts_get(&cluster_server(w->ask->cl)->used, res);

    if (w->charged)
        used -= amounts_get(&w->ask->resv->want, res);
    for (size_t i = 0; i < w->ends->n && w->ends->a[i].at_s <= from_s; i++)
        if (w->ends->a[i].job && w->ends->a[i].job->order != ORDER_AWAITS)
            used -= amounts_get(&w->ends->a[i].job->want, res);
    return used + used_by_resvs(w, res, from_s, to_s);
}

static bool server_covers(const struct confirm_walk *w, int64_t from_s, int64_t to_s, struct reason *why)
{
    const struct queue *server = cluster_server(w->ask->cl);

    for (uint32_t i = 0; i < server->available.n; i++) {
        res_id res = server->available.a[i].res;
        int64_t want = amounts_get(&w->ask->resv->want, res), total = server->available.a[i].n;
        int64_t have = want > 0 ? total - server_used(w, res, from_s, to_s) : 0;
        if (want <= have || want <= 0)
            continue;
        reason_lack(why, REASON_LACK_SERVER, cluster_catalogue(w->ask->cl), res, want, have, total);
        why->never = want > total;
        return false;
    }
    return true;
}

/* --- one look -------------------------------------------------------------------------------------------------- */

static bool place_kept(struct confirm_walk *w, struct asker *a, bool others, struct allocation *where,
                       struct reason *why)
{
    size_t mark = trial_mark(w->ask->trial);
    struct confirm_kept kept;
    struct allocation found = {0};
    bool fits = confirm_kept_take(&kept, w->ask->trial, a, w->ask->resv, others, why);

    if (fits && kept.rest.n > 0) {
        struct asker rest = *a;
        rest.request = &kept.rest;
        fits = psets_find(w->ask->placer, w->ask->buckets, &rest, &found);
        if (!fits)
            psets_why(w->ask->buckets, &rest, why);
    }
    if (fits)
        confirm_kept_join(&kept, &found, where);
    trial_undo(w->ask->trial, mark);
    confirm_kept_fini(&kept);
    allocation_fini(&found);
    return fits;
}

static bool confirm_place(struct confirm_walk *w, struct asker *a, struct allocation *where,
                          struct reason *why)
{
    size_t mark = trial_mark(w->ask->trial);

    if (w->runs)
        return place_kept(w, a, true, where, why) || place_kept(w, a, false, where, why);
    bool fits = psets_find(w->ask->placer, w->ask->buckets, a, where);
    trial_undo(w->ask->trial, mark);
    if (fits)
        return true;
    a->span.by = SPAN_NONE;
    if (psets_find(w->ask->placer, w->ask->buckets, a, where)) {
        reason_set(why, REASON_RESV_CONFLICT, NULL, NULL);
        allocation_fini(where);
    } else
        psets_why(w->ask->buckets, a, why);
    trial_undo(w->ask->trial, mark);
    return false;
}

/* At the time to which the trial has been advanced. */
static bool confirm_fits(struct confirm_walk *w, int64_t from_s, int64_t to_s, struct allocation *where,
                         struct reason *why)
{
    struct asker a = {.cl = w->ask->cl,
                      .request = w->request,
                      .span = {.by = SPAN_LATER, .begin_s = from_s, .until_s = to_s}};

    if (meets_dedicated(cluster_policy(w->ask->cl), from_s, to_s)) {
        reason_set(why, REASON_RESV_DEDICATED, NULL, NULL);
        return false;
    }
    return server_covers(w, from_s, to_s, why) && confirm_place(w, &a, where, why);
}

/* --- other times ------------------------------------------------------------------------------------------------ */

static int confirm_by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void add_instant(int64_t **list, size_t *n, size_t *cap, int64_t at_s, int64_t after_s)
{
    if (at_s <= after_s)
        return;
    *list = mem_room(*list, *n, cap, sizeof **list);
    (*list)[(*n)++] = at_s;
}

/* When something ends after that time, in order: jobs and reservations, dedicated time. The caller frees. */
static int64_t *list_instants(const struct confirm_walk *w, int64_t after_s, size_t *n)
{
    enum { HOURS_MAX = 16 };
    const struct policy *p = cluster_policy(w->ask->cl);
    int64_t *list = NULL;
    size_t cap = 0;

    *n = 0;
    for (size_t i = 0; i < w->ends->n; i++)
        add_instant(&list, n, &cap, w->ends->a[i].at_s, after_s);
    for (const struct resv *r = cluster_next_resv(w->ask->cl, NULL); r; r = cluster_next_resv(w->ask->cl, r))
        for (size_t i = 0; r != w->ask->resv && resv_is_promised(r) && i < r->n_times; i++)
            add_instant(&list, n, &cap, r->times[i].to_s, after_s);
    for (int64_t at_s = after_s, i = 0; i < HOURS_MAX; i++) {
        at_s = prime_calendar_dedicated_changes_s(p->times, at_s);
        if (at_s == 0)
            break;
        add_instant(&list, n, &cap, at_s, after_s);
    }
    if (*n)
        qsort(list, *n, sizeof *list, confirm_by_time);
    return list;
}

/* The first time after that one at which it would fit; 0: none was found among those tried. */
static int64_t find_later(struct confirm_walk *w, int64_t after_s, int64_t lasts_s, struct allocation *where)
{
    size_t n, looks = 0;
    int64_t *list = list_instants(w, after_s, &n), found_s = 0, last_s = 0;
    struct reason ignored;

    confirm_reset(w);
    for (size_t i = 0; i < n && found_s == 0; i++) {
        if (list[i] == last_s || (looks >= LOOKS_MAX && i + 1 < n))
            continue;
        last_s = list[i];
        looks++;
        confirm_advance(w, last_s);
        if (confirm_fits(w, last_s, last_s + lasts_s, where, &ignored))
            found_s = last_s;
    }
    free(list);
    return found_s;
}

/* --- all occurrences ---------------------------------------------------------------------------------------------- */

static bool confirm_one(struct confirm_walk *w, size_t i, struct resv_time *t, struct reason *why)
{
    const struct resv *r = w->ask->resv;
    int64_t lasts_s = resv_lasts_s(r, i);

    t->from_s = r->is_asap ? w->ask->now_s : resv_starts_s(r, i);
    int64_t begin_s = t->from_s > w->ask->now_s ? t->from_s : w->ask->now_s;
    confirm_go(w, begin_s);
    t->to_s = t->from_s + lasts_s;
    bool fits = confirm_fits(w, begin_s, t->to_s, &t->where, why);
    if (!fits && r->is_asap) {
        t->from_s = find_later(w, w->ask->now_s, lasts_s, &t->where);
        t->to_s = t->from_s + lasts_s;
        fits = t->from_s != 0;
    }
    if (!fits)
        return false;
    allocation_mark_alone(&t->where, w->request->sharing);
    resv_time_sum(t);
    return true;
}

/* Is occurrence `i` one that has vnodes and need not be placed again? Those behind the one that is altered or runs are, and those
 * that have lost nothing. */
static bool has_place(const struct confirm_walk *w, size_t i)
{
    const struct resv *r = w->ask->resv;

    if (i >= r->n_times || r->times[i].where.n == 0 || w->runs || r->is_asap)
        return false;
    return i > 0 || (r->state != RESV_IS_ALTERED && r->substate != RESV_IS_IN_CONFLICT);
}

/* Is this part of its place there at the time of the asker? */
static bool part_is_open(const struct asker *a, const struct alloc_part *x)
{
    struct amounts scratch = {0};
    bool fits = !x->node->state && match_open(a, x->node) && !match_is_kept_alone(a, x->node) &&
                !(x->alone && match_is_kept(a, x->node)) &&
                amounts_cover(match_free(a, x->node, &scratch), &x->use, NULL);

    amounts_fini(&scratch);
    return fits;
}

/* The occurrence stays where it is, and `t` says so. false: it has no place, or cannot keep it. */
static bool confirm_stays(struct confirm_walk *w, size_t i, struct resv_time *t)
{
    const struct resv *r = w->ask->resv;
    struct asker a = {.cl = w->ask->cl, .request = w->request};

    if (!has_place(w, i))
        return false;
    t->from_s = resv_starts_s(r, i);
    t->to_s = t->from_s + resv_lasts_s(r, i);
    int64_t begin_s = t->from_s > w->ask->now_s ? t->from_s : w->ask->now_s;
    a.span = (struct span){.by = SPAN_LATER, .begin_s = begin_s, .until_s = t->to_s};
    confirm_go(w, begin_s);
    for (size_t p = 0; p < r->times[i].share.n; p++)
        if (!part_is_open(&a, &r->times[i].share.a[p]))
            return false;
    allocation_copy(&t->where, &r->times[i].where);
    allocation_mark_alone(&t->where, w->request->sharing);
    resv_time_sum(t);
    return true;
}

static void confirm_all(struct confirm_walk *w, struct confirm_answer *out)
{
    const struct resv *r = w->ask->resv;

    out->n = resv_n_left(r);
    out->times = mem_new(out->n, sizeof *out->times);
    for (size_t i = 0; i < out->n; i++) {
        w->runs = w->charged && i == 0;
        if (confirm_stays(w, i, &out->times[i]) || confirm_one(w, i, &out->times[i], &out->why))
            continue;
        out->failed = i;
        resv_times_free(out->times, out->n);
        out->times = NULL;
        break;
    }
    if (!out->times && out->n == 1 && !w->charged && !r->is_asap && !out->why.never) {
        struct allocation where = {0};
        int64_t from_s = r->start_s > w->ask->now_s ? r->start_s : w->ask->now_s;
        out->could_s = find_later(w, from_s, resv_lasts_s(r, 0), &where);
        allocation_fini(&where);
    }
}

/* Of the others only, or of all again. */
static void confirm_keep(const struct confirm_ask *ask)
{
    cluster_note_promised(ask->cl);
    keeps_make(ask->keeps, ask->now_s, ask->until_s);
}

void confirm_try(const struct confirm_ask *ask, struct confirm_answer *out)
{
    struct resv *r = ask->resv;
    struct confirm_walk w = {
        .ask = ask, .mark = trial_mark(ask->trial), .charged = r->is_charged && r->n_times > 0};
    bool was_promised = resv_is_promised(r);

    *out = (struct confirm_answer){.n = 0};
    r->is_out = true;
    if (was_promised)
        confirm_keep(ask);
    w.ends = keeps_ends(ask->keeps);
    w.request = request_parse(cluster_catalogue(ask->cl), r->select, r->place);
    confirm_all(&w, out);
    trial_undo(ask->trial, w.mark);
    r->is_out = false;
    if (was_promised)
        confirm_keep(ask);
    request_destroy(w.request);
    placement_forget(ask->placer);
}

void confirm_fini(struct confirm_answer *x)
{
    if (x->times)
        resv_times_free(x->times, x->n);
    *x = (struct confirm_answer){.n = 0};
}

/* --- as text ---------------------------------------------------------------------------------------------------- */

static void add_numbers(struct strbuf *b, const char *const *texts, size_t n, size_t first)
{
    bool any = false;

    strbuf_addf(b, "%s{", texts[first]);
    for (size_t i = first, last; i < n; i = last + 1) {
        last = i;
        if (texts[i] != texts[first])
            continue;
        while (last + 1 < n && texts[last + 1] == texts[first])
            last++;
        strbuf_addf(b, any ? ",%zu" : "%zu", i);
        if (last > i)
            strbuf_addf(b, "-%zu", last);
        any = true;
    }
    strbuf_add_char(b, '}');
}

char *confirm_text(const struct cluster *cl, const struct confirm_answer *x)
{
    const char **texts = mem_new(x->n, sizeof *texts);
    char *text = NULL;
    struct strbuf b;

    if (x->n == 1) {
        free(texts);
        return placement_text(cl, &x->times[0].where);
    }
    for (size_t i = 0; i < x->n; i++) {
        text = placement_text(cl, &x->times[i].where);
        texts[i] = mem_intern(text); /* equal texts have one address */
        free(text);
    }
    strbuf_init(&b, TEXT_MAX);
    strbuf_addf(&b, "%zu#", x->n);
    for (size_t i = 0; i < x->n; i++) {
        size_t k = 0;
        while (texts[k] != texts[i])
            k++;
        if (k == i)
            add_numbers(&b, texts, x->n, i);
    }
    for (size_t i = 0; i < x->n; i++)
        intern_unref(texts[i]);
    free(texts);
    return strbuf_take(&b);
}
