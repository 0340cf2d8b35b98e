/* What an exec_vnode asks of each vnode. See run_demand.h.
 *
 * A vnode may be in several chunks; the sum is checked and claimed, so each vnode has one entry.
 * Texts become amounts here, and nowhere later: a bad one is found before anything is changed.
 *
 * Three steps: amounts of the exec_vnode, by vnode; which vnodes are wanted alone, with the other vnodes of hosts that are wanted as a whole
 * (`beside`); and amounts that are borrowed move to their lenders (`lent`). Claims, plans, earmarks and reservations all begin with
 * this, so they cannot differ in what a run needs. */
#include "run_demand.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "pbs_error.h"
#include "place.h"
#include "server_ctx.h"

void run_demands_free(struct run_demand *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        resc_free(w[i].amounts);
    free(w);
}

/* The entry of this vnode, made if there is none. Its place is noted in the vnode, so no search is needed; the note may be of an
 * earlier list, and is checked. */
static struct run_demand *want_of(struct run_demand *w, size_t *n, struct node *node)
{
    if (node->want_at < *n && w[node->want_at].node == node)
        return &w[node->want_at];
    node->want_at = *n;
    w[*n] = (struct run_demand){.node = node};
    return &w[(*n)++];
}

static int run_demand_add_amounts(const struct server_ctx *s, struct run_demand *w,
                                  const struct exec_vnode_part *p, struct err *e)
{
    struct resc_list *more = NULL;
    int rc = -1;

    for (size_t i = 0; i < p->res.n; i++) {
        const struct resource *r = resource_find(s->resources, p->res.a[i].name);

        if (!r) {
            err_set(e, PBSE_UNKRESC, "resource %s of %s is unknown", p->res.a[i].name, p->vnode);
            goto out;
        }
        if (resc_parse(&more, r, p->res.a[i].value, false, e) < 0)
            goto out;
    }
    rc = resc_add(&w->amounts, more, s->resources, 0, e);
out:
    resc_free(more);
    return rc;
}

/* --- alone ------------------------------------------------------------------------------------------ */

static enum place_sharing sharing_of(const char *text)
{
    struct place p;
    struct err e;

    return text && place_parse(text, &p, &e) == 0 ? p.sharing : PLACE_UNSAID;
}

/* What a word of `sharing` means: rows by the word, columns by what the job's place says. */
enum alone { TOGETHER, VNODE, HOST };
static const struct {
    const char *word;
    enum alone alone[PLACE_SHARING_COUNT];
} sharings[] = {
    /* clang-format off */
    /*                  not said  shared    excl      exclhost */
    {"default_shared",   {TOGETHER, TOGETHER, VNODE,    HOST}},
    {"default_excl",     {VNODE,    TOGETHER, VNODE,    HOST}},
    {"default_exclhost", {HOST,     TOGETHER, VNODE,    HOST}},
    {"ignore_excl",      {TOGETHER, TOGETHER, TOGETHER, TOGETHER}},
    {"force_excl",       {VNODE,    VNODE,    VNODE,    HOST}},
    {"force_exclhost",   {HOST,     HOST,     HOST,     HOST}},
    /* clang-format on */
};

static enum alone alone_on(const struct node *n, enum place_sharing place)
{
    const char *word = attr_list_text(&n->obj.attrs, NODE_ATTR_sharing);

    for (size_t i = 0; word && i < sizeof sharings / sizeof *sharings; i++)
        if (strcmp(sharings[i].word, word) == 0)
            return sharings[i].alone[place];
    return sharings[0].alone[place];
}

/* The other vnodes of this one's host. */
static int add_beside(const struct server_ctx *s, struct run_demand **w, size_t *n, const struct node *of,
                      struct err *e)
{
    for (struct node *node = nodes_first(s->nodes); node; node = nodes_next(node)) {
        struct run_demand *more;

        if (node == of || node->host != of->host || !of->host)
            continue;
        more = realloc(*w, (*n + 1) * sizeof *more);
        if (!more)
            return err_set(e, PBSE_SYSTEM, "no memory for a claim");
        *w = more;
        size_t before = *n;
        struct run_demand *x = want_of(*w, n, node);
        x->alone = true;
        x->beside = x->beside || *n > before;
    }
    return 0;
}

static int mark_alone(const struct server_ctx *s, const char *text, struct run_demand **w, size_t *n,
                      struct err *e)
{
    enum place_sharing place = sharing_of(text);
    size_t named = *n;

    for (size_t i = 0; i < named; i++) {
        enum alone a = alone_on((*w)[i].node, place);

        (*w)[i].alone = (*w)[i].alone || a != TOGETHER;
        if (a == HOST && add_beside(s, w, n, (*w)[i].node, e) < 0)
            return -1;
    }
    return 0;
}

