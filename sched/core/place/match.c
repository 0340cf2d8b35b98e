/* Questions about one vnode, without memory and without effect. The vnode may be a sample that represents all
 * of its bucket; then the answer must be the same for all of them, which is why a job that matters by name is
 * asked for one by one (match_is_named). match_times looks at nothing of the vnode but `total`: insufficiency.c asks
 * it with a made-up one that has only that.
 *
 * A boolean that is not set is False. Another resource that is not set is lacking, unless the site says that
 * it is infinite. Resources that `resources` of sched_config does not name always fit, except booleans, host, vnode and
 * what jobs use up on vnodes: the server counts that whatever the file says, and would refuse the run. */
#include "match.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "words.h"

const char *match_set_of(const struct node *n, res_id set)
{
    if (set == RES_HOSTNAME)
        return n->host_name;
    return set == RES_VNODENAME ? n->name : nonconsumables_find(&n->nonconsumables, set);
}

/* A vnode whose resource is not set is in the set of value NULL, and in no other. */
static bool is_in_set(const struct asker *a, const struct node *n)
{
    const char *have = match_set_of(n, a->set);

    if (!have || !a->set_value)
        return have == a->set_value;
    return have == a->set_value || (catalogue_get(cluster_catalogue(a->cl), a->set)->type == RES_STRINGS &&
                                    policy_lists(have, a->set_value, false));
}

/* Inside a reservation only its own vnodes, whatever their queue. */
bool match_pool(const struct asker *a, const struct node *n)
{
    const struct policy *p = cluster_policy(a->cl);

    if (a->within)
        return n->lent == a->within;
    if (!a->job && n->no_resv)
        return false;
    if (strcmp(n->partition ? n->partition : "", p->partition) != 0)
        return false;
    if (a->in_set && !is_in_set(a, n))
        return false;
    if (a->queue && a->queue->n_nodes > 0)
        return n->queue == a->queue->name;
    return n->queue == NULL;
}

/* Return true if the comma list contains the word. */
static bool contains(const char *list, const char *word)
{
    return policy_lists(list, word, false);
}

/* Is the resource one that matching heeds? See the head. */
static bool is_checked(const struct asker *a, const struct resource *r)
{
    return r->type == RES_BOOLEAN || r->flags & RES_VNODE ||
           policy_lists(cluster_policy(a->cl)->resources, r->name, true);
}

static bool is_infinite(const struct asker *a, const struct resource *r)
{
    return policy_lists(cluster_policy(a->cl)->unset_infinite, r->name, false);
}

/* A text that is compared: equal, or one of the words of a string_array. */
static bool label_fits(const struct asker *a, const struct node *n, const struct nonconsumable *want)
{
    const struct resource *r = catalogue_get(cluster_catalogue(a->cl), want->res);
    const char *have = nonconsumables_find(&n->nonconsumables, want->res);

    if (!is_checked(a, r))
        return true;
    if (!have)
        return r->type == RES_BOOLEAN ? strcmp(want->text, "False") == 0 : is_infinite(a, r);
    return r->type == RES_STRINGS ? contains(have, want->text) : have == want->text;
}

/* A number that is not used up: the vnode has at least so much. */
static bool least_fits(const struct asker *a, const struct node *n, const struct amount *want)
{
    const struct resource *r = catalogue_get(cluster_catalogue(a->cl), want->res);

    if (want->n <= 0 || amounts_get(&n->total, want->res) >= want->n || !is_checked(a, r))
        return true;
    return !amounts_has(&n->total, want->res) && is_infinite(a, r);
}

bool match_labels(const struct asker *a, const struct node *n, const struct chunk *k)
{
    if (k->vnode && strcasecmp(k->vnode, n->name) != 0)
        return false;
    if (k->host && strcasecmp(k->host, n->host_name) != 0)
        return false;
    for (size_t i = 0; i < k->nonconsumables.n; i++)
        if (!label_fits(a, n, &k->nonconsumables.a[i]))
            return false;
    for (uint32_t i = 0; i < k->least.n; i++)
        if (!least_fits(a, n, &k->least.a[i]))
            return false;
    return true;
}

bool match_is_named(const struct asker *a, const struct chunk *k)
{
    return k->host || k->vnode || (a->in_set && (a->set == RES_HOSTNAME || a->set == RES_VNODENAME));
}

bool match_wants_alone(const struct asker *a, const struct node *n)
{
    return node_is_alone_for(n, a->request->sharing);
}

bool match_wants_host(const struct asker *a, const struct node *n)
{
    return node_is_host_alone_for(n, a->request->sharing);
}

struct count { /* of jobs on a vnode */
    int64_t all, user, group;
};

