/* Queries: which objects, one after the other. See status.h.
 *
 * Three ways to walk. Names: a list made at the beginning, each looked up when its turn comes. All jobs: by key,
 * in memory and (with x) in pages of history, merged, memory first; the cursor is the last key. Jobs named one by
 * one: as names, and what is not in memory is asked of history. Nothing here points to an object between two
 * calls. A query waits for at most one answer of the reader; `asking` is its reference while it does. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "idset.h"
#include "intern.h"
#include "job_view.h"
#include "jobid.h"
#include "json_text.h"
#include "log.h"
#include "pbs_error.h"
#include "reader.h"
#include "rpc_request.h"
#include "status_private.h"
#include "words.h"

enum { PAGE = 200, NAMES_MAX = 1000000 };

struct found { /* a history row, copied out of the reader's hands */
    struct job_key key;
    char *id, *owner, *queue, *attrs;
};

struct status_query {
    struct status *st;
    enum attr_of of;
    struct attr_select want;
    struct attr_reader reader;
    const char *who; /* interned */
    struct criteria *criteria;
    bool names_only, subjobs, history;
    /* what is walked */
    bool all_jobs;
    const char *queue;    /* interned: jobs of this queue only; NULL: all */
    const char **names;   /* interned; of jobs: as asked */
    struct job_key *keys; /* of jobs, beside names */
    size_t n, cap, at;
    struct job_key last; /* all_jobs: what was shown last */
    /* history */
    struct found *page;
    size_t n_page, at_page;
    bool page_is_last, page_is_there;
    bool asking; /* the reader has our pointer */
    bool dead;   /* destroyed while asking: the answer frees it */
    void (*wake)(void *arg);
    void *wake_arg;
    struct rpc_request *request; /* of status_reply */
    /* the end */
    size_t served, missing;
    struct err first;
};

/* ---- what is asked ----------------------------------------------------------------------------------- */

static int add_name(struct status_query *q, const char *name, struct job_key key, struct err *e)
{
    size_t cap = q->cap ? 2 * q->cap : 16;

    if (q->n == NAMES_MAX)
        return err_set(e, PBSE_IVALREQ, "more than %d names are asked for", NAMES_MAX);
    if (q->n == q->cap) {
        const char **names = realloc(q->names, cap * sizeof *names);
        struct job_key *keys = names ? realloc(q->keys, cap * sizeof *keys) : NULL;

        if (names)
            q->names = names;
        if (keys)
            q->keys = keys;
        if (!names || !keys)
            return err_set(e, PBSE_SYSTEM, "no memory for a status");
        q->cap = cap;
    }
    q->keys[q->n] = key;
    q->names[q->n] = intern_ref(name);
    return q->names[q->n++] ? 0 : err_set(e, PBSE_SYSTEM, "no memory for a status");
}

static int add_range(struct status_query *q, const struct jobid *id, struct err *e)
{
    struct idset *set;
    int rc = 0;

    if (jobid_indices(id, &set, e) < 0)
        return -1;
    for (int64_t i = idset_next(set, 0); i >= 0 && rc == 0; i = idset_next(set, i + 1)) {
        const struct job_key key = {id->key.seq, (int32_t)i};
        char text[JOBID_TEXT_MAX];

        rc = add_name(q, jobid_format(text, key, false, q->st->site->name), key, e);
    }
    idset_destroy(set);
    return rc;
}

static int add_job(struct status_query *q, const char *text, struct err *e)
{
    struct jobid id;

    if (jobid_parse(text, &id, e) < 0)
        return -1;
    return id.form == JOBID_RANGE ? add_range(q, &id, e) : add_name(q, text, id.key, e);
}

/* Commas inside brackets belong to a range. */
static int each_word(struct status_query *q, const char *list,
                     int (*fn)(struct status_query *, const char *, struct err *), struct err *e)
{
    int rc = 0, depth = 0;

    while (*list && rc == 0) {
        const char *end = list;
        char *word;

        for (; *end && (*end != ',' || depth); end++)
            depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        word = strndup(list, (size_t)(end - list));
        if (!word)
            return err_set(e, PBSE_SYSTEM, "no memory for a status");
        if (*words_trim(word))
            rc = fn(q, words_trim(word), e);
        free(word);
        list = *end ? end + 1 : end;
    }
    return rc;
}

