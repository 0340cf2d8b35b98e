/* Objects to JSON, pages of them, and the hello message. See hook_objects.h.
 *
 * A worker asks for a kind of objects, with or without a name, and gets a page and a cursor; it asks again until the cursor
 * is empty. Nothing is kept between pages. The cursor of jobs is the key of the last one, so that no job is seen twice
 * however many come and go meanwhile; that of other kinds is a place in their table, for those change seldom. */
#include "hook_objects.h"

#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "access.h"
#include "conf.h"
#include "hook_json.h"
#include "jobid.h"
#include "strbuf.h"

enum { PAGE_MAX = 50 }; /* objects: a page is made within one turn of the loop */

static int hook_objects_attr(void *arg, const char *name, const char *resource, const char *value)
{
    return hook_json_put(arg, name, resource, value);
}

static json_t *hook_objects_make_for(const struct hook_server *s, const struct object *o,
                                     const struct attr_reader *reader)
{
    json_t *attrs = json_object();
    struct attr_select all;

    attr_select_init(&all, o->kind->attrs);
    attr_select_all(&all);
    if (!attrs || attrib_render_walk(s->render, o, &all, reader, hook_objects_attr, attrs) < 0) {
        json_decref(attrs);
        attrs = NULL;
    }
    attr_select_fini(&all);
    return attrs ? json_pack("{s:o, s:o}", "name", hook_json_text(o->name), "attrs", attrs) : NULL;
}

json_t *hook_objects_make(const struct hook_server *s, const struct object *o)
{
    return hook_objects_make_for(
        s, o, &(struct attr_reader){.level = LEVEL_SERVER, .show_hidden = true, .presets = true});
}

/* ---- pages ------------------------------------------------------------------------------------------- */

struct hook_objects_page {
    const struct hook_server *s;
    bool for_host;
    const char *kind, *name, *queue, *after;
    size_t limit;
    json_t *objects;
    char next[JOBID_TEXT_MAX + 64]; /* "": there is no more */
};

static void hook_objects_add(struct hook_objects_page *p, const struct object *o)
{
    const struct attr_reader host = {.level = LEVEL_OPERATOR, .presets = true};
    json_t *v = p->for_host ? hook_objects_make_for(p->s, o, &host) : hook_objects_make(p->s, o);

    if (v)
        json_array_append_new(p->objects, v);
}

static bool hook_objects_is_of_queue(const struct hook_objects_page *p, const struct job *j)
{
    return !p->queue || (j->queue_name && strcmp(p->queue, j->queue_name) == 0);
}

static void hook_objects_named_job(struct hook_objects_page *p)
{
    struct jobid id;
    struct job *j = jobid_parse(p->name, &id, NULL) == 0 ? server_ctx_find_job(p->s->o.ctx, &id) : NULL;

    if (j && j->state != JOB_ARRIVING && hook_objects_is_of_queue(p, j))
        hook_objects_add(p, &j->obj);
}

/* The cursor of jobs is a key. */
static void hook_objects_jobs(struct hook_objects_page *p)
{
    struct job_key key = {-1, -1};
    struct job *j;

    if (p->name) {
        hook_objects_named_job(p);
        return;
    }
    if (p->after)
        sscanf(p->after, "%ld.%d", &key.seq, &key.index);
    while ((j = jobs_after(p->s->o.ctx->jobs, key)) && json_array_size(p->objects) < p->limit) {
        key = j->key;
        if (j->state != JOB_ARRIVING && !job_is_over(j) && hook_objects_is_of_queue(p, j))
            hook_objects_add(p, &j->obj);
    }
    if (j)
        snprintf(p->next, sizeof p->next, "%ld.%d", (long)key.seq, (int)key.index);
}

static struct object *hook_objects_next(const struct hook_objects_page *p, struct object *o)
{
    const struct server_ctx *ctx = p->s->o.ctx;

    if (strcmp(p->kind, "resv") == 0) {
        struct resv *r = o ? resvs_next((struct resv *)o) : resvs_first(ctx->resvs);
        return r ? &r->obj : NULL;
    }

    if (strcmp(p->kind, "queue") == 0) {
        struct queue *q = o ? queues_next((struct queue *)o) : queues_first(ctx->queues);
        return q ? &q->obj : NULL;
    }
    struct node *n = o ? nodes_next((struct node *)o) : nodes_first(ctx->nodes);
    return n ? &n->obj : NULL;
}

struct resv *hook_objects_find_resv(const struct hook_server *s, const char *name)
{
    char full[PBS_MAXSVRRESVID + 1];

    if (snprintf(full, sizeof full, "%s%s%s", name, strchr(name, '.') ? "" : ".",
                 strchr(name, '.') ? "" : s->o.ctx->name) >= (int)sizeof full)
        return NULL;
    return resvs_find(s->o.ctx->resvs, full);
}

static struct object *hook_objects_find(const struct hook_objects_page *p)
{
    const struct server_ctx *ctx = p->s->o.ctx;

