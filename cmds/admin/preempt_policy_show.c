/* Settings are shown as they are; their effect is computed by the rules that server and scheduler apply: a queue's
 * level by its Priority alone (soft limits and shares change the level of single jobs, which is mentioned), a queue's
 * own value before that of its scheduler. */
#include "preempt_policy_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "cmd.h"
#include "json_out.h"
#include "preempt_attribs.h"
#include "api_error.h"
#include "words.h"

static const struct preempt_policy_show_rule {
    const char *name, *meaning;
} sched_rules[] = {{"partition", "whose queues it serves"},
                   {"preempt_prio", "levels, from high to low; only a lower one is preempted"},
                   {"preempt_queue_prio", "a queue of at least this Priority is an express queue"},
                   {"preempt_order", "methods, tried from left to right, by share of time left"},
                   {"preempt_sort", "which job of a level is preempted first"},
                   {"preempt_wait", "no job is preempted where enough jobs end within this time"},
                   {"preempt_exempt_time", "a job runs undisturbed that long after each start"},
                   {"preempt_max_count", "a job preempted so often is not preempted again"},
                   {"preempt_budget", "core-hours a queue's jobs may destroy in an hour"},
                   {"preempt_grace", "notice that long before C, R or D"},
                   {"preempt_grace_max", "how far after its notice a job may put that off"}},
  queue_rules[] = {{"partition", "which scheduler serves it"},
                   {"Priority", "compare preempt_queue_prio"},
                   {"preempt_order", "methods for jobs of this queue; none: never"},
                   {"preempt_exempt_time", "a job of it runs undisturbed that long after each start"},
                   {"preempt_max_count", "a job preempted so often is not preempted again"},
                   {"preempt_budget", "core-hours a queue's jobs may destroy in an hour"},
                   {"preempt_grace", "notice that long before C, R or D"},
                   {"preempt_grace_max", "how far after its notice a job may put that off"},
                   {"preemptable_by", "whose jobs may preempt those of this queue"},
                   {"preempt_methods_enable", "True: a job may narrow what is done to it (preempt_methods)"}};

struct preempt_policy_show {
    const struct batch_status *scheds, *queues; /* of all */
    bool json;
    struct json_out out;
};

static const char *preempt_policy_show_value(const struct batch_status *b, const char *name)
{
    return b ? attrs_value(b->attribs, name, NULL) : NULL;
}

static bool preempt_policy_show_is_true(const struct batch_status *b, const char *name)
{
    const char *text = preempt_policy_show_value(b, name);

    return text && strcmp(text, "True") == 0;
}

static bool has_word(const char *list, const char *word)
{
    struct words w;
    struct err e;
    bool found = false;

    words_init(&w);
    if (list && words_parse_commas(list, &w, &e) == 0)
        for (size_t i = 0; i < w.n; i++)
            found |= strcmp(w.w[i], word) == 0;
    words_fini(&w);
    return found;
}

/* --- who ---------------------------------------------------------------------------------------------------- */

const struct batch_status *preempt_policy_show_sched_of(const struct batch_status *scheds,
                                                        const struct batch_status *queue)
{
    const char *partition = preempt_policy_show_value(queue, "partition");

    for (; scheds; scheds = scheds->next) {
        const char *served = preempt_policy_show_value(scheds, "partition");

        if (partition ? has_word(served, partition) : strcmp(scheds->name, "default") == 0)
            return scheds;
    }
    return NULL;
}

/* Return the level of a job of this queue that is over no soft limit and no share. */
static int level(const struct preempt_settings *queue, const struct preempt_settings *sched,
                 const struct preempt_prio *prio)
{
    return preempt_order_prio_value(prio, preempt_rules_is_express(queue, sched) ? PRIO_EXPRESS : PRIO_NORMAL,
                                    queue->priority);
}

static bool may_preempt(const struct preempt_policy_show *s, const struct batch_status *urgent,
                        const struct batch_status *victim)
{
    const struct batch_status *sched = preempt_policy_show_sched_of(s->scheds, victim);
    const char *text = preempt_policy_show_value(sched, "preempt_prio"),
               *type = preempt_policy_show_value(urgent, "queue_type");
    struct preempt_settings of_victim, of_urgent, of_sched;
    struct preempt_prio prio;

    preempt_attribs_settings(victim, PREEMPT_ATTRIBS_QUEUE, &of_victim);
    preempt_attribs_settings(urgent, PREEMPT_ATTRIBS_QUEUE, &of_urgent);
    preempt_attribs_settings(sched, PREEMPT_ATTRIBS_SCHED, &of_sched);
    if (!sched || sched != preempt_policy_show_sched_of(s->scheds, urgent) || (type && type[0] == 'R') ||
        of_victim.never ||
        preempt_order_parse_prio(text ? text : "express_queue, normal_jobs", &prio, NULL) < 0)
        return false;
    return level(&of_urgent, &of_sched, &prio) > level(&of_victim, &of_sched, &prio) &&
           preempt_rules_is_preemptable_by(&of_victim, &of_urgent, &of_sched);
}

