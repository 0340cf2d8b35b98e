/* A reservation decoded. As with jobs, an object comes whole and is taken from nothing; its vnodes are looked up when the cluster
 * settles, since they may come later.
 *
 * Occurrences have numbers in the sequence of exec_vnodes, from 0, which is occurrence `first`. What is over keeps its number, so those
 * that are left begin at `index` - `first` there, but with the first of `starts`. A vnode that is gone is left out of an allocation: there is no room of it to be kept. */
#include "sched_resv.h"

#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "sched_cluster.h"
#include "sched_job.h"
#include "units.h"

/* Occurrences of one standing reservation that are looked at; the server accepts fewer. */
enum { TIMES_MAX = 100000 };
#define ASAP_START_S INT64_C(1893488460) /* pbs_rsub -Wqmove asks for this one */

struct resv *resv_create(const char *id)
{
    struct resv *r = mem_new(1, sizeof *r);

    r->id = mem_intern(id);
    r->index = r->count = r->first = 1;
    r->rank = *id ? strtoll(id + 1, NULL, 10) : 0;
    r->is_of_hosts = *id == 'M';
    return r;
}

static const char **resv_text_of(struct resv *r, size_t i)
{
    const char **const texts[] = {&r->queue_name, &r->select,   &r->place,  &r->partition,
                                  &r->nodes,      &r->sequence, &r->starts, &r->of_job};

    return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

static void resv_forget(struct resv *r)
{
    const char **text;

    for (size_t i = 0; (text = resv_text_of(r, i)) != NULL; i++) {
        intern_unref(*text);
        *text = NULL;
    }
    r->state = r->substate = r->start_s = r->end_s = r->duration_s = r->retry_s = r->later_s = 0;
    r->index = r->count = r->first = 1;
    r->is_asap = false;
    amounts_clear(&r->want);
}

void resv_times_free(struct resv_time *times, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        allocation_fini(&times[i].where);
        allocation_fini(&times[i].share);
    }
    free(times);
}

/* A list with back links, so that a job leaves in O(1): jobs come and go, reservations stay. */
void resv_add_job(struct resv *r, struct job *j)
{
    if (j->link_of_resv) {
        *j->link_of_resv = j->next_of_resv;
        if (j->next_of_resv)
            j->next_of_resv->link_of_resv = j->link_of_resv;
    }
    j->next_of_resv = r ? r->jobs : NULL;
    j->link_of_resv = r ? &r->jobs : NULL;
    if (j->next_of_resv)
        j->next_of_resv->link_of_resv = &j->next_of_resv;
    if (r)
        r->jobs = j;
}

void resv_destroy(struct resv *r)
{
    if (!r)
        return;
    while (r->jobs)
        resv_add_job(NULL, r->jobs);
    resv_forget(r);
    resv_times_free(r->times, r->n_times);
    amounts_fini(&r->want);
    intern_unref(r->id);
    free(r);
}

/* --- attributes ------------------------------------------------------------------------------------------ */

static void resv_set_text(const char **to, const char *value)
{
    intern_unref(*to);
    *to = value && *value ? mem_intern(value) : NULL;
}

static void resv_take_resource(struct resv *r, struct catalogue *c, const struct attrl *a)
{
    res_id res = a->resource ? catalogue_expect(c, a->resource) : RES_NONE;
    const struct resource *x = catalogue_get(c, res);

    if (!a->resource)
        return;
    if (strcmp(a->resource, "select") == 0 && !r->select)
        resv_set_text(&r->select, a->value);
    else if (strcmp(a->resource, "place") == 0)
        resv_set_text(&r->place, a->value);
    if (x && x->flags & RES_SERVER && res_is_numeric(x))
        amounts_set(&r->want, res, res_parse(x, a->value));
}

