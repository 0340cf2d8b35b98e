/* A victim's offer. See plan_offer.h.
 *
 * victim.c finds the vnodes that the answer to a notice names, and asks its requester; plan_earmark.c drops the earmark's room for
 * a moment and asks here where the urgent job would be. Nothing is changed here: the caller moves the earmark, or puts it back.
 *
 * Two places are tried: where the plan has it, and the same with every vnode that the victim keeps replaced by one that it
 * offers. Which of them serves is plan_fit's arithmetic, as for any plan. A vnode replaces another only if the job
 * could not tell them apart: all that its chunks and its place ask for beside amounts is the same, and each is used
 * for one only, so that scattered chunks stay scattered. */
#include "plan_offer.h"

#include <stdlib.h>
#include <string.h>

#include "exec_vnode.h"
#include "earmark_sums.h"
#include "pbs_error.h"
#include "place.h"
#include "plan_fit.h"
#include "select.h"
#include "server_ctx.h"
#include "run_demand.h"
#include "words.h"

/* --- names --------------------------------------------------------------------------------------------- */

static bool plan_offer_is_named(const struct node *n, const char *name)
{
    size_t len = strcspn(n->host ? n->host : "", ".");

    return strcmp(n->obj.name, name) == 0 ||
           (n->host &&
            (strcmp(n->host, name) == 0 || (strlen(name) == len && strncmp(n->host, name, len) == 0)));
}

static int add_named(const struct job *victim, const char *name, struct strbuf *out, struct err *e)
{
    bool found = false;

    for (const struct node_use *u = victim->uses; u; u = u->next_of_job)
        if (plan_offer_is_named(u->node, name)) {
            strbuf_add_sep(out, "+");
            strbuf_add(out, u->node->obj.name);
            found = true;
        }
    return found ? 0 : err_set(e, PBSE_IVALREQ, "%s is not a vnode of the job", name);
}

int plan_offer_names(const struct job *victim, const char *text, struct strbuf *out, struct err *e)
{
    struct words w;
    int rc;

    words_init(&w);
    rc = words_parse(text, "+,", 0, &w, e);
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        rc = add_named(victim, w.w[i], out, e);
    words_fini(&w);
    if (rc == 0 && !strbuf_ok(out))
        rc = err_set(e, PBSE_IVALREQ, "too many vnodes are named");
    return rc;
}

/* --- is one vnode like another? ------------------------------------------------------------------------ */

static bool plan_offer_same_text(const struct node *a, const struct node *b, int attr)
{
    const char *x = attr_list_text(&a->obj.attrs, attr), *y = attr_list_text(&b->obj.attrs, attr);

    return strcmp(x ? x : "", y ? y : "") == 0;
}

static bool same_value(const struct server_ctx *s, const struct node *a, const struct node *b,
                       const char *resource)
{
    const struct resource *r = resource_find(s->resources, resource);
    const struct value *x, *y;

    if (!r || r->id == RESC_host || r->id == RESC_vnode)
        return false;
    if (resource_is_consumable(r))
        return true;
    x = attr_list_amount(&a->obj.attrs, NODE_ATTR_resources_available, r->id);
    y = attr_list_amount(&b->obj.attrs, NODE_ATTR_resources_available, r->id);
    return (!x && !y) || (x && y && r->type->compare && r->type->compare(r->type, x, y) == 0);
}

/* Resources that matter to the nodefile alone. */
static bool is_of_tasks(const char *resource)
{
    return strcmp(resource, "mpiprocs") == 0 || strcmp(resource, "ompthreads") == 0;
}

static bool is_like(const struct server_ctx *s, const struct select *asked, const struct place *place,
                    const struct node *a, const struct node *b)
{
    if (!plan_offer_same_text(a, b, NODE_ATTR_queue) || !plan_offer_same_text(a, b, NODE_ATTR_partition) ||
        !plan_offer_same_text(a, b, NODE_ATTR_sharing))
        return false;
    if (place->group[0] && !same_value(s, a, b, place->group))
        return false;
    for (size_t i = 0; i < asked->n; i++)
        for (size_t k = 0; k < asked->chunk[i].res.n; k++) {
            const char *name = asked->chunk[i].res.a[k].name;

            if (!is_of_tasks(name) && !same_value(s, a, b, name))
                return false;
        }
    return true;
}

/* --- other vnodes --------------------------------------------------------------------------------------- */

struct plan_offer_swap {
    const struct server_ctx *ctx;
    const struct job *victim;
    struct exec_vnode *where;
    struct select *asked;
    struct place place;
};

static bool is_in_plan(const struct plan_offer_swap *x, const struct node *n)
{
    for (size_t i = 0; i < x->where->n; i++) {
        const struct node *used = nodes_find(x->ctx->nodes, x->where->part[i].vnode);

        if (used == n || (used && used->host == n->host))
            return true;
    }
    return false;
}