static int add_other(struct status_query *q, const char *text, struct err *e)
{
    char name[PBS_MAXHOSTNAME + 1];
    size_t n = strcspn(text, "@");

    if (q->of == OF_NODE || n >= sizeof name)
        return add_name(q, text, (struct job_key){0, 0}, e);
    memcpy(name, text, n); /* queue@server: what follows @ was for the client */
    name[n] = '\0';
    return *name ? add_name(q, name, (struct job_key){0, 0}, e) : 0;
}

static int add_all(struct status_query *q, struct err *e)
{
    const struct site *s = q->st->site;
    const struct job_key none = {0, 0};
    int rc = 0;

    if (q->of == OF_QUEUE)
        for (struct queue *x = queues_first(s->queues); x && rc == 0; x = queues_next(x))
            rc = add_name(q, x->obj.name, none, e);
    if (q->of == OF_NODE)
        for (struct node *x = nodes_first(s->nodes); x && rc == 0; x = nodes_next(x))
            rc = add_name(q, x->obj.name, none, e);
    if (q->of == OF_SCHED)
        for (struct sched_obj *x = scheds_first(s->scheds); x && rc == 0; x = scheds_next(x))
            rc = add_name(q, x->obj.name, none, e);
    if (q->of == OF_RESOURCE)
        for (const struct resource *x = resource_next(s->resources, NULL); x && rc == 0;
             x = resource_next(s->resources, x))
            rc = add_name(q, x->name, none, e);
    return rc;
}

static int choose_jobs(struct status_query *q, const char *ids, struct err *e)
{
    struct destination d;

    q->all_jobs = !*ids || !jobid_is_jobid(ids);
    q->last = (struct job_key){-1, -1};
    if (!q->all_jobs)
        return each_word(q, ids, add_job, e);
    if (!*ids || jobid_parse_destination(ids, &d, e) < 0)
        return *ids ? -1 : 0;
    if (*d.queue && !queues_find(q->st->site->queues, d.queue))
        return err_set(e, PBSE_UNKQUE, "Unknown queue %s", d.queue);
    q->queue = *d.queue ? intern_ref(d.queue) : NULL;
    return 0;
}

static int choose(struct status_query *q, const char *ids, struct err *e)
{
    ids = ids ? ids : "";
    if (q->of == OF_JOB)
        return choose_jobs(q, ids, e);
    if (q->of == OF_SERVER)
        return add_name(q, q->st->site->server->obj.name, (struct job_key){0, 0}, e);
    if (!*ids || *ids == '@')
        return add_all(q, e);
    return each_word(q, ids, add_other, e);
}

/* ---- objects by name --------------------------------------------------------------------------------- */

static struct object *find_object(const struct status_query *q, const char *name)
{
    const struct site *s = q->st->site;

    switch (q->of) {
    case OF_SERVER:
        return &s->server->obj;
    case OF_QUEUE: {
        struct queue *x = queues_find(s->queues, name);
        return x ? &x->obj : NULL;
    }
    case OF_NODE: {
        struct node *x = nodes_find(s->nodes, name);
        return x ? &x->obj : NULL;
    }
    case OF_SCHED: {
        struct sched_obj *x = scheds_find(s->scheds, name);
        return x ? &x->obj : NULL;
    }
    case OF_JOB:
    case OF_RESV:
    case OF_HOOK:
    case OF_RESOURCE:
    case OF_COUNT:
        break;
    }
    return NULL;
}

static void note_missing(struct status_query *q, int code, const char *text, const char *name)
{
    if (!q->missing++)
        err_set(&q->first, code, "%s %s", text, name);
}

