/* Which vnodes go. See release_plan.h. release_nodes.c calls it with the run's texts; tests call it with texts of their own
 * (release_plan_test.c).
 *
 * Marks are set freely first; `settle` then takes back what does not go whole. A chunk, a vnode and most
 * hosts are groups that go together or not at all, and a part is in several of them: so it is repeated
 * until nothing changes. It ends, since marks are only taken away. A request that names vnodes is not
 * mended but refused (check_whole). */
#include "release_plan.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "strbuf.h"
#include "value.h"
#include "words.h"

static bool is_fixed(const struct release_plan *s, size_t part)
{
    const struct exec_vnode_part *p = &s->where->part[part];

    return p->chunk == 0 || (s->host_of[part] == 0 && !s->hosts[0].parts);
}

/* How many parts stay of each chunk, host and vnode. */
struct release_plan_groups {
    size_t *in_order; /* parts, by vnode */
    size_t *vnode_of; /* of each part: the first in order with its vnode */
    size_t *chunk, *host, *vnode;
};

static int release_plan_order_vnodes(const void *x, const void *y, void *arg)
{
    const struct exec_vnode_part *part = arg;

    return strcmp(part[*(const size_t *)x].vnode, part[*(const size_t *)y].vnode);
}

static void groups_fini(struct release_plan_groups *g)
{
    free(g->in_order);
    free(g->vnode_of);
    free(g->chunk);
    free(g->host);
    free(g->vnode);
}

static void groups_count(struct release_plan_groups *g, const struct release_plan *s, size_t part)
{
    g->chunk[s->where->part[part].chunk]++;
    g->host[s->host_of[part]]++;
    g->vnode[g->vnode_of[part]]++;
}

/* -1: no memory; groups_fini in both cases. */
static int groups_init(struct release_plan_groups *g, const struct release_plan *s)
{
    size_t n = s->where->n, first = 0;

    g->in_order = calloc(n + 1, sizeof *g->in_order);
    g->vnode_of = calloc(n + 1, sizeof *g->vnode_of);
    g->chunk = calloc(s->where->n_chunks + 1, sizeof *g->chunk);
    g->host = calloc(s->n_hosts + 1, sizeof *g->host);
    g->vnode = calloc(n + 1, sizeof *g->vnode);
    if (!g->in_order || !g->vnode_of || !g->chunk || !g->host || !g->vnode)
        return -1;
    for (size_t i = 0; i < n; i++)
        g->in_order[i] = i;
    qsort_r(g->in_order, n, sizeof *g->in_order, release_plan_order_vnodes, s->where->part);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s->where->part[g->in_order[i]].vnode, s->where->part[g->in_order[first]].vnode) != 0)
            first = i;
        g->vnode_of[g->in_order[i]] = first;
    }
    for (size_t i = 0; i < n; i++)
        if (!s->gone[i])
            groups_count(g, s, i);
    return 0;
}

/* Does anything of the group that `part`, which goes, must go with stay? */
static bool something_stays(const struct release_plan_groups *g, const struct release_plan *s, size_t part)
{
    size_t host = s->host_of[part];

    return g->chunk[s->where->part[part].chunk] || (g->host[host] && !s->hosts[host].parts) ||
           g->vnode[g->vnode_of[part]];
}

/* What cannot go whole stays. Each look may make another group incomplete. Without memory all stays. */
static void release_plan_settle(struct release_plan *s)
{
    struct release_plan_groups g = {0};
    bool good = groups_init(&g, s) == 0, again = true;

    for (size_t i = 0; !good && i < s->where->n; i++)
        s->gone[i] = false;
    while (good && again) {
        again = false;
        for (size_t i = 0; i < s->where->n; i++)
            if (s->gone[i] && (is_fixed(s, i) || something_stays(&g, s, i))) {
                s->gone[i] = false;
                groups_count(&g, s, i);
                again = true;
            }
    }
    groups_fini(&g);
}

void release_plan_all(struct release_plan *s)
{
    for (size_t i = 0; i < s->where->n; i++)
        s->gone[i] = true;
    release_plan_settle(s);
}

static int name_one(struct release_plan *s, const struct release_plan_groups *g, const char *vnode,
                    struct err *e)
{
    size_t low = 0, high = s->where->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (strcmp(s->where->part[g->in_order[mid]].vnode, vnode) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == s->where->n || strcmp(s->where->part[g->in_order[low]].vnode, vnode) != 0)
        return err_set(e, PBSE_IVALREQ, "%s is not a vnode of the job", vnode);
    for (; low < s->where->n && strcmp(s->where->part[g->in_order[low]].vnode, vnode) == 0; low++) {
        size_t i = g->in_order[low];

        if (s->gone[i])
            return 0; /* named twice */
        if (is_fixed(s, i))
            return err_set(e, PBSE_IVALREQ, "%s is of the job's first host and cannot be released", vnode);
        s->gone[i] = true;
    }
    return 0;
}

