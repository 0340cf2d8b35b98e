/* A list of jobs is asked for in two steps where it is longer than a page: the identifiers of all that fit, then the page.
 * So the sum is exact, and a page costs the server what the page shows. Other kinds are few; they come whole, and the page is
 * cut here. Nothing here changes anything, so a call is repeated once where the connection was lost. */
#include "web_status.h"

#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "preempt_explain.h"
#include "preempt_policy_show.h"
#include "status_out.h"
#include "strbuf.h"
#include "web_call.h"
#include "web_members.h"
#include "web_pbs.h"
#include "web_watch.h"

enum { PAGE = 1000, FIELDS_MAX = 128, FIELD_MAX = 128, LIST_MAX = 8 << 20 };

/* --- what is asked for ---------------------------------------------------------------------------------------- */

/* fields=Job_Name,Resource_List.walltime as a list for a call. False: the call has the problem. */
static bool web_status_fields(struct web_call *w, struct attrs *out)
{
    const char *text = web_call_query(w, "fields");
    int n = 0;

    while (text && *text) {
        size_t len = strcspn(text, ",");
        char name[FIELD_MAX], *dot;

        if (!len || len >= sizeof name || ++n > FIELDS_MAX) {
            web_call_problem(
                w, 400, 0,
                "fields is a list of names of attributes, %d at most: Job_Name,Resource_List.walltime",
                FIELDS_MAX);
            return false;
        }
        memcpy(name, text, len);
        name[len] = '\0';
        dot = strchr(name, '.');
        if (dot)
            *dot++ = '\0';
        attrs_add(out, name, dot, "", SET);
        text += len + (text[len] == ',');
    }
    if (out->failed)
        web_call_problem(w, 503, 0, "no memory");
    return !out->failed;
}

/* Filters of jobs and the criteria that they are. */
static const struct {
    const char *query, *name;
} web_status_criteria_rows[] = {{"state", ATTR_state}, {"queue", ATTR_q},         {"user", ATTR_u},
                                {"name", ATTR_N},      {"project", ATTR_project}, {"account", ATTR_A}};

static bool web_status_criteria(struct web_call *w, struct attrs *out)
{
    for (size_t i = 0; i < sizeof web_status_criteria_rows / sizeof *web_status_criteria_rows; i++) {
        const char *value = web_call_query(w, web_status_criteria_rows[i].query);

        if (value && *value)
            attrs_add(out, web_status_criteria_rows[i].name, NULL, value, EQ);
    }
    if (out->failed)
        web_call_problem(w, 503, 0, "no memory");
    return !out->failed;
}

/* --- one object -------------------------------------------------------------------------------------------------- */

static void web_status_put(struct web_call *w, const struct batch_status *o, bool is_node)
{
    json_out_open(&w->json, NULL, '{');
    web_members_put(&w->json, o, is_node);
    json_out_close(&w->json, '}');
}

/* The whole answer is one object. */
static void web_status_one(struct web_call *w, const struct batch_status *o, bool is_node)
{
    if (!web_call_json(w))
        return;
    web_members_put(&w->json, o, is_node);
    web_call_json_end(w, 200);
}

/* --- jobs -------------------------------------------------------------------------------------------------------- */

struct web_status_page {
    struct attrs criteria, fields;
    int64_t offset, limit;
    char extend[4];
    size_t total, shown;
    bool too_much;
};

static int web_status_job_cb(const struct batch_status *job, void *arg)
{
    struct web_call *w = arg;

    web_status_put(w, job, false);
    return web_call_written(w) > WEB_ANSWER_MAX; /* the caller finds how much there is */
}

/* "1.svr,2.svr" of the page. NULL: no memory. */
static char *web_status_ids(char **ids, const struct web_status_page *p)
{
    struct strbuf list;

    strbuf_init(&list, LIST_MAX);
    for (size_t i = (size_t)p->offset; i < p->total && i < (size_t)(p->offset + p->limit); i++) {
        strbuf_add_sep(&list, ",");
        strbuf_add(&list, ids[i]);
    }
    return strbuf_take(&list);
}

static int web_status_jobs_of(struct web_call *w, int c, char **ids, struct web_status_page *p)
{
    const char *extend = *p->extend ? p->extend : NULL;
    char *list;
    int code;

    if ((p->offset && p->offset >= (int64_t)p->total) || !p->limit)
        return 0;
    if (p->offset == 0 && (int64_t)p->total <= p->limit) {
        code = pbs_selstat_each(c, p->criteria.first, attrs_attrl(&p->fields), extend, web_status_job_cb, w);
        return code ? -1 : 0;
    }
    list = web_status_ids(ids, p);
    if (!list) {
        pbs_errno = PBSE_SYSTEM;
        return -1;
    }
    code = pbs_statjob_each(c, list, attrs_attrl(&p->fields), extend, web_status_job_cb, w);
    free(list);
    return code && code != 1 && code != PBSE_UNKJOBID && code != PBSE_HISTJOBID
               ? -1
               : 0; /* jobs that have ended meanwhile are left out */
}

