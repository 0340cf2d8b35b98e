/* One watch for each connection, and on it question and answer by turns: never two questions at once. An
 * answer that has not caught up is only taken in and the next question follows by itself; the one that has is
 * settled and told to the owner, which polls again when its orders are answered.
 *
 * After a lost connection nothing is trusted: the cluster is emptied and everything is read again. The same
 * happens when a resource turns out to be another than it was taken for. Wakes that come before the stream
 * has caught up are kept until then. */
#include "mirror.h"

#include <assert.h>
#include <stdlib.h>

#include "sched_link.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "sched_cluster.h"
#include "cluster_gone.h"
#include "cluster_change.h"
#include "cluster_settle.h"

struct mirror {
    struct sched_link *link;
    struct cluster *cl;
    struct mirror_events events;
    unsigned watch;
    struct pbs_cursor cursor;
    bool asked, whole, relevant;
    struct pbs_wake *wakes; /* that came before the stream had caught up */
    size_t n_wakes, cap_wakes;
    struct mirror_unlisted { /* jobs that are asked about and not submitted: kept as the wakes are */
        unsigned answer;
        struct attrl *attrs;
    } * unlisted;
    size_t n_unlisted, cap_unlisted;
};

static_assert((int)CLUSTER_KIND_COUNT == (int)PBS_KIND_COUNT, "kinds are numbered alike");

/* What the core reads, kind by kind: the names in the rows of its decoders (sched_job.c, sched_node.c,
 * sched_queue.c, sched_resv.c, policy.c). An attribute that is not named here never comes. */
static const char *const job_names[] = {"job_state",
                                        "substate",
                                        "queue",
                                        "euser",
                                        "egroup",
                                        "project",
                                        "Priority",
                                        "queue_rank",
                                        "qtime",
                                        "stime",
                                        "ptime",
                                        "run_version",
                                        "schedselect",
                                        "exec_vnode",
                                        "reserve_ID",
                                        "comment",
                                        "array",
                                        "Rerunable",
                                        "room_held",
                                        "resources_released",
                                        "gives_way",
                                        "preempt_failed",
                                        "preempt_methods",
                                        "preempt_count",
                                        "preempt_method",
                                        "Checkpoint",
                                        "checkpoint_by",
                                        "resources_used",
                                        "Resource_List",
                                        "array_id",
                                        "array_indices_remaining",
                                        "max_run_subjobs",
                                        "Account_Name",
                                        "eligible_time",
                                        "accrue_type",
                                        "paused_time",
                                        "topjob",
                                        "topjob_ineligible",
                                        NULL};
static const char *const node_names[] = {"resources_available",
                                         "resources_assigned",
                                         "resources_held",
                                         "jobs_held",
                                         "held_alone",
                                         "state",
                                         "comment",
                                         "sharing",
                                         "Priority",
                                         "last_used_time",
                                         "queue",
                                         "partition",
                                         "no_multinode_jobs",
                                         "max_running",
                                         "max_user_run",
                                         "max_group_run",
                                         "resv_enable",
                                         NULL};
static const char *const resv_names[] = {"reserve_state",
                                         "reserve_substate",
                                         "reserve_start",
                                         "reserve_end",
                                         "reserve_duration",
                                         "Resource_List",
                                         "schedselect",
                                         "queue",
                                         "resv_nodes",
                                         "reserve_starts",
                                         "reserve_execvnodes",
                                         "reserve_index",
                                         "reserve_first",
                                         "reserve_standing_revert",
                                         "reserve_count",
                                         "reserve_retry",
                                         "partition",
                                         "qmove",
                                         NULL};
#define RUN_LIMITS                                                                                           \
    "max_run", "max_run_soft", "max_run_res", "max_run_res_soft", "max_running", "max_user_run",             \
        "max_user_run_soft", "max_group_run", "max_group_run_soft", "max_user_res", "max_user_res_soft",     \
        "max_group_res", "max_group_res_soft"
static const char *const queue_names[] = {"backfill_depth",
                                          "preempt_order",
                                          "preempt_exempt_time",
                                          "preempt_max_count",
                                          "preempt_budget",
                                          "preempt_ledger",
                                          "preemptable_by",
                                          "preempt_methods_enable",
                                          "gang",
                                          "gang_timeslice",
                                          "queue_type",
                                          "Priority",
                                          "started",
                                          "partition",
                                          "resources_available",
                                          "node_group_key",
                                          RUN_LIMITS,
                                          NULL};
