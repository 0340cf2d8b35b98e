/* See random_world.h. */
#include "random_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_rows.h"
#include "mem.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

enum { BEGIN_S = 1000000, USERS = 3, COLOURS = 3, TEXT_MAX = 8192 };

static int random_draw(struct random_world *w, int n)
{
    w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's constants */
    return (int)((w->seed >> 33) % (uint64_t)n);
}

static bool random_one_of(struct random_world *w, int n)
{
    return random_draw(w, n) == 0;
}

/* --- telling --------------------------------------------------------------------------------------------- */

static void random_tell_node(const struct random_world *w, struct cycle *c, int i)
{
    const struct random_node *n = &w->nodes[i];
    char name[16], ncpus[16], mem[24], host[16], colour[16], used[16], taken[24];
    int used_ncpus = 0, used_kb = 0;
    bool is_alone = false;

    for (int k = 0; k < w->n_jobs; k++)
        for (int p = 0; w->jobs[k].runs && p < w->jobs[k].n_parts; p++)
            if (w->jobs[k].parts[p].node == i) {
                used_ncpus += w->jobs[k].parts[p].ncpus;
                used_kb += w->jobs[k].parts[p].mem_kb;
                is_alone = is_alone || n->is_excl || strstr(w->jobs[k].place, "excl");
            }
    snprintf(name, sizeof name, "n%d", i);
    snprintf(host, sizeof host, "h%d", n->host);
    snprintf(colour, sizeof colour, "c%d", n->colour);
    snprintf(ncpus, sizeof ncpus, "%d", n->ncpus);
    snprintf(mem, sizeof mem, "%dkb", n->mem_kb);
    snprintf(used, sizeof used, "%d", used_ncpus);
    snprintf(taken, sizeof taken, "%dkb", used_kb);
    cluster_rows(cycle_cluster(c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", ncpus},
                                          {"resources_available", "mem", mem},
                                          {"resources_available", "host", host},
                                          {"resources_available", "colour", colour},
                                          {"resources_assigned", "ncpus", used},
                                          {"resources_assigned", "mem", taken},
                                          {"sharing", NULL, n->is_excl ? "default_excl" : "default_shared"},
                                          {"state", NULL,
                                           n->is_down ? "down"
                                           : is_alone ? "job-exclusive"
                                                      : "free"},
                                          {NULL}});
}

static void random_tell_job(const struct random_world *w, struct cycle *c, int i)
{
    const struct random_job *j = &w->jobs[i];
    char id[16], rank[16], user[16], start[24], limit[24], run[24], exec[TEXT_MAX] = "";
    size_t n = 0;

    for (int p = 0; j->runs && p < j->n_parts; p++)
        n += (size_t)snprintf(exec + n, sizeof exec - n, "%s(n%d:ncpus=%d:mem=%dkb)", p ? "+" : "",
                              j->parts[p].node, j->parts[p].ncpus, j->parts[p].mem_kb);
    snprintf(id, sizeof id, "%d.x", i);
    snprintf(rank, sizeof rank, "%d", i + 1);
    snprintf(user, sizeof user, "user%d", j->user);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    snprintf(limit, sizeof limit, "%lld", (long long)j->walltime_s);
    snprintf(run, sizeof run, "%lld", (long long)j->run_version);
    cluster_rows(cycle_cluster(c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, j->runs ? "R" : "Q"},
                                          {"substate", NULL, j->runs ? "42" : "10"},
                                          {"queue", NULL, j->is_urgent ? "express" : "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"euser", NULL, user},
                                          {"schedselect", NULL, j->select},
                                          {"run_version", NULL, run},
                                          {"Resource_List", "place", j->place},
                                          {"Resource_List", "walltime", limit},
                                          {j->runs ? "stime" : "Rerunable", NULL, j->runs ? start : "True"},
                                          {j->runs ? "exec_vnode" : NULL, NULL, exec},
                                          {NULL}});
}