/* Find an offered vnode that can replace this one, or NULL. */
static const struct node *replacement(const struct plan_offer_swap *x, const struct node *kept)
{
    for (const struct node_use *u = x->victim->uses; u; u = u->next_of_job)
        if (earmark_sums_is_offered(x->victim, u->node) && !is_in_plan(x, u->node) &&
            is_like(x->ctx, x->asked, &x->place, kept, u->node))
            return u->node;
    return NULL;
}

static bool is_used_by(const struct job *j, const struct node *n)
{
    for (const struct node_use *u = j->uses; u; u = u->next_of_job)
        if (u->node == n)
            return true;
    return false;
}

static int rename_all(struct plan_offer_swap *x, const char *from, const char *to)
{
    char name[256];

    snprintf(name, sizeof name, "%s", from);
    for (size_t i = 0; i < x->where->n; i++) {
        struct exec_vnode_part *p = &x->where->part[i];
        char *copy;

        if (strcmp(p->vnode, name) != 0)
            continue;
        copy = strdup(to);
        if (!copy)
            return -1;
        free(p->vnode);
        p->vnode = copy;
    }
    return 0;
}

/* Replace every vnode of the plan that the victim has and keeps. -1: no offered vnode can replace one of them. */
static int replace_kept(struct plan_offer_swap *x, struct err *e)
{
    for (size_t i = 0; i < x->where->n; i++) {
        const struct node *n = nodes_find(x->ctx->nodes, x->where->part[i].vnode), *other;

        if (!n || earmark_sums_is_offered(x->victim, n) || !is_used_by(x->victim, n))
            continue;
        other = replacement(x, n);
        if (!other)
            return err_set(e, PBSE_RESCUNAV, "no vnode that is offered can replace %s", n->obj.name);
        if (rename_all(x, n->obj.name, other->obj.name) < 0)
            return err_set(e, PBSE_SYSTEM, "no memory for an offer");
    }
    return 0;
}

/* --- is it enough? ------------------------------------------------------------------------------------- */

static struct fit_victim as_victim(struct job *j, const struct job *offering)
{
    struct fit_victim v = {.job = j};
    enum method_id m = j == offering ? METHOD_RELEASE : earmark_sums_method_of(j);

    if (m)
        preempt_methods_add(&v.methods, m);
    return v;
}

static int plan_offer_fits(const struct plan_offer_swap *x, const struct earmark_obj *h, struct err *e)
{
    struct fit_victim *v = calloc(h->n_victims + 1, sizeof *v);
    struct fit_ask ask = {.urgent = h->job, .victims = v, .n_victims = h->n_victims};
    struct run_demand *w = NULL;
    size_t n = 0;
    int rc = -1;

    if (!v)
        return err_set(e, PBSE_SYSTEM, "no memory for an offer");
    for (size_t i = 0; i < h->n_victims; i++)
        v[i] = as_victim(h->victims[i], x->victim);
    if (run_demands_make(x->ctx, h->job, x->where, &w, &n, e) == 0) {
        ask.wants = w;
        ask.n_wants = n;
        rc = plan_fit(x->ctx, &ask, e);
    }
    run_demands_free(w, n);
    free(v);
    return rc;
}

static int open_swap(struct plan_offer_swap *x, const struct earmark_obj *h, struct err *e)
{
    const char *where = attr_list_text(&h->obj.attrs, HOLD_ATTR_exec_vnode);
    const char *select = attr_list_text(&h->job->obj.attrs, JOB_ATTR_schedselect);
    const char *place = value_text(attr_list_amount(&h->job->obj.attrs, JOB_ATTR_Resource_List, RESC_place));

    x->where = where ? exec_vnode_parse(where, e) : NULL;
    x->asked = x->where && select ? select_parse(select, NULL, NULL, e) : NULL;
    if (!x->asked || (place && place_parse(place, &x->place, e) < 0))
        return err_set(e, PBSE_RESCUNAV, "the vnodes or the select of job %s cannot be read",
                       h->job->obj.name);
    return 0;
}

int plan_offer_place(const struct server_ctx *s, const struct earmark_obj *h, struct job *victim,
                     struct strbuf *out, struct err *e)
{
    struct plan_offer_swap x = {.ctx = s, .victim = victim};
    int rc = -1;

    if (open_swap(&x, h, e) == 0) {
        rc = plan_offer_fits(&x, h, e);
        if (rc < 0 && replace_kept(&x, e) == 0)
            rc = plan_offer_fits(&x, h, e);
    }
    if (rc == 0 && exec_vnode_format(x.where, out) < 0)
        rc = err_set(e, PBSE_SYSTEM, "no memory for an offer");
    exec_vnode_destroy(x.where);
    select_destroy(x.asked);
    return rc;
}
