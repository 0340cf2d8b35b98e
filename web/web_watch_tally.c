/* A job that starts has another stime than before: its wait is stime less etime. One that was preempted has a greater preempt_count,
 * and its method; what that destroyed is preempt_rules_loss of the run as it was last seen. The stream tells the newest state only, so
 * a job that starts and ends between two looks is seen where history is kept, and else is not counted.
 * A job that was giving way and is gone was deleted for it. */
#include "web_watch_tally.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "attrs.h"
#include "json_out.h"
#include "preempt_method.h"
#include "preempt_rules.h"

const double web_watch_bounds[WEB_WATCH_BUCKETS] = {1,    5,        15,        60,    300,       900,
                                                    3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400};
const char web_watch_letters[WEB_WATCH_METHODS + 1] = "SCQDP";

/* A preemption that has happened, or that a job which gives way is about to suffer. */
struct web_tally_record {
    char job[PBS_MAXSVRJOBID + 1], by[PBS_MAXSVRJOBID + 1], user[PBS_MAXUSER + 1],
        queue[PBS_MAXQUEUENAME + 1];
    char method;
    int64_t at_s;
    double lost_core_s;
};

struct web_tally_job {
    UT_hash_handle hh;
    struct web_tally_record *draft; /* while it gives way */
    int64_t start_s, paused_s, count;
    int32_t cores;
    bool suspended;
    char id[];
};

struct web_tally {
    struct web_tally_job *jobs;
    struct web_tally_record past[WEB_WATCH_PREEMPTIONS]; /* a ring */
    uint64_t n_past;
};

struct web_tally *web_tally_create(void)
{
    return calloc(1, sizeof(struct web_tally));
}

static void web_tally_free(struct web_tally_job *j)
{
    free(j->draft);
    free(j);
}

void web_tally_restart(struct web_tally *t)
{
    struct web_tally_job *j, *next;

    HASH_ITER(hh, t->jobs, j, next)
    {
        HASH_DEL(t->jobs, j);
        web_tally_free(j);
    }
}

void web_tally_destroy(struct web_tally *t)
{
    if (!t)
        return;
    web_tally_restart(t);
    free(t);
}

static int64_t web_tally_number(const struct attrl *a, const char *name, const char *resource)
{
    const char *text = attrs_value(a, name, resource);

    return text ? strtoll(text, NULL, 10) : 0;
}

static bool web_tally_is_true(const struct attrl *a, const char *name)
{
    const char *text = attrs_value(a, name, NULL);

    return text && strcmp(text, "True") == 0;
}

static void web_tally_started(const struct attrl *a, int64_t start_s, struct web_watch_counts *c)
{
    int64_t from_s = web_tally_number(a, ATTR_etime, NULL);
    double wait_s;
    int i = 0;

    if (!from_s)
        from_s = web_tally_number(a, ATTR_qtime, NULL);
    if (!from_s)
        return;
    wait_s = start_s > from_s ? (double)(start_s - from_s) : 0;
    while (i < WEB_WATCH_BUCKETS && wait_s > web_watch_bounds[i])
        i++;
    c->waits[i]++;
    c->waits_sum_s += wait_s;
}

static void web_tally_fill(struct web_tally_record *r, const char *id, const struct attrl *a)
{
    const char *by = attrs_value(a, "preempted_by", NULL), *queue = attrs_value(a, ATTR_queue, NULL),
               *owner = attrs_value(a, ATTR_owner, NULL);

    snprintf(r->job, sizeof r->job, "%s", id);
    snprintf(r->by, sizeof r->by, "%s", by ? by : "");
    snprintf(r->queue, sizeof r->queue, "%s", queue ? queue : "");
    snprintf(r->user, sizeof r->user, "%.*s", owner ? (int)strcspn(owner, "@") : 0, owner ? owner : "");
}

/* The run as it was before is what a method has destroyed or kept. */
static void web_tally_preempted(struct web_tally *t, const struct web_tally_job *before,
                                struct web_tally_record *r, struct web_watch_counts *c)
{
    const char *at = r->method ? strchr(web_watch_letters, r->method) : NULL;
    char code[2] = {r->method, '\0'};
    struct preempt_facts f = {.start_s = before->start_s,
                              .paused_s = before->paused_s,
                              .suspended = before->suspended,
                              .cores = before->cores};