static void random_tell_resv(const struct random_world *w, struct cycle *c, int i)
{
    const struct random_resv *r = &w->resvs[i];
    char id[16], from[24], to[24], select[32], nodes[TEXT_MAX] = "";
    size_t n = 0;

    for (int k = r->first; k < r->first + r->n; k++)
        n += w->nodes[k].is_away ? 0
                                 : (size_t)snprintf(nodes + n, sizeof nodes - n, "%s(n%d:ncpus=%d)",
                                                    n ? "+" : "", k, w->nodes[k].ncpus);
    snprintf(id, sizeof id, "R%d.x", i);
    snprintf(from, sizeof from, "%lld", (long long)r->from_s);
    snprintf(to, sizeof to, "%lld", (long long)r->to_s);
    snprintf(select, sizeof select, "%d:ncpus=1", r->n);
    cluster_rows(cycle_cluster(c), CLUSTER_RESV, id,
                 (const char *const[][3]){{"reserve_state", NULL, "2"},
                                          {"reserve_start", NULL, from},
                                          {"reserve_end", NULL, to},
                                          {"schedselect", NULL, select},
                                          {"resv_nodes", NULL, nodes},
                                          {NULL}});
}

static void random_tell_server(const struct random_world *w, struct cycle *c)
{
    char depth[16], most[48], soft[48];

    snprintf(depth, sizeof depth, "%d", w->depth);
    snprintf(most, sizeof most, "[u:PBS_GENERIC=%d]", w->user_limit);
    snprintf(soft, sizeof soft, "[u:PBS_GENERIC=%d]", w->soft_limit);
    cluster_rows(cycle_cluster(c), CLUSTER_RESOURCE, "colour",
                 (const char *const[][3]){{"type", NULL, "string"}, {"flag", NULL, "h"}, {NULL}});
    cluster_rows(cycle_cluster(c), CLUSTER_SERVER, "x",
                 (const char *const[][3]){{"backfill_depth", NULL, depth},
                                          {"node_group_enable", NULL, w->has_sets ? "True" : "False"},
                                          {"node_group_key", NULL, "colour"},
                                          {w->soft_limit ? "max_run_soft" : "comment", NULL, soft},
                                          {w->user_limit ? "max_run" : NULL, NULL, most},
                                          {NULL}});
    for (int urgent = 0; urgent < 2; urgent++)
        cluster_rows(cycle_cluster(c), CLUSTER_QUEUE, urgent ? "express" : "workq",
                     (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                              {"started", NULL, "True"},
                                              {"Priority", NULL, urgent ? "200" : "0"},
                                              {NULL}});
}

void random_world_tell(const struct random_world *w, struct cycle *c)
{
    random_tell_server(w, c);
    for (int i = 0; i < w->n_nodes; i++)
        if (!w->nodes[i].is_away)
            random_tell_node(w, c, i);
    for (int i = 0; i < w->n_resvs; i++)
        if (w->resvs[i].n > 0)
            random_tell_resv(w, c, i);
    for (int i = 0; i < w->n_jobs; i++)
        if (w->jobs[i].is_there)
            random_tell_job(w, c, i);
    cluster_settle(cycle_cluster(c));
}

/* --- what happens ------------------------------------------------------------------------------------------- */

static void random_tell_nodes_of(const struct random_world *w, int i)
{
    for (int p = 0; p < w->jobs[i].n_parts; p++)
        random_tell_node(w, w->c, w->jobs[i].parts[p].node);
}

/* "(n1:ncpus=2:mem=4kb+n2:ncpus=1)+(n3:...)": a word for each resource. */
static void random_read_parts(struct random_job *j, const char *exec)
{
    struct random_part *x = NULL;

    j->n_parts = 0;
    for (const char *at = exec; *at; at++) {
        int n;
        if ((*at == '(' || *at == '+') && sscanf(at + 1, "n%d:", &n) == 1 && j->n_parts < RANDOM_PARTS_MAX) {
            x = &j->parts[j->n_parts++];
            *x = (struct random_part){.node = n};
        } else if (x && sscanf(at, ":ncpus=%d", &n) == 1)
            x->ncpus = n;
        else if (x && sscanf(at, ":mem=%dkb", &n) == 1)
            x->mem_kb = n;
    }
}

static void random_start(struct random_world *w, int i, const char *exec)
{
    struct random_job *j = &w->jobs[i];

    random_read_parts(j, exec);
    j->runs = true;
    j->start_s = w->now_s;
    j->run_version++;
    random_tell_nodes_of(w, i);
    random_tell_job(w, w->c, i);
}

static void random_stop(struct random_world *w, int i)
{
    w->jobs[i].runs = false;
    random_tell_nodes_of(w, i);
    random_tell_job(w, w->c, i);
}

