/* What must hold whatever is said, looked at in the server's own objects where that is exact, and in its answers. */
#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "assign.h"
#include "exec_vnode.h"
#include "job_run.h"
#include "job_view.h"
#include "rpc_entries.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "talk.h"

/* What caches, lists of removed objects and the allocator keep; a leak in each round is found by the sanitizer. */
enum { MAY_GROW = 24 << 20 };

static const struct server_ctx *site_of(const struct talk *t)
{
    return &t->house.server->ctx;
}

/* --- amounts ---------------------------------------------------------------------------------------------- */

static int64_t amount(const struct resc_list *l, int id)
{
    const struct value *v = resc_find(l, id);

    return v ? (int64_t)value_number(v) : 0;
}

/* What is taken of a vnode is what the jobs on it have claimed, and no more than there is. */
static void check_node(const struct node *n, int ncpus)
{
    const struct value *has = attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, ncpus);
    int64_t sum = 0;
    bool forced = false;

    for (const struct node_use *u = n->uses; u; u = u->next) {
        if (!u->job->run)
            talk_fail("%s is on %s and in no run", u->job->obj.name, n->obj.name);
        sum += amount(u->amounts, ncpus) - amount(u->given_back, ncpus);
        forced |= u->job->run->forced;
    }
    if (sum != amount(n->assigned, ncpus))
        talk_fail("%s: %lld cpus are in use, its jobs have %lld", n->obj.name,
                  (long long)amount(n->assigned, ncpus), (long long)sum);
    if (has && !forced && sum > (int64_t)value_number(has))
        talk_fail("%s: %lld cpus are in use, it has %lld", n->obj.name, (long long)sum,
                  (long long)value_number(has));
}

/* --- jobs ------------------------------------------------------------------------------------------------- */

static void check_job(const struct server_ctx *s, const struct job *j)
{
    if (jobs_find(s->jobs, j->key) != j)
        talk_fail("%s is not found by its number", j->obj.name);
    if (job_is_placed(j) != (j->run != NULL))
        talk_fail("%s is %s and %s", j->obj.name, job_state_name(j->state), j->run ? "in a run" : "in none");
    if (j->uses && !j->run)
        talk_fail("%s has room and no run", j->obj.name);
    if (j->state != JOB_ARRIVING && !job_is_over(j) && !j->queue)
        talk_fail("%s is %s and in no queue", j->obj.name, job_state_name(j->state));
    if (j->state == JOB_RUNNING && !j->run->freed && !j->uses && !job_run_is_over(j->run))
        talk_fail("%s runs on nothing", j->obj.name);
}

/* What users are shown of their numbers, and limits go by. */
static void check_counts(const struct server_ctx *s)
{
    const int64_t *counted = limit_counts_states(s->limit_counts, NULL);
    int64_t found[LIMIT_COUNTS_STATES] = {0};

    for (const struct job *j = jobs_first(s->jobs); j; j = jobs_next(j))
        if (!job_is_over(j))
            found[job_view_number(j)]++;
    for (int i = 0; i < LIMIT_COUNTS_STATES; i++)
        if (found[i] != counted[i])
            talk_fail("%lld jobs are in state %d, %lld are counted", (long long)found[i], i,
                      (long long)counted[i]);
}

void truth_check(struct talk *t)
{
    const struct server_ctx *s = site_of(t);
    const struct resource *ncpus = resource_find(s->resources, "ncpus");
    size_t n = 0;

    for (const struct node *v = nodes_first(s->nodes); v; v = nodes_next(v))
        check_node(v, ncpus->id);
    for (const struct job *j = jobs_first(s->jobs); j; j = jobs_next(j), n++)
        check_job(s, j);
    check_counts(s);
    if (n != jobs_count(s->jobs))
        talk_fail("%zu jobs are in the list, %zu are counted", n, jobs_count(s->jobs));
}

/* --- restarts --------------------------------------------------------------------------------------------- */

struct kept {
    char name[TALK_ID_MAX], owner[64], queue[32];
    enum job_state state;
    unsigned run_version, hold;
    uint64_t have;
};

struct truth {
    size_t n, n_queues, n_nodes;
    struct kept jobs[];
};

static void keep(struct kept *k, const struct job *j)
{
    snprintf(k->name, sizeof k->name, "%s", j->obj.name);
    snprintf(k->owner, sizeof k->owner, "%s", j->owner);
    snprintf(k->queue, sizeof k->queue, "%s", j->queue_name ? j->queue_name : "");
    k->state = j->state;
    k->run_version = j->run_version;
    k->have = j->script_have;
    k->hold = j->hold;
}

static size_t count_queues(const struct server_ctx *s)
{
    size_t n = 0;

    for (const struct queue *q = queues_first(s->queues); q; q = queues_next(q))
        n++;
    return n;
}

static size_t count_nodes(const struct server_ctx *s)
{
    size_t n = 0;

    for (const struct node *v = nodes_first(s->nodes); v; v = nodes_next(v))
        n++;
    return n;
}

struct truth *truth_remember(struct talk *t)
{
    const struct server_ctx *s = site_of(t);
    struct truth *w = calloc(1, sizeof *w + (jobs_count(s->jobs) + 1) * sizeof w->jobs[0]);