    if (!at)
        return;
    if (before->start_s)
        r->lost_core_s =
            preempt_rules_loss(&f, preempt_result_method(preempt_method_result_of_code(code)), r->at_s);
    c->preemptions[at - web_watch_letters]++;
    c->lost_core_s[at - web_watch_letters] += r->lost_core_s;
    t->past[t->n_past++ % WEB_WATCH_PREEMPTIONS] = *r;
}

void web_tally_preemptions(const struct web_tally *t, struct json_out *j)
{
    for (uint64_t i = t->n_past > WEB_WATCH_PREEMPTIONS ? t->n_past - WEB_WATCH_PREEMPTIONS : 0;
         i < t->n_past; i++) {
        const struct web_tally_record *r = &t->past[i % WEB_WATCH_PREEMPTIONS];
        char text[32] = {r->method};

        json_out_open(j, NULL, '{');
        json_out_string(j, "job", r->job);
        json_out_string(j, "user", r->user);
        json_out_string(j, "queue", r->queue);
        json_out_string(j, "for", r->by);
        json_out_string(j, "method", text);
        json_out_number(j, "at", r->at_s);
        snprintf(text, sizeof text, "%.0f", r->lost_core_s);
        json_out_any(j, "lost_core_seconds", text);
        json_out_close(j, '}');
    }
}

static struct web_tally_job *web_tally_find(struct web_tally *t, const char *id, bool *is_new)
{
    struct web_tally_job *j;
    size_t n = strlen(id);

    HASH_FIND_STR(t->jobs, id, j);
    *is_new = !j;
    if (j)
        return j;
    j = calloc(1, sizeof *j + n + 1);
    if (!j)
        return NULL; /* it is not counted then; nothing depends on it */
    memcpy(j->id, id, n + 1);
    HASH_ADD_STR(t->jobs, id, j);
    return j;
}

void web_tally_job(struct web_tally *t, const char *id, const struct attrl *a, bool is_news,
                   struct web_watch_counts *c)
{
    const char *state = attrs_value(a, ATTR_state, NULL), *method = attrs_value(a, "preempt_method", NULL);
    int64_t start_s = web_tally_number(a, ATTR_stime, NULL),
            count = web_tally_number(a, "preempt_count", NULL);
    int64_t at_s = web_tally_number(a, "preempt_time", NULL);
    bool is_new;
    struct web_tally_job *j = web_tally_find(t, id, &is_new);

    if (!j)
        return;
    if (is_news || !is_new) {
        if (count > j->count) {
            struct web_tally_record r = {.method = method ? *method : '\0', .at_s = at_s};

            web_tally_fill(&r, id, a);
            web_tally_preempted(t, j, &r, c);
        }
        if (start_s && start_s != j->start_s)
            web_tally_started(a, start_s, c);
    }
    j->start_s = start_s;
    j->count = count;
    j->paused_s = web_tally_number(a, "paused_time", NULL);
    j->cores = (int32_t)web_tally_number(a, ATTR_l, "ncpus");
    j->suspended = state && *state == 'S';
    if (!web_tally_is_true(a, "gives_way")) {
        free(j->draft);
        j->draft = NULL;
    } else if (j->draft || (j->draft = calloc(1, sizeof *j->draft))) {
        web_tally_fill(j->draft, id, a);
    }
    c->jobs = HASH_COUNT(t->jobs);
}

void web_tally_gone(struct web_tally *t, const char *id, int64_t now_s, struct web_watch_counts *c)
{
    struct web_tally_job *j;

    HASH_FIND_STR(t->jobs, id, j);
    if (!j)
        return;
    if (j->draft) {
        j->draft->method = 'D';
        j->draft->at_s = now_s;
        web_tally_preempted(t, j, j->draft, c);
    }
    HASH_DEL(t->jobs, j);
    web_tally_free(j);
    c->jobs = HASH_COUNT(t->jobs);
}
