#ifndef RANDOM_WORLD_H
#define RANDOM_WORLD_H
/* Small worlds at random, for tests that compare two ways to the same decision, or look for what must never be decided.
 *
 * A seed gives the policy, vnodes (some down, some of one host), queues with limits, placement sets, reservations, and jobs, of
 * which some run. A world is kept beside the core, so that it can be told to another core from nothing at any time. */
#include <stdbool.h>
#include <stdint.h>

#include "cycle.h"

enum { RANDOM_NODES_MAX = 64, RANDOM_JOBS_MAX = 400, RANDOM_PARTS_MAX = 128, RANDOM_RESVS_MAX = 4 };

struct random_part { /* of a running job */
    int node, ncpus, mem_kb;
};

struct random_job {
    bool is_there, is_urgent, runs;
    int user, n_parts;
    int64_t walltime_s, start_s, run_version;
    int64_t told_s; /* when it will begin, as it was told last; 0: it is not a top job */
    char select[128], place[32];
    struct random_part parts[RANDOM_PARTS_MAX];
};

struct random_node {
    int ncpus, mem_kb, host, colour;
    bool is_down, is_excl, is_away; /* away: not told of at all */
};

struct random_resv {
    int64_t from_s, to_s;
    int first, n; /* vnodes, whole; 0: there is no such reservation */
};

enum random_event_kind { RANDOM_SUBMIT, RANDOM_END, RANDOM_NODE, RANDOM_CYCLE };

struct random_event { /* what has happened */
    enum random_event_kind kind;
    int64_t at_s;
    int number; /* of the job or vnode */
    bool is_urgent, is_down;
    int user;
    int64_t walltime_s;
    char select[128], place[32];
};

struct random_world {
    uint64_t seed, first_seed;
    struct policy policy;
    struct cycle *c;
    int64_t now_s;
    int n_nodes, n_jobs, n_resvs, depth, user_limit, soft_limit;
    bool has_sets, has_hosts;
    struct random_node nodes[RANDOM_NODES_MAX];
    struct random_job jobs[RANDOM_JOBS_MAX];
    struct random_resv resvs[RANDOM_RESVS_MAX];
    struct random_event *events; /* all of them, in order */
    size_t n_events, cap_events;
};

struct random_world *random_world_create(uint64_t seed); /* for tests */
void random_world_destroy(struct random_world *w);       /* for tests */

/* For tests: policy, vnodes and reservations of another world as they were at its beginning, without those that are away; nothing has
 * happened yet. */
struct random_world *random_world_again(const struct random_world *like);
/* For tests: what happened in another world, but a cycle, happens here too, as far as it can. */
void random_world_apply(struct random_world *w, const struct random_event *x);

/* For tests: tell a core that knows nothing all of it, and settle. */
void random_world_tell(const struct random_world *w, struct cycle *c);

/* For tests: one more job waits. Its number, or -1, there are enough. */
int random_world_submit(struct random_world *w, bool is_urgent);

/* For tests: something happens. Time passes, a job comes, ends or is deleted, a vnode goes down or comes back. The core is told. */
void random_world_step(struct random_world *w);

/* For tests: one cycle, and what it decides is done at once, jobs run and victims are queued again. `d` has the decisions; the
 * caller's. */
void random_world_cycle(struct random_world *w, struct decisions *d);

#endif