static void resv_take_one(struct resv *r, struct catalogue *c, const struct attrl *a)
{
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {{"reserve_state", &r->state},   {"reserve_substate", &r->substate},
                   {"reserve_start", &r->start_s}, {"reserve_end", &r->end_s},
                   {"reserve_index", &r->index},   {"reserve_count", &r->count},
                   {"reserve_first", &r->first},   {"reserve_standing_revert", &r->later_s},
                   {"reserve_retry", &r->retry_s}, {"reserve_duration", &r->duration_s}};
    const struct {
        const char *name;
        const char **text;
    } texts[] = {
        {"queue", &r->queue_name}, {"schedselect", &r->select},          {"partition", &r->partition},
        {"resv_nodes", &r->nodes}, {"reserve_execvnodes", &r->sequence}, {"reserve_starts", &r->starts},
        {"qmove", &r->of_job}};

    if (strcmp(a->name, "Resource_List") == 0)
        resv_take_resource(r, c, a);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(a->name, numbers[i].name) == 0)
            *numbers[i].number = strtoll(a->value, NULL, 10);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(a->name, texts[i].name) == 0)
            resv_set_text(texts[i].text, a->value);
}

static uint64_t resv_hash(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* All attributes count; a reservation changes seldom. */
bool resv_differs(struct resv *r, const struct attrl *attrs)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (const struct attrl *a = attrs; a; a = a->next)
        h = resv_hash(resv_hash(resv_hash(h, a->name), a->resource), a->value);
    if (h == r->look)
        return false;
    r->look = h;
    return true;
}

/* What was decided and not shown yet is forgotten: this is what the server says now. */
void resv_take(struct resv *r, struct catalogue *c, const struct attrl *attrs)
{
    resv_forget(r);
    for (; attrs; attrs = attrs->next)
        if (attrs->name && attrs->value)
            resv_take_one(r, c, attrs);
    r->is_asap = r->start_s == ASAP_START_S; /* a later one is a start like any other */
    if (r->duration_s <= 0)
        r->duration_s = r->end_s - r->start_s;
    if (r->index < 1)
        r->index = 1;
    if (r->count < 1)
        r->count = 1;
    if (r->first < 1 || r->first > r->index)
        r->first = 1;
    r->is_asked = false;
    r->again_s = 0;
}

/* --- occurrences ------------------------------------------------------------------------------------------- */

int64_t resv_lasts_s(const struct resv *r, size_t i)
{
    return i == 0 ? r->end_s - r->start_s : r->later_s > 0 ? r->later_s : r->duration_s;
}

size_t resv_n_left(const struct resv *r)
{
    return r->count > r->index && r->count - r->index < TIMES_MAX ? (size_t)(r->count - r->index) + 1 : 1;
}