static void count_job(struct count *c, const struct asker *a, const struct job *j)
{
    c->all++;
    c->user += j->user == a->job->user; /* interned */
    c->group += j->group == a->job->group;
}

/* Has this job, which was ordered to run, a part on the vnode? */
static bool is_claimed(const struct job *j, const struct node *n)
{
    for (size_t i = 0; i < j->claim.n; i++)
        if (j->claim.a[i].node == n)
            return true;
    return false;
}

/* Count the jobs on the vnode, each once even with several chunks, and jobs that have been ordered to run there. */
static struct count count_jobs(const struct asker *a, const struct node *n)
{
    struct count c = {0};
    size_t n_ordered;
    struct job *const *ordered = cluster_ordered(a->cl, &n_ordered);

    for (size_t i = 0; i < n->n_on; i++) {
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = n->jobs[k] == n->jobs[i];
        if (!again)
            count_job(&c, a, n->jobs[i]);
    }
    for (size_t i = 0; i < n_ordered; i++)
        if (ordered[i] != a->job && is_claimed(ordered[i], n))
            count_job(&c, a, ordered[i]);
    return c;
}

enum reason_code match_limit(const struct asker *a, const struct node *n)
{
    struct count c;

    if (!a->job || a->job->urged || !node_is_limited(n))
        return REASON_NONE;
    c = count_jobs(a, n);
    if (n->most_jobs >= 0 && c.all >= n->most_jobs)
        return REASON_NODE_JOBS;
    if (n->most_user >= 0 && c.user >= n->most_user)
        return REASON_NODE_USER;
    return n->most_group >= 0 && c.group >= n->most_group ? REASON_NODE_GROUP : REASON_NONE;
}

/* --- what is kept for reservations ------------------------------------------------------------------------- */

/* Does the span of the asker overlap this keep? */
static bool is_met(const struct asker *a, const struct node_keep *k)
{
    return k->from_s < a->span.until_s && k->to_s > a->span.begin_s;
}

/* Of the keeps, which are by time without overlap, the first that is not over when the span begins. O(log keeps). */
static size_t first_kept(const struct asker *a, const struct node *n)
{
    size_t low = 0, high = a->span.by == SPAN_NONE ? 0 : n->n_keeps;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->keeps[middle].to_s <= a->span.begin_s)
            low = middle + 1;
        else
            high = middle;
    }
    return a->span.by == SPAN_NONE ? n->n_keeps : low;
}

bool match_is_kept(const struct asker *a, const struct node *n)
{
    size_t i = first_kept(a, n);

    return i < n->n_keeps && is_met(a, &n->keeps[i]);
}

bool match_is_kept_alone(const struct asker *a, const struct node *n)
{
    for (size_t i = first_kept(a, n); i < n->n_keeps && n->keeps[i].from_s < a->span.until_s; i++)
        if (n->keeps[i].alone && is_met(a, &n->keeps[i]))
            return true;
    return false;
}

/* Of what is needed at from_s, the part that no job gives back after the beginning of the span. */
static int64_t left_of(const struct asker *a, const struct node *n, const struct node_keep *k,
                       const struct amount *share)
{
    int64_t left = share->n;

    if (a->span.by == SPAN_NOW)
        return amounts_get(&k->leave, share->res);
    for (size_t i = 0; a->span.by == SPAN_LATER && i < n->n_ends; i++)
        if (n->ends[i].at_s > a->span.begin_s && n->ends[i].at_s <= k->from_s)
            left -= amounts_get(&n->ends[i].use, share->res);
    return left;
}

const struct amounts *match_free(const struct asker *a, const struct node *n, struct amounts *scratch)
{
    struct amounts most = {0};

    if (a->span.by == SPAN_NONE || n->n_keeps == 0 || !match_is_kept(a, n))
        return &n->free;
    /* Vnode by vnode the largest need, not the sum: the times follow one another, so one room serves all of them. */
    for (size_t i = first_kept(a, n); i < n->n_keeps && is_met(a, &n->keeps[i]); i++)
        for (uint32_t r = 0; r < n->keeps[i].share.n; r++) {
            const struct amount *share = &n->keeps[i].share.a[r];
            int64_t left = left_of(a, n, &n->keeps[i], share);
            if (left > amounts_get(&most, share->res))
                amounts_set(&most, share->res, left);
        }
    amounts_copy(scratch, &n->free);
    amounts_sub(scratch, &most);
    amounts_fini(&most);
    return scratch;
}