static void note_unknown(struct status_query *q, const char *name)
{
    switch (q->of) {
    case OF_JOB:
        note_missing(q, PBSE_UNKJOBID, "Unknown Job Id", name);
        return;
    case OF_QUEUE:
        note_missing(q, PBSE_UNKQUE, "Unknown queue", name);
        return;
    case OF_NODE:
        note_missing(q, PBSE_UNKNODE, "Unknown node", name);
        return;
    case OF_SCHED:
        note_missing(q, PBSE_UNKSCHED, "Unknown Scheduler", name);
        return;
    case OF_RESOURCE:
        note_missing(q, PBSE_UNKRESC, "Unknown resource", name);
        return;
    case OF_RESV:
        note_missing(q, PBSE_UNKRESVID, "Unknown Reservation Id", name);
        return;
    case OF_HOOK:
    case OF_SERVER:
    case OF_COUNT:
        note_missing(q, PBSE_IVALREQ, "there is no", name);
        return;
    }
}

/* ---- entries ----------------------------------------------------------------------------------------- */

/* An ifl_status_entry: name, attributes, text. */
static int end_entry(struct status_query *q, struct rpc_buf *out, struct shown_attrs *a)
{
    shown_end(a);
    q->served++;
    return shown_text(out, "", 0);
}

static int begin_entry(struct rpc_buf *out, const char *name, struct shown_attrs *a)
{
    return shown_text(out, name, strlen(name)) < 0 ? -1 : shown_begin(a, out);
}

static int put_object(struct status_query *q, const struct object *o, struct rpc_buf *out)
{
    struct shown_attrs a;

    if (begin_entry(out, o->name, &a) < 0)
        return -1;
    if (!q->names_only && shown_walk(q->st->shown, o, &q->want, &q->reader, shown_triple, &a) < 0)
        return -1;
    return end_entry(q, out, &a);
}

static int put_resource(struct status_query *q, const struct resource *r, struct rpc_buf *out)
{
    struct shown_attrs a;

    if (begin_entry(out, r->name, &a) < 0 ||
        shown_walk_resource(q->st->shown, r, &q->want, &q->reader, shown_triple, &a) < 0)
        return -1;
    return end_entry(q, out, &a);
}

static int history_value(const struct status_query *q, int index, const char *name, const char *resource,
                         const json_t *value, struct shown_attrs *a)
{
    const struct resource *r = resource ? resource_find(q->st->site->resources, resource) : NULL;
    char *text;
    int rc;

    if (r && (!resource_may_read(r, q->reader.level) || !attr_select_has_resource(&q->want, index, r->id)))
        return 0;
    text = strdup(json_string_value(value) ? json_string_value(value) : "");
    if (!text)
        return -1;
    json_text_restore(text);
    rc = shown_triple(a, name, resource, text);
    free(text);
    return rc;
}

static int history_attr(const struct status_query *q, const char *name, json_t *value, struct shown_attrs *a)
{
    int index = attr_def_find(OF_JOB, name), rc = 0;
    const char *resource;
    json_t *amount;

    if (index < 0 || !attr_select_has(&q->want, index) ||
        !attr_def_may_read(attr_def_get(OF_JOB, index), q->reader.level, q->reader.show_hidden))
        return 0;
    if (!json_is_object(value))
        return history_value(q, index, name, NULL, value, a);
    json_object_foreach(value, resource, amount) if (rc == 0) rc =
        history_value(q, index, name, resource, amount, a);
    return rc;
}

static int put_history(struct status_query *q, const struct found *f, json_t *attrs, struct rpc_buf *out)
{
    struct shown_attrs a;
    const char *name;
    json_t *value;
    int rc = 0;

    if (begin_entry(out, f->id, &a) < 0)
        return -1;
    json_object_foreach(attrs, name, value) if (rc == 0 && !q->names_only) rc =
        history_attr(q, name, value, &a);
    return rc < 0 ? -1 : end_entry(q, out, &a);
}

/* 1: shown, 0: not for this query. */
static int show_found(struct status_query *q, const struct found *f, struct rpc_buf *out)
{
    json_t *attrs;
    int rc = 0;

    if ((q->queue && strcmp(q->queue, f->queue) != 0) || (q->all_jobs && !q->subjobs && f->key.index >= 0) ||
        !status_may_see(q->st->site, q->reader.level, q->who, f->owner))
        return 0;
    attrs = json_loads(f->attrs, 0, NULL);
    if (!attrs)
        log_event(LOGC_JOB, LOGE_ERROR, f->id, "its history cannot be read");
    else if (!q->criteria || criteria_match_history(q->criteria, attrs))
        rc = put_history(q, f, attrs, out) < 0 ? -1 : 1;
    json_decref(attrs);
    return rc;
}

