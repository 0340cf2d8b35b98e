/* Each object as its last line said. Before a cycle those with a new line are told again, whole, as the stream
 * would; vnodes each time, with the resources_assigned that the server would have added up. */
#include "scenario_objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "pbs_ifl.h"
#include "sched_request.h"
#include "cluster_gone.h"
#include "cluster_change.h"
#include "cluster_settle.h"

struct objects_entry { /* one object as its line says */
    char *kind, *name;
    struct attrl *attrs;
    bool told; /* since its line */
    struct objects_entry *next;
};

struct scenario_objects {
    struct objects_entry *all;
};

struct scenario_objects *scenario_objects_create(void)
{
    return mem_new(1, sizeof(struct scenario_objects));
}

static void attr_add(struct attrl **l, const char *name, const char *resource, const char *value)
{
    struct attrl *a = mem_new(1, sizeof *a);

    a->name = mem_text(name);
    a->resource = resource ? mem_text(resource) : NULL;
    a->value = mem_text(value);
    while (*l)
        l = &(*l)->next;
    *l = a;
}

static void attrs_free(struct attrl *a)
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

static const char *attr_get(const struct attrl *a, const char *name)
{
    for (; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

/* "name.res=value" */
static void attr_word(struct attrl **l, const char *word)
{
    char *text = mem_text(word), *value = strchr(text, '='), *dot;

    if (value) {
        *value++ = '\0';
        dot = strchr(text, '.');
        if (dot)
            *dot++ = '\0';
        attr_add(l, text, dot, value);
    }
    free(text);
}

static struct objects_entry *entry_of(struct scenario_objects *o, const char *kind, const char *name)
{
    struct objects_entry **e = &o->all;

    while (*e && (strcmp((*e)->kind, kind) != 0 || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    if (!*e) {
        *e = mem_new(1, sizeof **e);
        (*e)->kind = mem_text(kind);
        (*e)->name = mem_text(name);
    }
    attrs_free((*e)->attrs);
    (*e)->attrs = NULL;
    (*e)->told = false;
    return *e;
}

static void entry_free(struct objects_entry *e)
{
    attrs_free(e->attrs);
    free(e->kind);
    free(e->name);
    free(e);
}

/* --- lines ------------------------------------------------------------------------------------------- */

static void objects_take_node(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "node", w->w[1]);

    for (size_t i = 2; i < w->n; i++)
        if (w->w[i][0] == '@')
            attr_word(&e->attrs, w->w[i] + 1);
        else {
            struct attrl *one = NULL;
            attr_word(&one, w->w[i]);
            attr_add(&e->attrs, "resources_available", one->name, one->value);
            attrs_free(one);
        }
}

static void objects_take_queue(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "queue", w->w[1]);

    attr_add(&e->attrs, "queue_type", NULL, "Execution");
    for (size_t i = 2; i < w->n; i++)
        attr_word(&e->attrs, w->w[i]);
    if (!attr_get(e->attrs, "started"))
        attr_add(&e->attrs, "started", NULL, "True");
}

static void objects_take_job(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "job", w->w[1]);
    char state[2] = {w->w[3][0], '\0'};
    const char *substate = *state == 'S' ? "45" : *state == 'R' ? "42" : *state == 'E' ? "50" : "10";

    attr_add(&e->attrs, "queue", NULL, w->w[2]);
    attr_add(&e->attrs, "job_state", NULL, state);
    attr_add(&e->attrs, "substate", NULL, substate);
    attr_add(&e->attrs, "queue_rank", NULL, w->w[1]);
    for (size_t i = 4; i < w->n; i++) {
        const char *word = w->w[i];
        if (strncmp(word, "select=", 7) == 0)
            attr_add(&e->attrs, "schedselect", NULL, word + 7);
        else if (strncmp(word, "place=", 6) == 0)
            attr_add(&e->attrs, "Resource_List", "place", word + 6);
        else if (strncmp(word, "exec=", 5) == 0)
            attr_add(&e->attrs, "exec_vnode", NULL, word + 5);
        else
            attr_word(&e->attrs, word);
    }
}

static void take_server(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "server", "");

    for (size_t i = 1; i < w->n; i++)
        attr_word(&e->attrs, w->w[i]);
}