/* How much of one resource must be left alone, of the keeps from the first one on that matters. */
static int64_t kept_of(const struct asker *a, const struct node *n, size_t first, res_id res)
{
    int64_t most = 0;

    for (size_t i = first; i < n->n_keeps && is_met(a, &n->keeps[i]); i++) {
        const struct amounts *share = &n->keeps[i].share;
        for (uint32_t r = 0; r < share->n && share->a[r].res <= res; r++) {
            int64_t left = share->a[r].res == res ? left_of(a, n, &n->keeps[i], &share->a[r]) : 0;
            most = left > most ? left : most;
        }
    }
    return most;
}

/* What reservations keep comes first: it is true of few vnodes, and the limits below it cost a walk over
 * jobs. */
bool match_open(const struct asker *a, const struct node *n)
{
    if (n->n_keeps > 0 && !a->within &&
        (match_is_kept_alone(a, n) || (match_wants_alone(a, n) && match_is_kept(a, n))))
        return false;
    if (n->state || n->exclusive || match_limit(a, n) != REASON_NONE)
        return false;
    if (n->no_multinode && a->request->n_chunks > 1)
        return false;
    return !node_is_occupied(n) || !match_wants_alone(a, n);
}

/* Without resource_unset_infinite, as at most sites, it is a division for each resource. */
int64_t match_times(const struct asker *a, const struct node *n, const struct amounts *have,
                    const struct chunk *k, int64_t most)
{
    const struct policy *p = cluster_policy(a->cl);

    if (!p->unset_infinite)
        return amounts_times(have, &k->use, most);
    for (uint32_t i = 0; i < k->use.n && most > 0; i++) {
        const struct amount *want = &k->use.a[i];
        const struct resource *r = catalogue_get(cluster_catalogue(a->cl), want->res);
        if (want->n <= 0 || (!amounts_has(&n->total, want->res) && is_infinite(a, r)))
            continue;
        int64_t fits = amounts_get(have, want->res) / want->n;
        most = fits < most ? fits : most;
    }
    return most < 0 ? 0 : most;
}

int64_t match_times_beside(const struct asker *a, const struct node *n, const struct chunk *k, int64_t most)
{
    size_t first = first_kept(a, n);

    if (first == n->n_keeps || !is_met(a, &n->keeps[first]))
        return match_times(a, n, &n->free, k, most);
    if (cluster_policy(a->cl)->unset_infinite) {
        struct amounts scratch = {0};
        most = match_times(a, n, match_free(a, n, &scratch), k, most);
        amounts_fini(&scratch);
        return most;
    }
    for (uint32_t i = 0; i < k->use.n && most > 0; i++) {
        const struct amount *want = &k->use.a[i];
        if (want->n <= 0)
            continue;
        int64_t fits = (amounts_get(&n->free, want->res) - kept_of(a, n, first, want->res)) / want->n;
        most = fits < most ? fits : most;
    }
    return most < 0 ? 0 : most;
}

/* In the order of match_labels, so that it names what made that false. */
void match_differs(const struct asker *a, const struct node *n, const struct chunk *k, struct reason *why)
{
    const struct catalogue *c = cluster_catalogue(a->cl);

    if (k->vnode && strcasecmp(k->vnode, n->name) != 0) {
        reason_differs(why, c, RES_VNODENAME, k->vnode, n->name);
        return;
    }
    if (k->host && strcasecmp(k->host, n->host_name) != 0) {
        reason_differs(why, c, RES_HOSTNAME, k->host, n->host_name);
        return;
    }
    for (size_t i = 0; i < k->nonconsumables.n; i++)
        if (!label_fits(a, n, &k->nonconsumables.a[i])) {
            reason_differs(why, c, k->nonconsumables.a[i].res, k->nonconsumables.a[i].text,
                           nonconsumables_find(&n->nonconsumables, k->nonconsumables.a[i].res));
            return;
        }
    for (uint32_t i = 0; i < k->least.n; i++)
        if (!least_fits(a, n, &k->least.a[i])) {
            int64_t have = amounts_get(&n->total, k->least.a[i].res);
            reason_lack(why, REASON_LACK, c, k->least.a[i].res, k->least.a[i].n, have, have);
            return;
        }
    reason_set(why, REASON_NO_RESOURCES, NULL, NULL);
}

void match_away(const struct node *n, int64_t others, struct reason *why)
{
    char text[REASON_DETAIL_MAX], more[48] = "";

    if (others > 0)
        snprintf(more, sizeof more, " (and %lld more)", (long long)others);
    snprintf(text, sizeof text, "%s%s%.70s%s", n->state, n->comment ? ": " : "", n->comment ? n->comment : "",
             more);
    reason_set(why, REASON_NODE_AWAY, n->name, text);
}