static bool is_wanted(const struct status_query *q, const struct job *j)
{
    if (j->state == JOB_ARRIVING || (job_is_over(j) && !q->history))
        return false;
    if (q->queue && (!j->queue_name || strcmp(q->queue, j->queue_name) != 0))
        return false;
    if (q->all_jobs && !q->subjobs && j->key.index >= 0)
        return false;
    return status_may_see(q->st->site, q->reader.level, q->who, j->owner) &&
           (!q->criteria || criteria_match(q->criteria, shown_computed(q->st->shown), j));
}

/* ---- history, asked for ------------------------------------------------------------------------------ */

static void found_fini(struct found *f)
{
    free(f->id);
    free(f->owner);
    free(f->queue);
    free(f->attrs);
}

static void drop_page(struct status_query *q)
{
    for (size_t i = 0; i < q->n_page; i++)
        found_fini(&q->page[i]);
    free(q->page);
    q->page = NULL;
    q->n_page = q->at_page = 0;
    q->page_is_there = false;
}

static void free_query(struct status_query *q)
{
    drop_page(q);
    for (size_t i = 0; i < q->n; i++)
        intern_unref(q->names[i]);
    free(q->names);
    free(q->keys);
    intern_unref(q->queue);
    intern_unref(q->who);
    attr_select_fini(&q->want);
    criteria_destroy(q->criteria);
    free(q);
}

static int keep_rows(struct status_query *q, const struct history_row *rows, size_t n)
{
    q->page = calloc(n ? n : 1, sizeof *q->page);
    for (size_t i = 0; q->page && i < n; i++) {
        struct found *f = &q->page[q->n_page++];

        *f = (struct found){rows[i].key, strdup(rows[i].id), strdup(rows[i].owner), strdup(rows[i].queue),
                            strdup(rows[i].attrs)};
        if (!f->id || !f->owner || !f->queue || !f->attrs)
            return -1;
    }
    return q->page ? 0 : -1;
}

static void got_rows(void *arg, const struct history_row *rows, size_t n, const struct err *why)
{
    struct status_query *q = arg;

    q->asking = false;
    if (q->dead) {
        free_query(q);
        return;
    }
    if (why || keep_rows(q, rows, n) < 0) {
        if (!q->missing++)
            err_set(&q->first, PBSE_SYSTEM, "history cannot be read: %s", why ? why->text : "no memory");
        drop_page(q);
        n = 0;
    }
    q->page_is_there = true;
    q->page_is_last = n < PAGE;
    if (q->wake)
        q->wake(q->wake_arg);
}

/* -1: something is under way now; 0: it could not be asked. */
static int asked(struct status_query *q, int rc, const struct err *e)
{
    if (rc == 0) {
        q->asking = true;
        return -1;
    }
    if (!q->missing++)
        q->first = *e;
    return 0;
}

static bool has_history(const struct status_query *q)
{
    return q->st->reader && server_obj_history(q->st->site->server);
}

static int ask_page(struct status_query *q)
{
    struct err e;

    drop_page(q);
    return asked(q, reader_history(q->st->reader, q->last, PAGE, NULL, q->queue, got_rows, q, &e), &e);
}

static int ask_job(struct status_query *q, struct job_key key)
{
    struct err e;

    drop_page(q);
    return asked(q, reader_history_job(q->st->reader, key, got_rows, q, &e), &e);
}

/* ---- the walks --------------------------------------------------------------------------------------- */

static bool is_above(struct job_key a, struct job_key b)
{
    return a.seq != b.seq ? a.seq > b.seq : a.index > b.index;
}