/* The list is walked each time: it is short, or asked for once an occurrence. */
int64_t resv_starts_s(const struct resv *r, size_t i)
{
    const char *at = r->starts;

    if (i == 0)
        return r->start_s;
    for (size_t k = i; at && k > 0; k--) {
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoll(at, NULL, 10) : 0;
}

/* node->listed is where a vnode is in `share`, from 1, while it is made. */
void resv_time_sum(struct resv_time *t)
{
    allocation_fini(&t->share);
    for (size_t i = 0; i < t->where.n; i++)
        t->where.a[i].node->listed = 0;
    for (size_t i = 0; i < t->where.n; i++) {
        struct alloc_part *p = &t->where.a[i];
        if (p->node->listed) {
            amounts_add(&t->share.a[p->node->listed - 1].use, &p->use);
            continue;
        }
        allocation_add(&t->share, p->node, &p->use, false);
        t->share.a[t->share.n - 1].alone = p->alone;
        p->node->listed = t->share.n;
    }
    for (size_t i = 0; i < t->share.n; i++)
        t->share.a[i].node->listed = 0;
}

void resv_set_times(struct resv *r, struct resv_time *times, size_t n)
{
    resv_times_free(r->times, r->n_times);
    r->times = times;
    r->n_times = n;
}

static void resv_find_on(struct resv *r, struct cluster *cl, struct resv_time *t, const char *exec_vnode)
{
    struct alloc_part_text *texts = NULL;
    size_t n = request_parse_exec(cluster_catalogue(cl), exec_vnode, &texts);

    for (size_t i = 0; i < n; i++) {
        struct node *node = cluster_node(cl, texts[i].vnode);
        if (node)
            allocation_add(&t->where, node, &texts[i].use, texts[i].joined && t->where.n > 0);
    }
    request_free_exec(texts, n);
    allocation_mark_alone(&t->where, request_sharing(r->place));
    resv_time_sum(t);
}

/* Those of the sequence "N#(exec_vnode){0-3}(exec_vnode){4,6}" that are to come. */
static void resv_find_sequence(struct resv *r, struct cluster *cl, struct resv_time *times, size_t n)
{
    char *text = mem_text(r->sequence), *at = strchr(text, '#');

    at = at ? at + 1 : text;
    for (char *open, *close; (open = strchr(at, '{')) && (close = strchr(open, '}')); at = close + 1) {
        struct idset *set = NULL;
        *open = *close = '\0';
        if (idset_parse(open + 1, INT32_MAX, SIZE_MAX, &set, NULL) < 0)
            continue;
        const struct resv_time *same = NULL; /* the first of these: its text is read once */
        for (size_t i = 0; i < n; i++) {
            if (!idset_contains(set, (uint32_t)(r->index - r->first + (int64_t)i)) || times[i].where.n > 0)
                continue;
            if (same) {
                allocation_copy(&times[i].where, &same->where);
                allocation_copy(&times[i].share, &same->share);
            } else
                resv_find_on(r, cl, &times[i], at);
            same = &times[i];
        }
        idset_destroy(set);
    }
    free(text);
}

/* resv_nodes is of the next occurrence only; the sequence is of all as they were confirmed. */
void resv_find_vnodes(struct resv *r, struct cluster *cl)
{
    size_t n = resv_n_left(r);
    struct resv_time *times = mem_new(n, sizeof *times);

    for (size_t i = 0; i < n; i++) {
        times[i].from_s = resv_starts_s(r, i);
        times[i].to_s = times[i].from_s + resv_lasts_s(r, i);
    }
    if (r->nodes) /* what the server says of the next one goes before what was confirmed once */
        resv_find_on(r, cl, &times[0], r->nodes);
    if (r->sequence && n > 1)
        resv_find_sequence(r, cl, times, n);
    resv_set_times(r, times, n);
}

/* --- states ---------------------------------------------------------------------------------------------------- */

bool resv_is_promised(const struct resv *r)
{
    switch (r->state) {
    case RESV_IS_UNCONFIRMED:
        return r->is_asked && r->n_times > 0;
    case RESV_IS_CONFIRMED:
    case RESV_IS_RUNNING:
    case RESV_IS_DELETING_JOBS:
    case RESV_IS_DEGRADED:
    case RESV_IS_ALTERED:
    case RESV_IS_IN_CONFLICT:
        return true;
    default:
        return false;
    }
}

/* It had vnodes and some of them cannot be used: said by state or, of one that runs, by substate. */
static bool resv_has_lost(const struct resv *r)
{
    return r->state == RESV_IS_DEGRADED || r->state == RESV_IS_IN_CONFLICT ||
           ((r->state == RESV_IS_RUNNING || r->state == RESV_IS_CONFIRMED) &&
            (r->substate == RESV_IS_DEGRADED || r->substate == RESV_IS_IN_CONFLICT));
}

bool resv_needs_vnodes(const struct resv *r, int64_t now_s)
{
    if (r->is_asked || r->is_of_hosts || (r->again_s && now_s < r->again_s))
        return false;
    if (r->state == RESV_IS_UNCONFIRMED || r->state == RESV_IS_ALTERED)
        return true;
    return resv_has_lost(r) && r->retry_s && r->retry_s <= now_s;
}