    if (strcmp(p->kind, "queue") == 0) {
        struct queue *q = queues_find(ctx->queues, p->name);
        return q ? &q->obj : NULL;
    }
    if (strcmp(p->kind, "resv") == 0) {
        struct resv *r = hook_objects_find_resv(p->s, p->name);
        return r ? &r->obj : NULL;
    }
    struct node *n = nodes_find(ctx->nodes, p->name);
    return n ? &n->obj : NULL;
}

/* Queues, vnodes and reservations: the cursor is the place in the table, since all change seldom. */
static void hook_objects_others(struct hook_objects_page *p)
{
    long skip = p->after ? strtol(p->after, NULL, 10) : 0, at = 0;
    struct object *o = p->name ? hook_objects_find(p) : NULL;

    if (p->name) {
        if (o)
            hook_objects_add(p, o);
        return;
    }
    for (o = hook_objects_next(p, NULL); o && json_array_size(p->objects) < p->limit;
         o = hook_objects_next(p, o), at++)
        if (at >= skip)
            hook_objects_add(p, o);
    if (o)
        snprintf(p->next, sizeof p->next, "%ld", at);
}

json_t *hook_objects_page(const struct hook_server *s, const json_t *query, bool for_host)
{
    json_int_t limit = json_integer_value(json_object_get(query, "limit"));
    struct hook_objects_page p = {.s = s,
                                  .for_host = for_host,
                                  .kind = json_string_value(json_object_get(query, "kind")),
                                  .name = json_string_value(json_object_get(query, "name")),
                                  .queue = json_string_value(json_object_get(query, "queue")),
                                  .after = json_string_value(json_object_get(query, "after")),
                                  .limit = limit > 0 && limit < PAGE_MAX ? (size_t)limit : PAGE_MAX,
                                  .objects = json_array()};
    const char *fault = NULL;

    if (!p.objects)
        return NULL;
    if (p.kind && strcmp(p.kind, "job") == 0)
        hook_objects_jobs(&p);
    else if (p.kind &&
             (strcmp(p.kind, "queue") == 0 || strcmp(p.kind, "vnode") == 0 || strcmp(p.kind, "resv") == 0))
        hook_objects_others(&p);
    else if (p.kind && strcmp(p.kind, "server") == 0)
        hook_objects_add(&p, &s->o.ctx->server->obj);
    else
        fault = "there are no objects of this kind";
    return json_pack("{s:s, s:o, s:o, s:o}", "op", "page", "objects", p.objects, "next",
                     *p.next ? json_string(p.next) : json_null(), "error",
                     fault ? json_string(fault) : json_null());
}

void hook_objects_query(void *arg, const json_t *query, int64_t ticket)
{
    const struct hook_server *s = arg;

    hook_pool_page(s->pool, ticket, hook_objects_page(s, query, false));
}

/* ---- hello ------------------------------------------------------------------------------------------- */

static const char *const hook_objects_types[] = {
#define TYPE(id, type) #id,
#include "attr_type.def"
#undef TYPE
};

static json_t *hook_objects_attributes(enum attr_of of)
{
    json_t *all = json_array();

    for (int i = 0; all && i < attr_def_count(of); i++) {
        const struct attr_def *d = attr_def_get(of, i);

        json_array_append_new(all, json_pack("[s, s, i, i, i]", d->name, hook_objects_types[d->type],
                                             (int)d->read, (int)d->write, (int)d->flags));
    }
    return all;
}

static json_t *hook_objects_resources(const struct resource_table *t)
{
    json_t *all = json_array();
    struct strbuf flags;

    strbuf_init(&flags, 64);
    for (const struct resource *r = resource_next(t, NULL); all && r; r = resource_next(t, r)) {
        strbuf_reset(&flags);
        resource_flags_format(r->flags, &flags);
        json_array_append_new(all, json_pack("[s, s, s]", r->name, r->type->name, strbuf_str(&flags)));
    }
    strbuf_fini(&flags);
    return all;
}

unsigned hook_objects_resources_known(void *arg)
{
    return resource_generation(((const struct hook_server *)arg)->o.ctx->resources);
}

json_t *hook_objects_resources_message(void *arg)
{
    const struct hook_server *s = arg;

    return json_pack("{s:s, s:o}", "op", "resources", "resources",
                     hook_objects_resources(s->o.ctx->resources));
}

json_t *hook_objects_hello(void *arg)
{
    const struct hook_server *s = arg;
    const struct server_ctx *ctx = s->o.ctx;
    const char *host = ctx->full_name ? ctx->full_name : ctx->name;

    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o}, s:o}", "op",
                     "hello", "version", 1, "daemon", "pbs_server", "server", hook_json_text(ctx->name),
                     "host", hook_json_text(host), "home", hook_json_text(ctx->home), "conf",
                     hook_json_conf(s->o.conf), "attributes", "job", hook_objects_attributes(OF_JOB), "queue",
                     hook_objects_attributes(OF_QUEUE), "server", hook_objects_attributes(OF_SERVER), "node",
                     hook_objects_attributes(OF_NODE), "resv", hook_objects_attributes(OF_RESV), "sched",
                     hook_objects_attributes(OF_SCHED), "resources", hook_objects_resources(ctx->resources));
}

const char *hook_objects_requestor(struct request *r)
{
    return client_sched(request_client(r)) ? "Scheduler" : request_user(r);
}