static const char *const server_names[] = {"backfill_depth",
                                           "restrict_res_to_release_on_suspend",
                                           "resources_available",
                                           "eligible_time_enable",
                                           "node_group_enable",
                                           "node_group_key",
                                           "job_sort_formula",
                                           RUN_LIMITS,
                                           NULL};
static const char *const sched_names[] = {"preempt_sort",        "sched_preempt_enforce_resumption",
                                          "do_not_span_psets",   "server_dyn_res_alarm",
                                          "only_explicit_psets", "opt_backfill_fuzzy",
                                          "gang_timeslice",      "preempt_for_resv",
                                          "preempt_wait",        "preempt_exempt_time",
                                          "preempt_max_count",   "preempt_budget",
                                          "preempt_order",       "preempt_prio",
                                          "preempt_queue_prio",  "preempt_targets_enable",
                                          "scheduling",          "scheduler_iteration",
                                          "sched_cycle_length",  "attr_update_period",
                                          "job_run_wait",        "log_events",
                                          "partition",           "sched_priv",
                                          "job_sort_formula",    "job_sort_formula_threshold",
                                          "sched_log",           NULL};
static const char *const resource_names[] = {"type", "flag", NULL};

static const struct {
    enum pbs_kind kind;
    const char *const *names;
} wanted[] = {{PBS_KIND_RESOURCE, resource_names},
              {PBS_KIND_SCHED, sched_names},
              {PBS_KIND_SERVER, server_names},
              {PBS_KIND_QUEUE, queue_names},
              {PBS_KIND_NODE, node_names},
              {PBS_KIND_RESV, resv_names},
              {PBS_KIND_JOB, job_names}};
enum { N_WANTED = sizeof wanted / sizeof *wanted };

static void mirror_forget_wakes(struct mirror *m);

struct mirror *mirror_create(struct sched_link *k, struct cluster *cl, const struct mirror_events *events)
{
    struct mirror *m = mem_new(1, sizeof *m);

    m->link = k;
    m->cl = cl;
    m->events = *events;
    return m;
}

void mirror_destroy(struct mirror *m)
{
    if (!m)
        return;
    mirror_forget_wakes(m);
    free(m->unlisted);
    free(m->wakes);
    free(m);
}

bool mirror_is_whole(const struct mirror *m)
{
    return m->whole;
}

/* As libpbs wants a list of names; heap, freed by free_list. */
static struct attrl *names_as_list(const char *const *names)
{
    struct attrl *first = NULL, **last = &first;

    for (; *names; names++) {
        *last = mem_new(1, sizeof **last);
        (*last)->name = mem_text(*names);
        (*last)->resource = mem_text("");
        (*last)->value = mem_text("");
        last = &(*last)->next;
    }
    return first;
}

static void free_list(struct attrl *a)
{
    while (a) {
        struct attrl *next = a->next;
        free(a->name);
        free(a->resource);
        free(a->value);
        free(a);
        a = next;
    }
}

/* --- jobs that are not submitted --------------------------------------------------------------------- */

/* The attributes are the reader's for the call, so they are copied until the wake that asks about them is
 * handled. */
static void mirror_keep_unlisted(struct mirror *m, unsigned answer, const struct attrl *from)
{
    struct mirror_unlisted *x;
    struct attrl **last;

    m->unlisted = mem_room(m->unlisted, m->n_unlisted, &m->cap_unlisted, sizeof *m->unlisted);
    x = &m->unlisted[m->n_unlisted++];
    *x = (struct mirror_unlisted){.answer = answer};
    last = &x->attrs;
    for (; from; from = from->next, last = &(*last)->next) {
        *last = mem_new(1, sizeof **last);
        (*last)->name = mem_text(from->name);
        (*last)->resource = mem_text(from->resource ? from->resource : "");
        (*last)->value = mem_text(from->value ? from->value : "");
    }
}

const struct attrl *mirror_unlisted(const struct mirror *m, unsigned answer)
{
    for (size_t i = 0; i < m->n_unlisted; i++)
        if (m->unlisted[i].answer == answer)
            return m->unlisted[i].attrs;
    return NULL;
}

static void mirror_forget_wakes(struct mirror *m)
{
    m->n_wakes = 0;
    while (m->n_unlisted > 0)
        free_list(m->unlisted[--m->n_unlisted].attrs);
}

