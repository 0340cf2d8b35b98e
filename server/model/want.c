/* What an exec_vnode asks of each vnode. See want.h.
 *
 * A vnode may stand in several chunks; what is checked and claimed is the sum, so each has one entry.
 * Texts become amounts here, and nowhere later: a bad one is found before anything is changed. */
#include "want.h"

#include <stdlib.h>

#include "pbs_error.h"
#include "site.h"

void wants_free(struct want *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        resc_free(w[i].amounts);
    free(w);
}

static struct want *want_of(struct want *w, size_t *n, struct node *node)
{
    for (size_t i = 0; i < *n; i++)
        if (w[i].node == node)
            return &w[i];
    w[*n].node = node;
    w[*n].amounts = NULL;
    return &w[(*n)++];
}

static int add_amounts(const struct site *s, struct want *w, const struct exec_vnode_part *p, struct err *e)
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

int wants_make(const struct site *s, const struct exec_vnode *ev, struct want **out, size_t *n, struct err *e)
{
    struct want *w = calloc(ev->n ? ev->n : 1, sizeof *w);

    *n = 0;
    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory for a claim");
    for (size_t i = 0; i < ev->n; i++) {
        struct node *node = nodes_find(s->nodes, ev->part[i].vnode);

        if (!node) {
            err_set(e, PBSE_UNKNODE, "Unknown node %s", ev->part[i].vnode);
            goto bad;
        }
        if (add_amounts(s, want_of(w, n, node), &ev->part[i], e) < 0)
            goto bad;
    }
    *out = w;
    return 0;
bad:
    wants_free(w, *n);
    *n = 0;
    return -1;
}