static int web_status_jobs_ask(struct web_call *w, int c, void *arg)
{
    struct web_status_page *p = arg;
    char **ids = pbs_selectjob(c, p->criteria.first, *p->extend ? p->extend : NULL);
    int rc;

    p->total = 0;
    if (!ids && pbs_errno)
        return -1;
    while (ids && ids[p->total])
        p->total++;
    if (!web_call_json(w)) {
        free(ids);
        return 0;
    }
    json_out_open(&w->json, "jobs", '[');
    rc = web_status_jobs_of(w, c, ids, p);
    free(ids);
    if (rc == 0)
        json_out_close(&w->json, ']');
    return rc;
}

static void web_status_page_end(struct web_call *w, const struct web_status_page *p)
{
    if (web_call_written(w) > WEB_ANSWER_MAX) {
        web_call_problem(w, 413, 0,
                         "the answer would be too long: ask for fewer jobs (limit) or attributes (fields)");
        return;
    }
    json_out_number(&w->json, "total", (long long)p->total);
    json_out_number(&w->json, "offset", p->offset);
    if (p->offset + p->limit < (int64_t)p->total)
        json_out_number(&w->json, "next", p->offset + p->limit);
    web_call_json_end(w, 200);
}

void web_status_jobs(struct web_call *w)
{
    struct web_status_page p = {.offset = web_call_number(w, "offset", 0),
                                .limit = web_call_number(w, "limit", PAGE)};

    snprintf(p.extend, sizeof p.extend, "%s%s", web_call_flag(w, "history") ? "x" : "",
             web_call_flag(w, "subjobs") ? "t" : "");
    if (web_status_fields(w, &p.fields) && web_status_criteria(w, &p.criteria) &&
        web_pbs_ask(w, web_status_jobs_ask, &p) && w->f)
        web_status_page_end(w, &p);
    attrs_fini(&p.fields);
    attrs_fini(&p.criteria);
}

static int web_status_job_ask(struct web_call *w, int c, void *arg)
{
    struct attrs *fields = arg;
    struct batch_status *found = pbs_statjob(c, w->id, attrs_attrl(fields), NULL);

    if (!found && pbs_errno == PBSE_HISTJOBID)
        found = pbs_statjob(c, w->id, attrs_attrl(fields), "x");
    if (!found)
        return -1;
    web_status_one(w, found, false);
    pbs_statfree(found);
    return 0;
}

void web_status_job(struct web_call *w)
{
    struct attrs fields = {0};

    if (!pbs_isjobid(w->id))
        web_call_problem(w, 404, PBSE_UNKJOBID, "%s is not the identifier of a job", w->id);
    else if (web_status_fields(w, &fields))
        web_pbs_ask(w, web_status_job_ask, &fields);
    attrs_fini(&fields);
}

/* --- nodes, queues, reservations, schedulers, server ---------------------------------------------------------- */

struct web_status_kind {
    const char *list; /* member of the answer */
    struct batch_status *(*stat)(int c, const char *name, struct attrl *wanted, const char *extend);
    const char *state; /* attribute that the filter `state` looks into; NULL: none */
    int unknown;       /* PBSE_ of a name that is not there */
    bool is_node;
};

static struct batch_status *web_status_sched_stat(int c, const char *name, struct attrl *wanted,
                                                  const char *extend)
{
    return pbs_statsched(c, wanted, extend);
}

static const struct web_status_kind nodes = {"nodes", pbs_statvnode, ATTR_NODE_state, PBSE_UNKNODE, true},
                                    queues = {"queues", pbs_statque, NULL, PBSE_UNKQUE, false},
                                    resvs = {"reservations", pbs_statresv, NULL, PBSE_UNKRESVID, false},
                                    scheds = {"schedulers", web_status_sched_stat, NULL, PBSE_UNKSCHED,
                                              false};

struct web_status_list {
    const struct web_status_kind *kind;
    struct attrs fields;
    struct batch_status *found;
};

static int web_status_list_ask(struct web_call *w, int c, void *arg)
{
    struct web_status_list *l = arg;

    l->found = l->kind->stat(c, *w->id ? w->id : NULL, attrs_attrl(&l->fields), NULL);
    return l->found || !pbs_errno ? 0 : -1;
}

/* Does the object fit the filters `state` and `name` of the query? */
static bool web_status_fits(struct web_call *w, const struct web_status_kind *k, const struct batch_status *o)
{
    const char *state = web_call_query(w, "state"), *queue = web_call_query(w, "queue"), *value;

    if (state && *state && k->state) {
        value = attrs_value(o->attribs, k->state, NULL);
        if (!value || !strstr(value, state))
            return false;
    }
    if (queue && *queue) {
        value = attrs_value(o->attribs, ATTR_queue, NULL);
        if (!value || strcmp(value, queue) != 0)
            return false;
    }
    return true;
}