static void random_end(struct random_world *w, int i)
{
    struct random_job *j = &w->jobs[i];
    char id[16];

    snprintf(id, sizeof id, "%d.x", i);
    j->is_there = false;
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
    if (j->runs) {
        j->runs = false;
        random_tell_nodes_of(w, i);
    }
}

static void random_note(struct random_world *w, const struct random_event *x)
{
    w->events = mem_room(w->events, w->n_events, &w->cap_events, sizeof *w->events);
    w->events[w->n_events++] = *x;
}

static void random_apply_submit(struct random_world *w, const struct random_event *x)
{
    struct random_job *j = &w->jobs[x->number];

    *j = (struct random_job){
        .is_there = true, .is_urgent = x->is_urgent, .user = x->user, .walltime_s = x->walltime_s};
    memcpy(j->select, x->select, sizeof j->select);
    memcpy(j->place, x->place, sizeof j->place);
    if (x->number >= w->n_jobs)
        w->n_jobs = x->number + 1;
    random_tell_job(w, w->c, x->number);
}

void random_world_apply(struct random_world *w, const struct random_event *x)
{
    w->now_s = x->at_s;
    random_note(w, x);
    switch (x->kind) {
    case RANDOM_SUBMIT:
        random_apply_submit(w, x);
        break;
    case RANDOM_END:
        if (w->jobs[x->number].is_there)
            random_end(w, x->number);
        break;
    case RANDOM_NODE:
        w->nodes[x->number].is_down = x->is_down;
        if (!w->nodes[x->number].is_away)
            random_tell_node(w, w->c, x->number);
        break;
    case RANDOM_CYCLE:
        break;
    }
}

int random_world_submit(struct random_world *w, bool is_urgent)
{
    static const char *const places[] = {"free",      "free",         "scatter", "pack",
                                         "free:excl", "scatter:excl", "vscatter"};
    struct random_event x = {.at_s = w->now_s, .number = w->n_jobs, .is_urgent = is_urgent};
    int n;

    if (w->n_jobs == RANDOM_JOBS_MAX)
        return -1;
    x.user = random_draw(w, USERS);
    n = snprintf(x.select, sizeof x.select, "%d:ncpus=%d:mem=%dkb",
                 1 + random_draw(w, is_urgent ? w->n_nodes : 2), 1 + random_draw(w, 3),
                 1 + random_draw(w, 40));
    if (random_one_of(w, 4))
        snprintf(x.select + n, sizeof x.select - (size_t)n, "+%d:ncpus=%d:mem=%dkb", 1 + random_draw(w, 3),
                 1 + random_draw(w, 2), 1 + random_draw(w, 60));
    snprintf(x.place, sizeof x.place, "%s",
             places[is_urgent || random_one_of(w, 3) ? random_draw(w, sizeof places / sizeof *places) : 0]);
    x.walltime_s = 100 * (1 + random_draw(w, 30));
    random_world_apply(w, &x);
    return x.number;
}

static int random_job_that(struct random_world *w, bool runs)
{
    int first = w->n_jobs ? random_draw(w, w->n_jobs) : 0;

    for (int k = 0; k < w->n_jobs; k++) {
        int i = (first + k) % w->n_jobs;
        if (w->jobs[i].is_there && w->jobs[i].runs == runs)
            return i;
    }
    return -1;
}

static void random_world_end(struct random_world *w, bool runs)
{
    int i = random_job_that(w, runs);

    if (i >= 0)
        random_world_apply(w, &(struct random_event){.kind = RANDOM_END, .at_s = w->now_s, .number = i});
}

void random_world_step(struct random_world *w)
{
    int i;

    w->now_s += random_draw(w, 50);
    switch (random_draw(w, 8)) {
    case 0:
    case 1:
    case 2:
        random_world_submit(w, random_one_of(w, 8));
        break;
    case 3:
    case 4:
    case 5:
        random_world_end(w, true);
        break;
    case 6:
        random_world_end(w, false);
        break;
    default:
        i = random_draw(w, w->n_nodes);
        random_world_apply(w, &(struct random_event){.kind = RANDOM_NODE,
                                                     .at_s = w->now_s,
                                                     .number = i,
                                                     .is_down = !w->nodes[i].is_down && random_one_of(w, 3)});
        break;
    }
    cluster_settle(cycle_cluster(w->c));
}