    if (!w)
        talk_fail("no memory");
    w->n_queues = count_queues(s);
    w->n_nodes = count_nodes(s);
    for (const struct job *j = jobs_first(s->jobs); j; j = jobs_next(j))
        if (!job_is_over(j))
            keep(&w->jobs[w->n++], j);
    return w;
}

static const struct kept *find_kept(const struct truth *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->jobs[i].name, name) == 0)
            return &w->jobs[i];
    return NULL;
}

static void compare_job(const struct truth *w, const struct job *j)
{
    const struct kept *k = find_kept(w, j->obj.name);
    struct kept now;

    if (!k)
        talk_fail("%s is there after a restart, and was not before", j->obj.name);
    keep(&now, j);
    if (strcmp(now.owner, k->owner) != 0 || strcmp(now.queue, k->queue) != 0 || now.have != k->have ||
        now.run_version != k->run_version)
        talk_fail("%s was of %s in %s, run %u; after a restart it is of %s in %s, run %u", k->name, k->owner,
                  k->queue, k->run_version, now.owner, now.queue, now.run_version);
    if (now.state != k->state && k->state != JOB_STARTING && k->state != JOB_EXITING)
        talk_fail("%s was %s, hold bits %x; after a restart it is %s, %x", k->name, job_state_name(k->state),
                  k->hold, job_state_name(now.state), now.hold);
}

void truth_compare(struct talk *t, struct truth *was)
{
    const struct server_ctx *s = site_of(t);
    size_t n = 0;

    for (const struct job *j = jobs_first(s->jobs); j; j = jobs_next(j)) {
        if (job_is_over(j))
            continue;
        n++;
        compare_job(was, j);
    }
    if (n != was->n)
        talk_fail("%zu jobs were there before the restart, %zu are after it", was->n, n);
    if (count_queues(s) != was->n_queues || count_nodes(s) != was->n_nodes)
        talk_fail("queues or vnodes are missing after a restart");
    free(was);
}

/* --- answers ---------------------------------------------------------------------------------------------- */

static bool begins_with(const char *at, const char *end, const char *name)
{
    size_t n = strlen(name);

    return (size_t)(end - at) > n && strncmp(at, name, n) == 0 && at[n] == '-';
}

void truth_look(const struct caller *c, const char *bytes, size_t n)
{
    static const char mark[] = "SECRET-";
    const char *at = bytes, *end;

    if (c->kind != CALLER_USER || !bytes)
        return;
    end = bytes + n;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
        at += sizeof mark - 1;
        for (int i = 0; i < TALK_USERS; i++)
            if (i != c->who && begins_with(at, end, talk_users[i]))
                talk_fail("%s is shown a script of %s", talk_users[c->who], talk_users[i]);
        if (begins_with(at, end, "root"))
            talk_fail("%s is shown a script of root", talk_users[c->who]);
    }
}

static int whole_record(void *arg, const char **bytes, size_t *n, struct err *e)
{
    const struct caller **c = arg;

    if (!*c)
        return 0;
    *bytes = (*c)->record.bytes;
    *n = (*c)->record.len;
    *c = NULL;
    return 1;
}

static int promised(const struct talk *t, const char *id)
{
    for (size_t i = 0; i < t->n_jobs; i++)
        if (strcmp(t->jobs[i].id, id) == 0)
            return (int)i;
    return -1;
}

void truth_counted(struct talk *t, const struct caller *c)
{
    static unsigned seen[TALK_JOBS];
    struct rpc_entries_reader *r = rpc_entries_reader_create(whole_record, &c);
    ifl_result head;
    ifl_status_entry entry;
    struct err e;
    int rc;

    memset(seen, 0, sizeof seen);
    memset(&head, 0, sizeof head);
    if (!r || rpc_entries_head(r, (xdrproc_t)xdr_ifl_result, &head, &e) < 0 || head.code)
        talk_fail("the status of all jobs is refused");
    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&head);
    while (memset(&entry, 0, sizeof entry),
           (rc = rpc_entries_next(r, (xdrproc_t)xdr_ifl_status_entry, &entry, &e)) > 0) {
        int i = promised(t, entry.name);

        if (i >= 0 && ++seen[i] > 1)
            talk_fail("%s is there twice", entry.name);
        xdr_free((xdrproc_t)xdr_ifl_status_entry, (char *)&entry);
    }
    xdr_free((xdrproc_t)xdr_ifl_status_entry, (char *)&entry);
    if (rc < 0)
        talk_fail("the status of all jobs: %s", e.text);
    rpc_entries_reader_destroy(r);
    for (size_t i = 0; i < t->n_jobs; i++)
        if (!seen[i] && !t->jobs[i].may_vanish)
            talk_fail("%s was promised, and is lost", t->jobs[i].id);
}

void truth_weigh(const struct talk *t)
{
    size_t now = house_allocated();

    talk_say(t, "memory: %zu KB, at the beginning %zu KB", now >> 10, t->allocated >> 10);
    if (now > t->allocated + MAY_GROW)
        talk_fail("%zu KB are in use after all have left, %zu KB were at the beginning", now >> 10,
                  t->allocated >> 10);
}
