/* A vnode decoded. As with jobs, an object comes whole and is taken from nothing. Two questions are answered
 * by the way: is it news (could a job fit that did not), and is it another kind of vnode (`look`).
 *
 * Assigned and held amounts are added up in `used`: to this scheduler both are gone. node_settle makes `free`
 * from the three sums; between two settlings trials and claims move it by differences. The caller of
 * node_take has taken the vnode out of the index. */
#include "sched_node.h"

#include <stdlib.h>
#include <string.h>

#include "attr_rows.h"
#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "units.h"
#include "words.h"

/* States in which no job may start. */
static const char *const unusable[] = {"offline",       "offline_by_mom", "down",         "Stale",
                                       "state-unknown", "unresolvable",   "provisioning", "wait-provisioning",
                                       "maintenance",   "sleep",          "initializing", "busy"};

static const struct {
    const char *word;
    enum node_sharing sharing;
} sharing_words[] = {{"default_shared", NODE_SHARED},     {"default_excl", NODE_EXCL},
                     {"default_exclhost", NODE_EXCLHOST}, {"ignore_excl", NODE_IGNORE},
                     {"force_excl", NODE_FORCE_EXCL},     {"force_exclhost", NODE_FORCE_EXCLHOST}};

struct node *node_create(const char *name)
{
    struct node *n = mem_new(1, sizeof *n);

    n->name = mem_intern(name);
    n->most_jobs = n->most_user = n->most_group = -1;
    return n;
}

/* Every field of the server's part to what it is when its attribute is not sent. What the core has added
 * (rank, bucket, keeps ...) stays. */
static void node_forget(struct node *n)
{
    intern_unref(n->host_name);
    intern_unref(n->queue);
    intern_unref(n->partition);
    intern_unref(n->comment);
    amounts_clear(&n->total);
    amounts_clear(&n->used);
    amounts_clear(&n->kept);
    nonconsumables_fini(&n->nonconsumables);
    for (size_t i = 0; i < n->n_loans; i++)
        intern_unref(n->loans[i].lender);
    n->n_loans = 0;
    n->host_name = n->queue = n->partition = n->state = n->comment = NULL;
    n->priority = n->last_used_s = 0;
    n->sharing = NODE_SHARED;
    n->most_jobs = n->most_user = n->most_group = -1;
    n->no_multinode = n->no_resv = n->said_exclusive = n->earmarked = n->earmarked_alone = false;
}

void node_forget_keeps(struct node *n)
{
    for (size_t i = 0; i < n->n_keeps; i++) {
        amounts_fini(&n->keeps[i].share);
        amounts_fini(&n->keeps[i].leave);
    }
    free(n->keeps);
    n->keeps = NULL;
    n->n_keeps = 0;
    n->keeps_look = 0;
}

void node_destroy(struct node *n)
{
    if (!n)
        return;
    node_forget(n);
    node_forget_keeps(n);
    for (size_t i = 0; i < n->cap_ends; i++)
        amounts_fini(&n->ends[i].use);
    free(n->ends);
    intern_unref(n->name);
    amounts_fini(&n->total);
    amounts_fini(&n->used);
    amounts_fini(&n->kept);
    amounts_fini(&n->claimed);
    amounts_fini(&n->free);
    free(n->jobs);
    free(n->loans);
    free(n->pools);
    free(n);
}

/* Any unusable word makes the vnode unusable; the last one is shown. */
static void node_take_state(struct node *n, const char *value)
{
    struct words l;

    words_init(&l);
    words_parse_commas(value, &l, NULL);
    for (size_t i = 0; i < l.n; i++) {
        for (size_t k = 0; k < sizeof unusable / sizeof *unusable; k++)
            if (strcmp(l.w[i], unusable[k]) == 0)
                n->state = unusable[k];
        if (strcmp(l.w[i], "job-exclusive") == 0 || strcmp(l.w[i], "resv-exclusive") == 0)
            n->said_exclusive = true;
    }
    words_fini(&l);
}

static void take_sharing(struct node *n, const char *value)
{
    for (size_t i = 0; i < sizeof sharing_words / sizeof *sharing_words; i++)
        if (strcmp(value, sharing_words[i].word) == 0)
            n->sharing = sharing_words[i].sharing;
}