/* The history row to be shown next. -1: not known yet; 0: there is none; 1: *f. */
static int next_found(struct status_query *q, struct found **f)
{
    if (!q->history || !has_history(q))
        return 0;
    for (;;) {
        if (!q->page_is_there || (q->at_page == q->n_page && !q->page_is_last)) {
            if (ask_page(q) < 0)
                return -1;
            q->page_is_there = q->page_is_last = true; /* could not be asked: memory alone */
        }
        while (q->at_page < q->n_page && !is_above(q->page[q->at_page].key, q->last))
            q->at_page++;
        if (q->at_page < q->n_page) {
            *f = &q->page[q->at_page];
            return 1;
        }
        if (q->page_is_last)
            return 0;
    }
}

static int next_of_all(struct status_query *q, struct rpc_buf *out)
{
    for (;;) {
        struct found *f = NULL;
        struct job *j;
        int rc = next_found(q, &f);

        if (rc < 0)
            return -1;
        j = jobs_after(q->st->site->jobs, q->last);
        if (!j && !f)
            return 0;
        if (j && (!f || !is_above(j->key, f->key))) {
            q->last = j->key;
            if (is_wanted(q, j))
                return put_object(q, &j->obj, out) < 0 ? 0 : 1;
            continue;
        }
        q->last = f->key;
        rc = show_found(q, f, out);
        if (rc)
            return rc > 0;
    }
}

/* What history says of a job that is not in memory. */
static int show_asked(struct status_query *q, const char *name, struct rpc_buf *out)
{
    int rc = 0;

    if (q->n_page == 0)
        note_unknown(q, name);
    else if (!q->history)
        note_missing(q, PBSE_HISTJOBID,
                     "Job has finished, use -x or -H to obtain historical job information:", name);
    else
        rc = show_found(q, &q->page[0], out);
    drop_page(q);
    q->at++;
    return rc;
}

/* 1 shown, 0 not, -1 wait. */
static int next_job(struct status_query *q, struct rpc_buf *out)
{
    const char *name = q->names[q->at];
    struct job *j;

    if (q->page_is_there)
        return show_asked(q, name, out);
    j = jobs_find(q->st->site->jobs, q->keys[q->at]);
    if ((!j || j->state == JOB_ARRIVING) && has_history(q) && ask_job(q, q->keys[q->at]) < 0)
        return -1;
    q->at++;
    if (j && is_wanted(q, j))
        return put_object(q, &j->obj, out) < 0 ? 0 : 1;
    if (j && job_is_over(j) && !q->history)
        note_missing(q, PBSE_HISTJOBID,
                     "Job has finished, use -x or -H to obtain historical job information:", name);
    else
        note_unknown(q, name);
    return 0;
}

static int next_other(struct status_query *q, struct rpc_buf *out)
{
    const char *name = q->names[q->at++];
    const struct resource *r = q->of == OF_RESOURCE ? resource_find(q->st->site->resources, name) : NULL;
    const struct object *o = find_object(q, name);

    if (r)
        return put_resource(q, r, out) < 0 ? 0 : 1;
    if (o)
        return put_object(q, o, out) < 0 ? 0 : 1;
    note_unknown(q, name);
    return 0;
}