static void web_status_list_put(struct web_call *w, const struct web_status_list *l)
{
    struct web_status_page p = {.offset = web_call_number(w, "offset", 0),
                                .limit = web_call_number(w, "limit", PAGE)};

    if (!web_call_json(w))
        return;
    json_out_open(&w->json, l->kind->list, '[');
    for (const struct batch_status *o = l->found; o; o = o->next) {
        if (!web_status_fits(w, l->kind, o))
            continue;
        if ((int64_t)p.total >= p.offset && (int64_t)p.total < p.offset + p.limit)
            web_status_put(w, o, l->kind->is_node);
        p.total++;
    }
    json_out_close(&w->json, ']');
    web_status_page_end(w, &p);
}

/* A filter looks at attributes that `fields` need not name: then all are asked for. */
static void web_status_list(struct web_call *w, const struct web_status_kind *k)
{
    struct web_status_list l = {.kind = k};

    if (web_status_fields(w, &l.fields)) {
        if (l.fields.first && web_call_query(w, "state") && k->state)
            attrs_add(&l.fields, k->state, NULL, "", SET);
        if (l.fields.first && web_call_query(w, "queue"))
            attrs_add(&l.fields, ATTR_queue, NULL, "", SET);
        if (web_pbs_ask(w, web_status_list_ask, &l)) {
            if (!*w->id)
                web_status_list_put(w, &l);
            else if (l.found)
                web_status_one(w, l.found, k->is_node);
            else
                web_call_problem(w, 404, k->unknown, "%s is not there", w->id);
        }
    }
    pbs_statfree(l.found);
    attrs_fini(&l.fields);
}

void web_status_nodes(struct web_call *w)
{
    web_status_list(w, &nodes);
}

void web_status_queues(struct web_call *w)
{
    web_status_list(w, &queues);
}

void web_status_resvs(struct web_call *w)
{
    web_status_list(w, &resvs);
}

void web_status_scheds(struct web_call *w)
{
    web_status_list(w, &scheds);
}

static int web_status_server_ask(struct web_call *w, int c, void *arg)
{
    struct batch_status *found = pbs_statserver(c, attrs_attrl(arg), NULL);

    if (!found)
        return -1;
    web_status_one(w, found, false);
    pbs_statfree(found);
    return 0;
}

struct web_status_policy {
    struct batch_status *scheds, *queues;
};

static int web_status_policy_ask(struct web_call *w, int c, void *arg)
{
    struct web_status_policy *p = arg;

    p->scheds = pbs_statsched(c, NULL, NULL);
    p->queues = p->scheds ? pbs_statque(c, NULL, NULL, NULL) : NULL;
    return p->scheds && (p->queues || !pbs_errno) ? 0 : -1;
}

void web_status_policy(struct web_call *w)
{
    struct web_status_policy p = {0};

    if (web_pbs_ask(w, web_status_policy_ask, &p) && web_call_json(w)) {
        preempt_policy_show_json(&w->json, p.scheds, p.queues);
        web_call_json_end(w, 200);
    }
    pbs_statfree(p.scheds);
    pbs_statfree(p.queues);
}

void web_status_preemptions(struct web_call *w)
{
    if (!web_call_json(w))
        return;
    json_out_open(&w->json, "preemptions", '[');
    web_watch_preemptions(w->watch, &w->json);
    json_out_close(&w->json, ']');
    web_call_json_end(w, 200);
}

struct web_status_plan {
    struct batch_status *plan, *hold;
};

static int web_status_plan_ask(struct web_call *w, int c, void *arg)
{
    struct web_status_plan *p = arg;
    const char *verdict;

    p->plan = pbs_explain(c, w->id, NULL);
    if (!p->plan)
        return -1;
    verdict = attrs_value(p->plan->attribs, "verdict", NULL);
    if (verdict && strcmp(verdict, "under_way") == 0)
        p->hold = pbs_stathold(c, p->plan->name, NULL, NULL); /* NULL: it waits for something else */
    return 0;
}

void web_status_explain(struct web_call *w)
{
    struct web_status_plan p = {0};

    if (web_pbs_ask(w, web_status_plan_ask, &p) && web_call_json(w)) {
        preempt_explain_json(&w->json, p.plan, p.hold);
        web_call_json_end(w, 200);
    }
    pbs_statfree(p.hold);
    pbs_statfree(p.plan);
}

void web_status_server(struct web_call *w)
{
    struct attrs fields = {0};

    if (web_status_fields(w, &fields))
        web_pbs_ask(w, web_status_server_ask, &fields);
    attrs_fini(&fields);
}