/* --- what comes in ----------------------------------------------------------------------------------- */

/* The server sends everything from the beginning: what it has dropped meanwhile is not told. */
static void mirror_restart(void *arg)
{
    struct mirror *m = arg;

    cluster_gone_all(m->cl);
    m->relevant = true;
}

static void mirror_change(const struct pbs_change *ch, void *arg)
{
    struct mirror *m = arg;
    enum cluster_kind kind = (enum cluster_kind)ch->kind;

    sched_link_sign(m->link); /* there may be a million of them */
    if (ch->kind == PBS_KIND_UNLISTED)
        mirror_keep_unlisted(m, (unsigned)ch->number, ch->attribs);
    else if (ch->gone)
        m->relevant |= cluster_gone(m->cl, kind, ch->name);
    else
        m->relevant |= cluster_change(m->cl, kind, ch->name, ch->attribs);
}

/* From number 0: every object comes. */
static void begin_again(struct mirror *m)
{
    m->cursor = (struct pbs_cursor){0};
    m->relevant = true;
    mirror_next(m);
}

static void keep_wakes(struct mirror *m, const struct pbs_news *news)
{
    for (size_t i = 0; i < news->n_wakes; i++) {
        m->wakes = mem_room(m->wakes, m->n_wakes, &m->cap_wakes, sizeof *m->wakes);
        m->wakes[m->n_wakes++] = news->wakes[i];
    }
}

uint64_t mirror_seen(const struct mirror *m)
{
    return m->cursor.number;
}

const struct pbs_wake *mirror_wakes(const struct mirror *m, size_t *n)
{
    *n = m->n_wakes;
    return m->wakes;
}

/* One answer: taken in, and if it is the last portion, settled and told. `whole` is false until then. */
static void mirror_answered(void *arg, int c, int ticket)
{
    struct mirror *m = arg;
    struct pbs_news news;
    struct pbs_watch_reader reader = {.restart = mirror_restart, .change = mirror_change, .arg = m};

    m->asked = false;
    m->whole = false;
    int rc = pbs_watch_next_recv(c, ticket, &reader, &news);
    if (rc != 0) {
        log_event(LOGC_SVR, LOGE_SYSTEM, "mirror", "the stream of changes ended (%d)", rc);
        sched_link_fail(m->link);
        return;
    }
    m->cursor = news.cursor;
    keep_wakes(m, &news);
    if (!news.caught_up) {
        mirror_next(m);
        return;
    }
    if (!cluster_settle(m->cl)) {
        log_event(LOGC_SCHED, LOGE_DEBUG, "mirror", "a resource has changed: everything is read again");
        cluster_gone_all(m->cl);
        begin_again(m);
        return;
    }
    m->whole = true;
    bool relevant = m->relevant;
    m->relevant = false;
    m->events.news(m->events.arg, news.now_ns, relevant);
    mirror_forget_wakes(m);
}

void mirror_next(struct mirror *m)
{
    int c = sched_link_connection(m->link);

    if (m->asked || c < 0)
        return;
    m->asked = true;
    sched_link_await(m->link, pbs_watch_next_send(c, m->watch, m->cursor), mirror_answered, m);
}

void mirror_stop(struct mirror *m)
{
    m->asked = m->whole = false;
    mirror_forget_wakes(m);
}

/* pbs_watch waits for the server: it is one short call right after registering. */
void mirror_start(struct mirror *m)
{
    int c = sched_link_connection(m->link);
    struct pbs_watch_want wants[N_WANTED];

    for (size_t i = 0; i < N_WANTED; i++)
        wants[i] = (struct pbs_watch_want){.kind = wanted[i].kind, .attribs = names_as_list(wanted[i].names)};
    int rc = pbs_watch(c, wants, N_WANTED, NULL, &m->watch);
    for (size_t i = 0; i < N_WANTED; i++)
        free_list(wants[i].attribs);
    m->asked = m->whole = false;
    if (rc != 0) {
        const char *text = pbs_geterrmsg(c);
        log_event(LOGC_SVR, LOGE_ERROR, "mirror", "cannot watch the server: %s (%d)", text ? text : "", rc);
        sched_link_fail(m->link);
        return;
    }
    cluster_gone_all(m->cl);
    begin_again(m);
}