static void take_loan(struct node *n, res_id res, const char *lender)
{
    n->loans = mem_grow(n->loans, n->n_loans + 1, sizeof *n->loans);
    n->loans[n->n_loans++] = (struct node_loan){.res = res, .lender = mem_intern(lender)};
}

/* "@NAME" of a counted resource is a loan. host and vnode are names, not resources that a job uses. */
static void take_available(struct node *n, struct catalogue *c, const char *name, const char *value)
{
    res_id res = catalogue_expect(c, name);

    if (res == RES_HOSTNAME) {
        intern_unref(n->host_name);
        n->host_name = mem_intern(value);
    } else if (res != RES_NONE && *value == '@' && res_is_numeric(catalogue_get(c, res))) {
        take_loan(n, res, value + 1);
    } else if (res != RES_NONE && res != RES_VNODENAME)
        request_take(catalogue_get(c, res), res, value, &n->total, &n->nonconsumables);
}

/* Held for a job that awaits others, or assigned. */
static void node_take_used(struct node *n, const struct catalogue *c, const struct attrl *a, bool held)
{
    res_id res = catalogue_find(c, a->resource);
    const struct resource *r = catalogue_get(c, res);

    if (!r || !res_is_numeric(r))
        return;
    amounts_plus(&n->used, res, res_parse(r, a->value));
    if (held)
        amounts_plus(&n->kept, res, res_parse(r, a->value));
}

static void node_row_available(void *node, struct catalogue *c, const struct attrl *a)
{
    if (a->resource)
        take_available(node, c, a->resource, a->value);
}

static void node_row_assigned(void *node, struct catalogue *c, const struct attrl *a)
{
    if (a->resource)
        node_take_used(node, c, a, false);
}

static void node_row_held(void *node, struct catalogue *c, const struct attrl *a)
{
    if (a->resource)
        node_take_used(node, c, a, true);
}

static void node_row_jobs_held(void *node, struct catalogue *c, const struct attrl *a)
{
    ((struct node *)node)->earmarked = *a->value != '\0';
}

static void node_row_state(void *node, struct catalogue *c, const struct attrl *a)
{
    node_take_state(node, a->value);
}

static void node_row_sharing(void *node, struct catalogue *c, const struct attrl *a)
{
    take_sharing(node, a->value);
}

static void node_row_resv_enable(void *node, struct catalogue *c, const struct attrl *a)
{
    bool yes;

    ((struct node *)node)->no_resv = units_parse_bool(a->value, &yes, NULL) == 0 && !yes;
}

#define FIELD(field) offsetof(struct node, field), NULL
static const struct attr_row node_rows[] = {
    {"resources_available", ATTR_ROWS_OWN, 0, node_row_available},
    {"resources_assigned", ATTR_ROWS_OWN, 0, node_row_assigned},
    {"resources_held", ATTR_ROWS_OWN, 0, node_row_held},
    {"jobs_held", ATTR_ROWS_OWN, 0, node_row_jobs_held},
    {"held_alone", ATTR_ROWS_YES, FIELD(earmarked_alone)},
    {"state", ATTR_ROWS_OWN, 0, node_row_state},
    {"sharing", ATTR_ROWS_OWN, 0, node_row_sharing},
    {"Priority", ATTR_ROWS_NUMBER, FIELD(priority)},
    {"last_used_time", ATTR_ROWS_NUMBER, FIELD(last_used_s)},
    {"queue", ATTR_ROWS_TEXT, FIELD(queue)},
    {"partition", ATTR_ROWS_TEXT, FIELD(partition)},
    {"max_running", ATTR_ROWS_NUMBER, FIELD(most_jobs)},
    {"max_user_run", ATTR_ROWS_NUMBER, FIELD(most_user)},
    {"max_group_run", ATTR_ROWS_NUMBER, FIELD(most_group)},
    {"comment", ATTR_ROWS_TEXT, FIELD(comment)},
    {"no_multinode_jobs", ATTR_ROWS_YES, FIELD(no_multinode)},
    {"resv_enable", ATTR_ROWS_OWN, 0, node_row_resv_enable},
};
#undef FIELD

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 31;
}