/* What could not be encoded leaves no trace in the answer. */
int status_query_next(struct status_query *q, struct rpc_buf *out)
{
    size_t before = out->len;
    int rc = 0;

    if (q->asking)
        return -1;
    if (q->all_jobs)
        rc = next_of_all(q, out);
    while (!q->all_jobs && rc == 0 && q->at < q->n) {
        rc = q->of == OF_JOB ? next_job(q, out) : next_other(q, out);
        if (rc <= 0)
            rpc_buf_cut(out, before);
    }
    if (rc <= 0)
        rpc_buf_cut(out, before);
    return rc;
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* One name that is unknown is refused at once; of several, the answer tells at its end. */
static int check_only_name(struct status_query *q, struct err *e)
{
    const struct job *j = NULL;

    if (q->all_jobs || q->n != 1)
        return 0;
    if (q->of == OF_JOB) {
        j = jobs_find(q->st->site->jobs, q->keys[0]);
        if ((j && j->state != JOB_ARRIVING && (q->history || !job_is_over(j))) || (!j && has_history(q)))
            return 0;
    } else if (find_object(q, q->names[0]) || resource_find(q->st->site->resources, q->names[0])) {
        return 0;
    }
    if (j && job_is_over(j))
        return err_set(e, PBSE_HISTJOBID,
                       "Job has finished, use -x or -H to obtain historical job information");
    note_unknown(q, q->names[0]);
    *e = q->first;
    return -1;
}

static int check_history(const struct status_query *q, struct err *e)
{
    if (!q->history || server_obj_history(q->st->site->server))
        return 0;
    return err_set(e, PBSE_JOBHISTNOTSET, "PBS is not configured to maintain job history");
}

int status_query_create(struct status *st, const struct status_ask *ask, struct status_query **out,
                        struct err *e)
{
    const char *extend = ask->extend ? ask->extend : "";
    struct status_query *q = calloc(1, sizeof *q);

    if (!q)
        return err_set(e, PBSE_SYSTEM, "no memory for a status");
    q->st = st;
    q->of = ask->of;
    q->reader = (struct attr_reader){.level = ask->level, .show_hidden = status_shows_hidden(st->site)};
    q->names_only = ask->names_only;
    q->subjobs = strchr(extend, 't') || strchr(extend, 'T');
    q->history = strchr(extend, 'x') != NULL;
    q->who = intern_ref(ask->who);
    if (status_want(st->site, ask->of, ask->wanted, ask->n_wanted, &q->want, e) < 0) {
        attr_select_init(&q->want, ask->of);
        goto bad;
    }
    if (check_history(q, e) < 0 || choose(q, ask->ids, e) < 0 || check_only_name(q, e) < 0)
        goto bad;
    q->criteria = ask->criteria;
    *out = q;
    return 0;
bad:
    free_query(q);
    return -1;
}

void status_query_destroy(struct status_query *q)
{
    if (!q)
        return;
    if (q->asking)
        q->dead = true;
    else
        free_query(q);
}

void status_query_on_wake(struct status_query *q, void (*wake)(void *arg), void *arg)
{
    q->wake = wake;
    q->wake_arg = arg;
}

void status_query_result(const struct status_query *q, struct err *out)
{
    err_clear(out);
    if (!q->missing)
        return;
    *out = q->first;
    if (q->served)
        out->code = 1;
}

/* ---- the whole answer -------------------------------------------------------------------------------- */

static int put_tail(struct status_query *q, struct rpc_entries *out)
{
    struct err e;
    ifl_result tail = {.code = 0};

    status_query_result(q, &e);
    tail.code = e.code;
    tail.text = e.text;
    return rpc_entries_tail(out, (xdrproc_t)xdr_ifl_result, &tail);
}

static enum rpc_more more(void *arg, struct rpc_entries *out)
{
    struct status_query *q = arg;
    struct rpc_buf entry;
    int rc = 1;

    rpc_buf_init(&entry);
    while (!rpc_entries_is_full(out) && (rc = status_query_next(q, &entry)) > 0) {
        rpc_entries_add_bytes(out, entry.bytes, entry.len);
        rpc_buf_cut(&entry, 0);
    }
    rpc_buf_fini(&entry);
    if (rc == 0)
        put_tail(q, out);
    return rc > 0 ? RPC_MORE : rc == 0 ? RPC_DONE : RPC_LATER;
}

static void wake_request(void *arg)
{
    struct status_query *q = arg;

    rpc_reply_wake(q->request);
}

static void end(void *arg)
{
    struct status_query *q = arg;

    rpc_request_unref(q->request);
    q->request = NULL;
    q->wake = NULL;
    status_query_destroy(q);
}

void status_reply(struct rpc_request *r, struct status_query *q)
{
    static const struct rpc_producer producer = {.more = more, .end = end};
    char nothing[1] = "";
    const ifl_result head = {.code = 0, .text = nothing};

    q->request = rpc_request_ref(r);
    status_query_on_wake(q, wake_request, q);
    rpc_reply_entries(r, (xdrproc_t)xdr_ifl_result, &head, &producer, q);
}