void random_world_cycle(struct random_world *w, struct decisions *d)
{
    struct decisions answers = {0};

    random_note(w, &(struct random_event){.kind = RANDOM_CYCLE, .at_s = w->now_s});
    cycle_run(w->c, w->now_s, d);
    for (size_t i = 0; i < d->n; i++) {
        const struct decision *x = &d->a[i];
        if (x->kind == DECIDE_RUN) {
            cycle_answer_order(w->c, x->job, 0, "", &answers);
            random_start(w, atoi(x->job), x->text);
        } else if (x->kind == DECIDE_PREEMPT) {
            cycle_answer_plan(w->c, x->job, 0, "", &answers);
            for (size_t k = 0; k < x->n_names; k++)
                random_stop(w, atoi(x->names[k]));
            random_start(w, atoi(x->job), x->text);
        } else if (x->kind == DECIDE_TOP)
            w->jobs[atoi(x->job)].told_s = x->at_s;
    }
    decisions_fini(&answers);
    cluster_settle(cycle_cluster(w->c));
}

/* --- creation ------------------------------------------------------------------------------------------------ */

static void random_draw_policy(struct random_world *w)
{
    policy_init(&w->policy);
    policy_attribute(&w->policy, "preempt_order", "R", &(struct err){0});
    w->policy.strict_ordering = random_one_of(w, 2);
    w->policy.by_queue = random_one_of(w, 2);
    w->depth = random_draw(w, 6);
    w->has_sets = random_one_of(w, 4);
    w->policy.no_spanning = random_one_of(w, 2);
    w->user_limit = random_one_of(w, 4) ? 2 + random_draw(w, 4) : 0;
    w->soft_limit = random_one_of(w, 4) ? 1 + random_draw(w, 4) : 0;
    if (w->soft_limit)
        policy_attribute(&w->policy, "preempt_prio", "express_queue, normal_jobs, server_softlimits",
                         &(struct err){0});
}

static void random_draw_nodes(struct random_world *w)
{
    w->has_hosts = random_one_of(w, 4);
    w->n_nodes = 2 + random_draw(w, random_one_of(w, 4) ? RANDOM_NODES_MAX - 2 : 16);
    for (int i = 0; i < w->n_nodes; i++)
        w->nodes[i] = (struct random_node){.ncpus = 1 + random_draw(w, 6),
                                           .mem_kb = 20 + random_draw(w, 100),
                                           .host = w->has_hosts ? i / 2 : i,
                                           .colour = random_draw(w, COLOURS),
                                           .is_down = random_one_of(w, 12),
                                           .is_excl = random_one_of(w, 16)};
    w->n_resvs = random_one_of(w, 3) ? 1 + random_draw(w, RANDOM_RESVS_MAX) : 0;
    for (int i = 0; i < w->n_resvs; i++) {
        struct random_resv *r = &w->resvs[i];
        r->from_s = BEGIN_S + 4000 + random_draw(w, 2000) + 5000 * i; /* none overlap */
        r->to_s = r->from_s + 100 + random_draw(w, 1000);
        r->first = random_draw(w, w->n_nodes);
        r->n = 1 + random_draw(w, w->n_nodes - r->first);
    }
}

/* Nothing is told yet. */
static struct random_world *random_world_draw(uint64_t seed)
{
    struct random_world *w = mem_new(1, sizeof *w);

    w->first_seed = seed;
    w->seed = seed * 2654435761u + 1;
    w->now_s = BEGIN_S;
    random_draw_policy(w);
    w->c = cycle_create("default", &w->policy);
    random_draw_nodes(w);
    return w;
}

struct random_world *random_world_create(uint64_t seed)
{
    struct random_world *w = random_world_draw(seed);
    struct decisions d = {0};

    random_world_tell(w, w->c);
    for (int i = 0, n = 10 + random_draw(w, 5 * w->n_nodes); i < n; i++)
        random_world_submit(w, false);
    cluster_settle(cycle_cluster(w->c));
    random_world_cycle(w, &d);
    decisions_fini(&d);
    return w;
}

struct random_world *random_world_again(const struct random_world *like)
{
    struct random_world *w = random_world_draw(like->first_seed);

    for (int i = 0; i < w->n_nodes; i++)
        w->nodes[i].is_away = like->nodes[i].is_away;
    for (int i = 0; i < w->n_resvs; i++)
        w->resvs[i].n = like->resvs[i].n;
    random_world_tell(w, w->c);
    return w;
}

void random_world_destroy(struct random_world *w)
{
    cycle_destroy(w->c);
    policy_fini(&w->policy);
    free(w->events);
    free(w);
}