static void objects_take_sched(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "sched", "default");

    for (size_t i = 1; i < w->n; i++) {
        bool levels = strncmp(w->w[i], "preempt_prio=", 13) == 0 ||
                      strncmp(w->w[i], "preempt_sort=", 13) == 0; /* their words have _ */
        levels = levels || strncmp(w->w[i], "job_sort_formula", 16) == 0;
        for (char *c = strchr(w->w[i], '='); !levels && c && *c; c++)
            *c = *c == '_' && c[-1] != 't' ? ' ' : *c;
        attr_word(&e->attrs, w->w[i]);
    }
}

static void objects_take_resource(struct scenario_objects *o, struct words *w)
{
    struct objects_entry *e = entry_of(o, "resource", w->w[1]);

    for (size_t i = 2; i < w->n; i++)
        attr_word(&e->attrs, w->w[i]);
}

/* Times count from the beginning of the scenario. */
static void objects_take_resv(struct scenario_objects *o, struct words *w)
{
    static const struct {
        const char *word, *name, *resource;
        bool is_time;
    } words[] = {{"state=", "reserve_state", NULL, false},    {"substate=", "reserve_substate", NULL, false},
                 {"start=", "reserve_start", NULL, true},     {"end=", "reserve_end", NULL, true},
                 {"retry=", "reserve_retry", NULL, true},     {"select=", "schedselect", NULL, false},
                 {"place=", "Resource_List", "place", false}, {"nodes=", "resv_nodes", NULL, false},
                 {"starts=", "reserve_starts", NULL, true},   {"all=", "reserve_execvnodes", NULL, false},
                 {"index=", "reserve_index", NULL, false},    {"count=", "reserve_count", NULL, false}};
    struct objects_entry *e = entry_of(o, "resv", w->w[1]);

    for (size_t i = 2; i < w->n; i++) {
        size_t k = 0;
        while (k < sizeof words / sizeof *words &&
               strncmp(w->w[i], words[k].word, strlen(words[k].word)) != 0)
            k++;
        if (k == sizeof words / sizeof *words) {
            attr_word(&e->attrs, w->w[i]);
            continue;
        }
        char *value = w->w[i] + strlen(words[k].word), text[1024] = "";
        for (char *at = value; words[k].is_time && *at; at += *at == ',') {
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, "%s%lld", n ? "," : "",
                     (long long)SCENARIO_NOW_S + strtoll(at, &at, 10));
        }
        attr_add(&e->attrs, words[k].name, words[k].resource, words[k].is_time ? text : value);
    }
}

static enum cluster_kind objects_kind_of(const char *word)
{
    static const char *const words[CLUSTER_KIND_COUNT] = {"server", "queue",    "job",   "node",
                                                          "resv",   "resource", "sched", "hold"};
    int i = 0;

    while (i < CLUSTER_KIND_COUNT && strcmp(words[i], word) != 0)
        i++;
    return (enum cluster_kind)i;
}

int scenario_objects_take(struct scenario_objects *o, struct words *w, struct err *e)
{
    switch (objects_kind_of(w->w[0])) {
    case CLUSTER_SERVER:
        take_server(o, w);
        break;
    case CLUSTER_QUEUE:
        objects_take_queue(o, w);
        break;
    case CLUSTER_JOB:
        objects_take_job(o, w);
        break;
    case CLUSTER_NODE:
        objects_take_node(o, w);
        break;
    case CLUSTER_SCHED:
        objects_take_sched(o, w);
        break;
    case CLUSTER_RESOURCE:
        objects_take_resource(o, w);
        break;
    case CLUSTER_RESV:
        objects_take_resv(o, w);
        break;
    case CLUSTER_HOLD:
    case CLUSTER_KIND_COUNT:
        return err_set(e, EINVAL, "unknown word");
    }
    return 0;
}