/* Return true if single jobs may have other levels than their queue. */
static bool levels_move(const struct batch_status *sched)
{
    const char *text = preempt_policy_show_value(sched, "preempt_prio");

    return text && (strstr(text, "softlimits") || strstr(text, "fairshare"));
}

enum whom { OVER_IT, BELOW_IT };

static void show_who(struct preempt_policy_show *s, const struct batch_status *queue, enum whom whom)
{
    size_t n = 0;

    if (s->json)
        json_out_open(&s->out, whom == OVER_IT ? "preempted_by" : "preempts", '[');
    else
        printf("      %-22s ", whom == OVER_IT ? "its jobs give way to" : "its jobs may stop");
    for (const struct batch_status *other = s->queues; other; other = other->next) {
        if (whom == OVER_IT ? !may_preempt(s, other, queue) : !may_preempt(s, queue, other))
            continue;
        if (s->json)
            json_out_string(&s->out, NULL, other->name);
        else
            printf("%s%s", n ? ", " : "jobs of queue ", other->name);
        n++;
    }
    if (s->json)
        json_out_close(&s->out, ']');
    else
        puts(n ? "" : "nobody");
}

/* --- how ---------------------------------------------------------------------------------------------------- */

static void show_method(struct preempt_policy_show *s, const char *head, const struct preempt_method_row *m)
{
    char letter[2] = {m->letter, '\0'};

    if (!s->json) {
        printf("      %-22s %c  %s\n", head, m->letter, m->meaning);
        return;
    }
    json_out_open(&s->out, NULL, '{');
    json_out_string(&s->out, "letter", letter);
    json_out_any(&s->out, "stays_in_memory", m->keeps_memory ? "true" : "false");
    json_out_string(&s->out, "meaning", m->meaning);
    json_out_close(&s->out, '}');
}

static void show_group(struct preempt_policy_show *s, int above, const struct preempt_methods *l, bool only)
{
    char head[64] = "methods";

    if (s->json) {
        json_out_open(&s->out, NULL, '{');
        json_out_number(&s->out, "above_percent_left", above < 0 ? 0 : above);
        json_out_open(&s->out, "methods", '[');
    } else if (!only) {
        snprintf(head, sizeof head, above < 0 ? "else" : "over %d%% of time left", above);
    }
    for (unsigned i = 0; i < l->n; i++)
        show_method(s, i ? "" : head, preempt_method_row((enum method_id)l->m[i]));
    if (s->json) {
        json_out_close(&s->out, ']');
        json_out_close(&s->out, '}');
    }
}

static void show_methods(struct preempt_policy_show *s, const struct batch_status *queue,
                         const struct batch_status *sched)
{
    struct preempt_settings of_queue, of_sched;
    const struct preempt_order *o;

    preempt_attribs_settings(queue, PREEMPT_ATTRIBS_QUEUE, &of_queue);
    preempt_attribs_settings(sched, PREEMPT_ATTRIBS_SCHED, &of_sched);
    o = of_queue.order.n || of_queue.never ? &of_queue.order : &of_sched.order;
    if (s->json)
        json_out_open(&s->out, "by_time_left", '[');
    else if (of_queue.never)
        printf("      %-22s none, they are never preempted\n", "methods");
    for (size_t i = 0; i < o->n; i++)
        show_group(s, o->group[i].above, &o->group[i].methods, o->n == 1);
    if (s->json)
        json_out_close(&s->out, ']');
}

/* --- what the job is told, and may say ---------------------------------------------------------------------- */

static const char *granted(const struct batch_status *queue, const struct batch_status *sched,
                           const char *name)
{
    const char *own = preempt_policy_show_value(queue, name),
               *text = own ? own : preempt_policy_show_value(sched, name);

    return text && strcmp(text, "00:00:00") != 0 && strcmp(text, "0") != 0 ? text : NULL;
}

/* grace: the notice that a job gets, NULL: none. most: what a job may put it off to, NULL: it may not. narrows: a job
 * may choose among the methods. */
static void write_notice(struct json_out *out, const char *grace, const char *most, bool narrows)
{
    grace = grace ? grace : "0";
    json_out_string(out, "notice", grace);
    json_out_string(out, "notice_at_most", most ? most : grace);
    json_out_open(out, "job_may_choose", '[');
    if (narrows)
        json_out_string(out, NULL, "preempt_methods");
    if (strcmp(grace, "0") != 0)
        json_out_string(out, NULL, "preempt_signal");
    json_out_close(out, ']');
}

static void print_notice(const char *grace, const char *most, bool narrows)
{
    printf("      %-22s ", "notice");
    if (most)
        printf("%s before C, R or D; a job may put that off to %s after it\n", grace, most);
    else
        printf("%s%s\n", grace ? grace : "none", grace ? " before C, R or D" : "");
    printf("      %-22s %s%s%s\n", "a job may choose",
           narrows ? "which of the methods (preempt_methods)" : "", narrows && grace ? ", " : "",
           grace     ? "the signal of its notice (preempt_signal)"
           : narrows ? ""
                     : "nothing");
}