static int name_all(struct release_plan *s, const struct words *w, struct err *e)
{
    struct release_plan_groups g = {0};
    int rc = groups_init(&g, s) < 0 ? err_set(e, PBSE_SYSTEM, "no memory to release vnodes") : 0;

    for (size_t i = 0; rc == 0 && i < w->n; i++)
        rc = name_one(s, &g, w->w[i], e);
    groups_fini(&g);
    return rc;
}

static int check_whole(const struct release_plan *s, struct err *e)
{
    struct release_plan_groups g = {0};
    int rc = groups_init(&g, s) < 0 ? err_set(e, PBSE_SYSTEM, "no memory to release vnodes") : 0;

    for (size_t i = 0; rc == 0 && i < s->where->n; i++)
        if (s->gone[i] && something_stays(&g, s, i))
            rc = err_set(e, PBSE_IVALREQ, "%s cannot be released alone: all vnodes of host %s must be named",
                         s->where->part[i].vnode, s->hosts[s->host_of[i]].name);
    groups_fini(&g);
    return rc;
}

int release_plan_named(struct release_plan *s, const char *vnodes, struct err *e)
{
    struct words w;
    int rc;

    words_init(&w);
    rc = words_parse(vnodes, "+", 0, &w, e);
    rc = rc < 0 ? -1 : name_all(s, &w, e);
    words_fini(&w);
    return rc < 0 ? -1 : check_whole(s, e);
}

void release_plan_to_count(struct release_plan *s, size_t count)
{
    for (size_t i = 0; i < s->where->n; i++)
        s->gone[i] = s->host_of[i] > count; /* hosts are in the order of chunks */
    release_plan_settle(s);
}

const struct select_chunk *release_plan_chunk(const struct select *s, size_t number)
{
    for (size_t i = 0; s && i < s->n; i++) {
        if (number < s->chunk[i].count)
            return &s->chunk[i];
        number -= s->chunk[i].count;
    }
    return NULL;
}

/* Numbers and sizes: at least as much; anything else: the same. */
static bool release_plan_is_enough(const struct resource *r, const char *have, const char *want)
{
    struct value a, b;
    bool good;

    if (!have)
        return false;
    if (!r || !r->type->compare || r->type->parse(r->type, have, &a, NULL) < 0)
        return strcmp(have, want) == 0;
    if (r->type->parse(r->type, want, &b, NULL) < 0) {
        r->type->free(&a);
        return false;
    }
    good = resource_is_consumable(r) ? r->type->compare(r->type, &a, &b) >= 0 : strcmp(have, want) == 0;
    r->type->free(&a);
    r->type->free(&b);
    return good;
}

static bool satisfies(const struct select_chunk *have, const struct select_chunk *want,
                      const struct resource_table *t)
{
    for (size_t i = 0; i < want->res.n; i++)
        if (!have ||
            !release_plan_is_enough(resource_find(t, want->res.a[i].name),
                                    amounts_text_find(&have->res, want->res.a[i].name), want->res.a[i].value))
            return false;
    return true;
}

static void keep_chunk(struct release_plan *s, size_t chunk)
{
    for (size_t i = 0; i < s->where->n; i++)
        if (s->where->part[i].chunk == chunk)
            s->gone[i] = false;
}

/* The first sister's chunk that goes and would do. */
static bool keep_one(struct release_plan *s, const struct select *asked, const struct select_chunk *want,
                     const struct resource_table *t)
{
    for (size_t i = 0; i < s->where->n; i++) {
        size_t chunk = s->where->part[i].chunk;

        if (!s->gone[i] || is_fixed(s, i) || !satisfies(release_plan_chunk(asked, chunk), want, t))
            continue;
        keep_chunk(s, chunk);
        return true;
    }
    return false;
}

int release_plan_to_select(struct release_plan *s, const struct select *asked, const struct select *keep,
                           const struct resource_table *t, struct err *e)
{
    struct strbuf text;

    for (size_t i = 0; i < s->where->n; i++)
        s->gone[i] = !is_fixed(s, i);
    for (size_t i = 0; i < keep->n; i++)
        for (uint32_t k = 0; k < keep->chunk[i].count; k++) {
            if (keep_one(s, asked, &keep->chunk[i], t))
                continue;
            strbuf_init(&text, ERR_TEXT_MAX);
            amounts_text_format(&keep->chunk[i].res, &text);
            err_set(e, PBSE_IVALREQ,
                    "could not satisfy select chunk (%s): the job has no such chunk beside its first host",
                    strbuf_str(&text));
            strbuf_fini(&text);
            return -1;
        }
    release_plan_settle(s);
    return 0;
}

bool release_plan_is_nothing(const struct release_plan *s)
{
    for (size_t i = 0; i < s->where->n; i++)
        if (s->gone[i])
            return false;
    return true;
}