/* --- indirect amounts ------------------------------------------------------------------------------------ */

static int move_amount(const struct server_ctx *s, struct run_demand *from, struct run_demand *to,
                       const struct value *v, struct err *e)
{
    struct resc_list *one = NULL;
    struct value copy;
    int rc = value_dup(v, &copy);

    if (rc == 0 && (rc = resc_put(&one, v->tag, copy, e)) == 0)
        rc = resc_add(&to->amounts, one, s->resources, 0, e);
    if (rc == 0) /* `from` may be the memory of v: free it last */
        resc_remove(&from->amounts, v->tag);
    resc_free(one);
    return rc < 0 ? err_set(e, PBSE_SYSTEM, "no memory for a claim") : 0;
}

/* What this vnode of the exec_vnode has only as "@other" is asked of that one. */
static int borrow(const struct server_ctx *s, struct run_demand **w, size_t *n, size_t of, struct err *e)
{
    for (size_t i = 0; (*w)[of].amounts && i < (*w)[of].amounts->n;) {
        const struct value *v = &(*w)[of].amounts->v[i];
        struct node *lender = node_lender(s->nodes, (*w)[of].node, v->tag);
        struct run_demand *more, *to;
        size_t before = *n;

        if (!lender || lender == (*w)[of].node) {
            i++;
            continue;
        }
        more = realloc(*w, (*n + 1) * sizeof *more);
        if (!more)
            return err_set(e, PBSE_SYSTEM, "no memory for a claim");
        *w = more;
        to = want_of(*w, n, lender);
        to->lent = *n > before;
        if (move_amount(s, &(*w)[of], to, v, e) < 0)
            return -1;
    }
    return 0;
}

static int borrow_all(const struct server_ctx *s, struct run_demand **w, size_t *n, struct err *e)
{
    size_t named = *n;

    for (size_t i = 0; i < named; i++)
        if (borrow(s, w, n, i, e) < 0)
            return -1;
    return 0;
}

static int run_demand_order_services(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;

    return (*a > *b) - (*a < *b);
}

/* START lists the chunks of each service: what it cannot hold is refused here, before a job is preempted for
 * it. */
static int check_chunks(const struct server_ctx *s, const struct exec_vnode *ev, struct err *e)
{
    const char **services = ev->n > RUN_DEMAND_CHUNKS_MAX ? calloc(ev->n, sizeof *services) : NULL;
    size_t same = 0;
    int rc = 0;

    if (ev->n <= RUN_DEMAND_CHUNKS_MAX)
        return 0;
    if (!services)
        return err_set(e, PBSE_SYSTEM, "no memory for a claim");
    for (size_t i = 0; i < ev->n; i++) {
        const struct node *node = nodes_find(s->nodes, ev->part[i].vnode);

        services[i] = node ? node->service_name : NULL; /* interned */
    }
    qsort(services, ev->n, sizeof *services, run_demand_order_services);
    for (size_t i = 0; rc == 0 && i < ev->n; i++) {
        same = i && services[i] == services[i - 1] ? same + 1 : 1;
        if (same > RUN_DEMAND_CHUNKS_MAX)
            rc = err_set(e, PBSE_IVALREQ, "more than %d chunks on one host", RUN_DEMAND_CHUNKS_MAX);
    }
    free(services);
    return rc;
}

int run_demands_make(const struct server_ctx *s, const struct job *j, const struct exec_vnode *ev,
                     struct run_demand **out, size_t *n, struct err *e)
{
    const char *place = value_text(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_place));

    return run_demands_make_for(s, place, ev, out, n, e);
}

int run_demands_make_for(const struct server_ctx *s, const char *place, const struct exec_vnode *ev,
                         struct run_demand **out, size_t *n, struct err *e)
{
    struct run_demand *w;

    *n = 0;
    if (check_chunks(s, ev, e) < 0)
        return -1;
    w = calloc(ev->n ? ev->n : 1, sizeof *w);
    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory for a claim");
    for (size_t i = 0; i < ev->n; i++) {
        struct node *node = nodes_find(s->nodes, ev->part[i].vnode);

        if (!node) {
            err_set(e, PBSE_UNKNODE, "Unknown node %s", ev->part[i].vnode);
            goto fail;
        }
        if (run_demand_add_amounts(s, want_of(w, n, node), &ev->part[i], e) < 0)
            goto fail;
    }
    if (mark_alone(s, place, &w, n, e) < 0 || borrow_all(s, &w, n, e) < 0)
        goto fail;
    *out = w;
    return 0;
fail:
    run_demands_free(w, *n);
    *n = 0;
    return -1;
}
