/* The execution services. See services.h.
 *
 * A service is made at its first HELLO, or for a stored node that names it, and lives until the server
 * ends: nodes and connections point to it. Which nodes it serves is kept in the nodes; the name outlives it
 * there, in the store, and with it what tells it from another of that name.
 *
 * Who writes a service: exec_hello.c what HELLO says, exec_calls.c `leaving`, service_conn.c its connection, node_watch.c since when it
 * is away, node_report.c what it said of its vnodes, exec_orders.c what it has not answered. */
#include "services.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "pbs_error.h"
#include "server_ctx.h"

struct services {
    struct server_ctx *ctx;
    struct service *table;
};

struct services *services_create(struct server_ctx *s)
{
    struct services *sv = calloc(1, sizeof *sv);

    if (sv)
        sv->ctx = s;
    return sv;
}

static void service_free(struct service *s)
{
    call_list_drop(&s->waiters);
    intern_unref(s->name);
    intern_unref(s->host);
    intern_unref(s->address);
    intern_unref(s->last_address);
    intern_unref(s->boot);
    intern_unref(s->instance);
    intern_unref(s->version);
    free(s->said);
    free(s);
}

void services_destroy(struct services *sv)
{
    struct service *s, *next;

    if (!sv)
        return;
    HASH_ITER(hh, sv->table, s, next)
    {
        HASH_DEL(sv->table, s);
        service_free(s);
    }
    free(sv);
}

struct service *services_find(const struct services *sv, const char *name)
{
    struct service *s;

    HASH_FIND_STR(sv->table, name, s);
    return s;
}

struct service *services_get(struct services *sv, const char *name)
{
    struct service *s = services_find(sv, name);

    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->name = intern_ref(name);
    call_list_init(&s->waiters);
    HASH_ADD_KEYPTR(hh, sv->table, s->name, strlen(s->name), s);
    return s;
}

struct service *services_first(const struct services *sv)
{
    return sv->table;
}

struct service *services_next(const struct service *s)
{
    return s->hh.next;
}

bool service_is_here(const struct service *s)
{
    return s && s->conn && s->accepted;
}

bool service_is_connected(const struct service *s)
{
    return s && s->conn;
}

int service_wait(struct service *s, loop_fn *fn, void *arg)
{
    struct call *c = call_list_create_call(fn, arg);

    if (!c)
        return -1;
    call_list_add(&s->waiters, c);
    return 0;
}

void service_wake(struct service *s)
{
    struct call_list now; /* one of them may wait again, for the next HELLO */
    struct call *c;

    call_list_init(&now);
    call_list_move(&now, &s->waiters);
    while ((c = call_list_take(&now))) {
        c->fn(c->arg);
        free(c);
    }
}

void services_count(const struct services *sv, const struct nodes *ns, size_t *up, size_t *down)
{
    *up = *down = 0;
    for (struct service *s = sv->table; s; s = s->hh.next) {
        s->counted = service_is_connected(s);
        *up += s->counted;
    }
    for (const struct node *n = nodes_first(ns); n; n = nodes_next(n)) {
        struct service *s = n->service;

        if (!s && n->service_name)
            s = services_find(sv, n->service_name);
        if (s && s->counted)
            continue;
        if (s)
            s->counted = true;
        ++*down;
    }
}

static bool services_set_text(const char **field, const char *text)
{
    const char *old = *field;

    if (old == text)
        return false;
    *field = intern_again(text);
    intern_unref(old);
    return true;
}

void services_note(struct services *sv, const struct service *s, struct node *n)
{
    bool changed = services_set_text(&n->service_instance, s->instance);

    changed |= services_set_text(&n->service_boot, s->boot);
    changed |= services_set_text(&n->service_host, s->host);
    if (s->address)
        changed |= services_set_text(&n->service_address, s->address);
    if (changed)
        change_touch(sv->ctx->change, &n->obj.change, PART_HOT);
}

void services_recall(struct service *s, const struct node *n)
{
    services_set_text(&s->instance, n->service_instance);
    services_set_text(&s->boot, n->service_boot);
    services_set_text(&s->host, n->service_host);
    services_set_text(&s->last_address, n->service_address);
}

const char *service_address(const struct service *s)
{
    const char *a = s->address ? s->address : s->last_address;

    return a && a[0] ? a : NULL;
}

void services_bind(struct services *sv, struct service *s, struct node *n)
{
    const char *old = n->service_name;

    n->service = s;
    if (old == s->name)
        return;
    n->service_name = intern_again(s->name);
    intern_unref(old);
    services_note(sv, s, n);
    change_touch(sv->ctx->change, &n->obj.change, PART_HOT);
}