/* What never moves in a cycle. Names are left out: vnodes with one look are one kind. */
static uint64_t look_of(const struct node *n)
{
    uint64_t h = amounts_hash(&n->total, 1);

    for (size_t i = 0; i < n->nonconsumables.n; i++)
        h = mix(mix(h, n->nonconsumables.a[i].res), mem_hash(n->nonconsumables.a[i].text));
    for (size_t i = 0; i < n->n_loans; i++)
        h = mix(mix(h, n->loans[i].res), mem_hash(n->loans[i].lender));
    h = mix(mix(mix(h, mem_hash(n->queue)), mem_hash(n->partition)), (uintptr_t)n->state);
    h = mix(h, mem_hash(n->comment));
    h = mix(mix(mix(h, (uint64_t)n->most_jobs), (uint64_t)n->most_user), (uint64_t)n->most_group);
    return mix(h, (uint64_t)n->sharing * 4 + n->no_multinode * 2u + n->no_resv);
}

/* What is known of a vnode whatever is sent: its host is its name, and what is said of a usable vnode makes it no other. */
static void node_complete(struct node *n)
{
    if (!n->host_name)
        n->host_name = intern_again(n->name);
    if (!n->state) {
        intern_unref(n->comment);
        n->comment = NULL;
    }
    n->look = look_of(n);
}

static bool is_said_shut(const struct node *n)
{
    return n->said_exclusive || n->earmarked_alone;
}

bool node_take(struct node *n, struct catalogue *c, const struct attrl *attrs)
{
    struct amounts before = {0};
    uint64_t look = n->look;
    int64_t priority = n->priority;
    const char *host = intern_again(n->host_name);
    bool was_shut = is_said_shut(n), was_earmarked = n->earmarked;

    amounts_copy(&before, &n->used);
    node_forget(n);
    for (; attrs; attrs = attrs->next)
        if (attrs->name && attrs->value)
            attr_rows_take(node_rows, sizeof node_rows / sizeof node_rows[0], n, c, attrs);
    node_complete(n);
    bool is_other = n->look != look || n->priority != priority || n->host_name != host;
    bool has_opened = (was_shut && !is_said_shut(n)) || (was_earmarked && !n->earmarked);
    bool has_freed = !amounts_cover(&n->used, &before, NULL);
    intern_unref(host);
    amounts_fini(&before);
    return is_other || has_opened || has_freed;
}

/* What is shared with other vnodes is set by pools_settle after this. */
void node_settle(struct node *n)
{
    amounts_copy(&n->free, &n->total);
    amounts_sub(&n->free, &n->used);
    amounts_sub(&n->free, &n->claimed);
    n->exclusive = node_is_shut(n);
}

bool node_is_shut(const struct node *n)
{
    return n->said_exclusive || n->earmarked_alone || n->n_alone > 0;
}

bool node_is_occupied(const struct node *n)
{
    return n->n_jobs > 0 || n->earmarked;
}

bool node_is_limited(const struct node *n)
{
    return n->most_jobs >= 0 || n->most_user >= 0 || n->most_group >= 0;
}

bool node_is_alone_for(const struct node *n, enum sharing place)
{
    if (n->sharing == NODE_FORCE_EXCL || n->sharing == NODE_FORCE_EXCLHOST)
        return true;
    if (n->sharing == NODE_IGNORE)
        return false;
    if (place == SHARING_UNSAID)
        return n->sharing == NODE_EXCL || n->sharing == NODE_EXCLHOST;
    return place == SHARING_EXCL || place == SHARING_EXCLHOST;
}

bool node_is_host_alone_for(const struct node *n, enum sharing place)
{
    if (n->sharing == NODE_FORCE_EXCLHOST)
        return true;
    return place == SHARING_UNSAID ? n->sharing == NODE_EXCLHOST
                                   : place == SHARING_EXCLHOST && n->sharing != NODE_IGNORE;
}

void node_join(struct node *n, struct job *j)
{
    n->jobs = mem_room(n->jobs, n->n_on, &n->cap_on, sizeof *n->jobs);
    n->jobs[n->n_on++] = j;
    n->n_jobs++;
}

/* From the end: jobs that came last mostly leave first, and one with several parts leaves once for each. */
void node_leave(struct node *n, struct job *j)
{
    for (size_t i = n->n_on; i > 0; i--)
        if (n->jobs[i - 1] == j) {
            n->jobs[i - 1] = n->jobs[--n->n_on];
            n->n_jobs--;
            return;
        }
}