static void show_notice(struct preempt_policy_show *s, const struct batch_status *queue,
                        const struct batch_status *sched)
{
    const char *grace = granted(queue, sched, "preempt_grace");
    const char *most = grace ? granted(queue, sched, "preempt_grace_max") : NULL;
    bool narrows = preempt_policy_show_is_true(queue, "preempt_methods_enable");

    if (s->json)
        write_notice(&s->out, grace, most, narrows);
    else
        print_notice(grace, most, narrows);
}

static void show_in_force(struct preempt_policy_show *s, const struct batch_status *queue)
{
    const struct batch_status *sched = preempt_policy_show_sched_of(s->scheds, queue);
    const char *type = preempt_policy_show_value(queue, "queue_type");

    if (type && type[0] == 'R')
        return; /* no job runs from a routing queue */
    if (s->json) {
        json_out_open(&s->out, "in_force", '{');
        json_out_string(&s->out, "scheduler", sched ? sched->name : "");
    } else {
        printf("    in force, by scheduler %s:\n", sched ? sched->name : "nobody");
    }
    show_who(s, queue, OVER_IT);
    show_who(s, queue, BELOW_IT);
    if (!s->json && levels_move(sched))
        printf("      %-22s soft limits and shares may move a single job to another level (preempt_prio)\n",
               "");
    show_methods(s, queue, sched);
    show_notice(s, queue, sched);
    if (s->json)
        json_out_any(&s->out, "open_to_all",
                     preempt_attribs_is_open_express(queue, sched) ? "true" : "false");
    else if (preempt_attribs_is_open_express(queue, sched))
        printf("      %-22s it takes jobs of every user, so each may preempt others (acl_user_enable)\n",
               "warning");
    if (s->json)
        json_out_close(&s->out, '}');
}

/* --- all of it ---------------------------------------------------------------------------------------------- */

static void show_rules(struct preempt_policy_show *s, const struct batch_status *b,
                       const struct preempt_policy_show_rule *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = preempt_policy_show_value(b, r[i].name);

        if (s->json && text)
            json_out_string(&s->out, r[i].name, text);
        else if (!s->json)
            printf("    %-24s %-30s %s\n", r[i].name, text ? text : "-", r[i].meaning);
    }
}

static void show_sched(struct preempt_policy_show *s, const struct batch_status *sched)
{
    if (s->json)
        json_out_open(&s->out, sched->name, '{');
    else
        printf("sched %s\n", sched->name);
    show_rules(s, sched, sched_rules, sizeof sched_rules / sizeof sched_rules[0]);
    if (s->json)
        json_out_close(&s->out, '}');
}

static void show_queue(struct preempt_policy_show *s, const struct batch_status *queue)
{
    if (s->json)
        json_out_open(&s->out, queue->name, '{');
    else
        printf("queue %s\n", queue->name);
    show_rules(s, queue, queue_rules, sizeof queue_rules / sizeof queue_rules[0]);
    show_in_force(s, queue);
    if (s->json)
        json_out_close(&s->out, '}');
}

static const struct batch_status *named(const struct batch_status *queues, const char *name)
{
    while (queues && strcmp(queues->name, name) != 0)
        queues = queues->next;
    return queues;
}

static void preempt_policy_show_all(struct preempt_policy_show *s, const struct batch_status *only)
{
    if (s->json)
        json_out_open(&s->out, "sched", '{');
    for (const struct batch_status *b = s->scheds; b; b = b->next)
        show_sched(s, b);
    if (s->json) {
        json_out_close(&s->out, '}');
        json_out_open(&s->out, "queue", '{');
    }
    for (const struct batch_status *b = s->queues; b; b = b->next)
        if (!only || b == only)
            show_queue(s, b);
    if (s->json)
        json_out_close(&s->out, '}');
}

void preempt_policy_show_json(struct json_out *j, const struct batch_status *scheds,
                              const struct batch_status *queues)
{
    struct preempt_policy_show s = {.scheds = scheds, .queues = queues, .json = true, .out = *j};

    preempt_policy_show_all(&s, NULL);
    *j = s.out;
}

int preempt_policy_show(const struct cmd_args *a, int c, const char *queue, bool json)
{
    struct batch_status *scheds = pbs_statsched(c, NULL, NULL);
    struct batch_status *queues = scheds ? pbs_statque(c, NULL, NULL, NULL) : NULL;
    struct preempt_policy_show s = {.scheds = scheds, .queues = queues, .json = json};
    const struct batch_status *only = queue ? named(queues, queue) : NULL;
    int code = 0;

    if (!scheds || !queues || (queue && !only)) {
        if (queues) /* the server reports an unknown queue */
            pbs_statfree(pbs_statque(c, queue, NULL, NULL));
        code = api_error_report(a, c, queue ? queue : "");
    } else {
        if (json)
            json_out_begin(&s.out, stdout);
        preempt_policy_show_all(&s, only);
        if (json)
            json_out_end(&s.out);
    }
    pbs_statfree(scheds);
    pbs_statfree(queues);
    return code;
}