/* --- telling ----------------------------------------------------------------------------------------- */

static void scenario_add_vnodes(const struct catalogue *c, const char *exec, const char *node, int64_t times,
                                struct amounts *used)
{
    struct alloc_part_text *parts = NULL;
    size_t n = request_parse_exec(c, exec, &parts);

    for (size_t i = 0; i < n; i++)
        if (strcmp(parts[i].vnode, node) == 0)
            amounts_add_times(used, &parts[i].use, times);
    request_free_exec(parts, n);
}

/* Jobs of a reservation use what it has been given. */
static bool is_inside(struct scenario_objects *o, const struct objects_entry *job)
{
    const char *id = attr_get(job->attrs, "reserve_ID");

    for (const struct objects_entry *e = o->all; id && e; e = e->next)
        if (strcmp(e->kind, "resv") == 0 && strcmp(e->name, id) == 0)
            return true;
    return false;
}

static bool resv_runs(const struct objects_entry *e)
{
    const char *resv = strcmp(e->kind, "resv") == 0 ? attr_get(e->attrs, "reserve_state") : NULL;
    const char *substate = attr_get(e->attrs, "reserve_substate");

    return resv && attr_get(e->attrs, "resv_nodes") &&
           (strcmp(resv, "5") == 0 || (strcmp(resv, "11") == 0 && substate && strcmp(substate, "5") == 0));
}

/* resources_assigned of a vnode: the sum of what runs on it, reservations too, and of what suspended jobs have kept. */
static void add_used(struct scenario_objects *o, const struct catalogue *c, const char *node,
                     struct attrl **attrs)
{
    struct amounts used = {0};
    char number[RES_TEXT_MAX];

    for (struct objects_entry *e = o->all; e; e = e->next) {
        const char *exec = attr_get(e->attrs, "exec_vnode"), *state = attr_get(e->attrs, "job_state");
        const char *released = attr_get(e->attrs, "resources_released");
        bool keeps = exec && *state == 'S' && released;
        if (resv_runs(e))
            scenario_add_vnodes(c, attr_get(e->attrs, "resv_nodes"), node, 1, &used);
        if (!exec || is_inside(o, e) || (*state != 'R' && *state != 'E' && !keeps))
            continue;
        scenario_add_vnodes(c, exec, node, 1, &used);
        if (keeps)
            scenario_add_vnodes(c, released, node, -1, &used);
    }
    for (uint32_t i = 0; i < used.n; i++) {
        const struct resource *r = catalogue_get(c, used.a[i].res);
        attr_add(attrs, "resources_assigned", r->name, res_format(r, used.a[i].n, number));
    }
    amounts_fini(&used);
}

void scenario_objects_feed(struct scenario_objects *o, struct cluster *cl)
{
    for (struct objects_entry *e = o->all; e; e = e->next) {
        struct attrl *more = NULL, **last = &e->attrs;
        if (e->told && strcmp(e->kind, "node") != 0)
            continue;
        e->told = true;
        if (strcmp(e->kind, "node") == 0)
            add_used(o, cluster_catalogue(cl), e->name, &more);
        while (*last)
            last = &(*last)->next;
        *last = more;
        cluster_change(cl, objects_kind_of(e->kind), e->name, e->attrs);
        *last = NULL;
        attrs_free(more);
    }
    cluster_settle(cl);
}

void scenario_objects_gone(struct scenario_objects *o, struct cluster *cl, const char *kind, const char *name)
{
    for (struct objects_entry **x = &o->all; *x; x = &(*x)->next)
        if (strcmp((*x)->kind, kind) == 0 && strcmp((*x)->name, name) == 0) {
            struct objects_entry *gone = *x;
            *x = gone->next;
            entry_free(gone);
            break;
        }
    cluster_gone(cl, objects_kind_of(kind), name);
}

void scenario_objects_destroy(struct scenario_objects *o)
{
    while (o && o->all) {
        struct objects_entry *next = o->all->next;
        entry_free(o->all);
        o->all = next;
    }
    free(o);
}
