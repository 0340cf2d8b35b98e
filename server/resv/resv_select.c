/* The select of a reservation. See resv_select.h.
 *
 * A list of a job carries what is completed, since defaults.c knows these only. When a select is replaced all sums go, and what was
 * asked for beside the select stays. */
#include "resv_select.h"

#include <stdlib.h>
#include <string.h>

#include "defaults.h"
#include "log.h"
#include "pbs_error.h"
#include "select.h"
#include "strbuf.h"

enum { CHUNK_TEXT_MAX = 1 << 20 };

int resv_select_complete(struct server_ctx *s, struct attr_list *l, struct err *e)
{
    const struct resc_list *asked = attr_list_amounts(l, RESV_ATTR_Resource_List);
    struct resc_list *copy = NULL;
    struct attr_list job;
    int rc = -1;

    attr_list_init(&job, OF_JOB);
    if (asked &&
        (resc_dup(asked, &copy) < 0 || attr_list_set_amounts(&job, JOB_ATTR_Resource_List, copy, e) < 0))
        err_set(e, PBSE_SYSTEM, "no memory for a reservation");
    else if (defaults_complete(s, &job, NULL, e) == 0 &&
             attr_list_set_text(l, RESV_ATTR_schedselect, attr_list_text(&job, JOB_ATTR_schedselect), e) == 0)
        rc = resc_dup(attr_list_amounts(&job, JOB_ATTR_Resource_List), &copy) < 0
                 ? err_no_memory(e)
                 : attr_list_set_amounts(l, RESV_ATTR_Resource_List, copy, e);
    attr_list_fini(&job);
    return rc;
}

/* --- a part of another one ------------------------------------------------------------------------------- */

struct resv_select_kind { /* chunks that are alike */
    char *text;           /* resources by name */
    uint64_t count;
};

static int resv_select_by_name(const void *a, const void *b)
{
    return strcmp(((const struct amount_text *)a)->name, ((const struct amount_text *)b)->name);
}

static int resv_select_by_text(const void *a, const void *b)
{
    return strcmp(((const struct resv_select_kind *)a)->text, ((const struct resv_select_kind *)b)->text);
}

static char *resv_select_chunk_text(struct select_chunk *c)
{
    struct strbuf b;

    if (c->res.n)
        qsort(c->res.a, c->res.n, sizeof(*c->res.a), resv_select_by_name);
    strbuf_init(&b, CHUNK_TEXT_MAX);
    (void)amounts_text_format(&c->res, &b);
    return strbuf_take(&b);
}

static void resv_select_kinds_free(struct resv_select_kind *k, size_t n)
{
    for (size_t i = 0; k && i < n; i++)
        free(k[i].text);
    free(k);
}

/* Make one of those that are alike, in n >= 1 kinds. Return how many are left, in order. */
static size_t resv_select_merge(struct resv_select_kind *k, size_t n)
{
    size_t kept = 1;

    qsort(k, n, sizeof(*k), resv_select_by_text);
    for (size_t i = 1; i < n; i++)
        if (strcmp(k[kept - 1].text, k[i].text) == 0) {
            k[kept - 1].count += k[i].count;
            free(k[i].text);
        } else {
            k[kept++] = k[i];
        }
    return kept;
}

/* Its kinds of chunks in order, each once; freed by resv_select_kinds_free. NULL: no memory, or it cannot be read. */
static struct resv_select_kind *resv_select_kinds(const char *text, size_t *n)
{
    struct err e;
    struct select *s = select_parse(text, NULL, NULL, &e);
    struct resv_select_kind *k = s ? calloc(s->n + 1, sizeof(*k)) : NULL;
    bool failed = !k;

    *n = 0;
    for (size_t i = 0; !failed && i < s->n; i++) {
        k[i] = (struct resv_select_kind){resv_select_chunk_text(&s->chunk[i]), s->chunk[i].count};
        failed = !k[i].text;
        *n = i + 1;
    }
    select_destroy(s);
    if (failed) {
        resv_select_kinds_free(k, *n);
        *n = 0;
        return NULL;
    }
    *n = *n ? resv_select_merge(k, *n) : 0;
    return k;
}

static int resv_select_is_part(const char *part, const char *whole, struct err *e)
{
    size_t n, m, i, k = 0;
    struct resv_select_kind *a = resv_select_kinds(part, &n), *b = resv_select_kinds(whole, &m);
    int rc = 0;

    if (!a || !b)
        rc = err_no_memory(e);
    for (i = 0; rc == 0 && i < n; i++) {
        while (k < m && strcmp(b[k].text, a[i].text) < 0)
            k++;
        if (k == m || strcmp(b[k].text, a[i].text) != 0 || a[i].count > b[k].count)
            rc = err_set(e, PBSE_SELECT_NOT_SUBSET,
                         "New select must be made up of a subset of the original chunks");
    }
    resv_select_kinds_free(a, a ? n : 0);
    resv_select_kinds_free(b, b ? m : 0);
    return rc;
}

/* --- replaced --------------------------------------------------------------------------------------------- */

struct resv_select_drop { /* sums that are made again */
    const struct server_ctx *s;
    struct resc_list *rest; /* of the present list, what does not follow from the select */
    const struct resc_list *has;
    const struct select *old;
};

static bool resv_select_names(const struct select *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (amounts_text_find(&s->chunk[i].res, name))
            return true;
    return false;
}

static int resv_select_rest(struct resv_select_drop *d, struct err *e)
{
    for (size_t i = 0; d->has && i < d->has->n; i++) {
        int id = d->has->v[i].tag;
        struct value v;

        if (id == RESC_select || id == RESC_nodect || id == RESC_nodes ||
            resv_select_names(d->old, resource_get(d->s->resources, id)->name))
            continue;
        if (value_dup(&d->has->v[i], &v) < 0 || resc_put(&d->rest, id, v, e) < 0)
            return err_no_memory(e);
    }
    return 0;
}

/* Another select, whatever it is. -1, and `l` may be half done. */
static int resv_select_replace(struct server_ctx *s, struct attr_list *l, const char *select, struct err *e)
{
    struct resv_select_drop d = {.s = s,
                                 .has = attr_list_amounts(l, RESV_ATTR_Resource_List),
                                 .old =
                                     select_parse(attr_list_text(l, RESV_ATTR_schedselect), NULL, NULL, e)};
    struct select *old = (struct select *)d.old;
    int rc = old ? resv_select_rest(&d, e) : -1;

    select_destroy(old);
    if (rc == 0 && resc_parse(&d.rest, resource_get(s->resources, RESC_select), select, false, e) < 0)
        rc = -1;
    if (rc < 0) {
        resc_free(d.rest);
        return -1;
    }
    return attr_list_set_amounts(l, RESV_ATTR_Resource_List, d.rest, e) < 0 ? -1
                                                                            : resv_select_complete(s, l, e);
}

static const char *resv_select_text(const struct attr_list *l)
{
    return value_text(attr_list_amount(l, RESV_ATTR_Resource_List, RESC_select));
}

int resv_select_alter(struct server_ctx *s, struct attr_list *l, const char *select, struct err *e)
{
    char *was = strdup(attr_list_text(l, RESV_ATTR_schedselect));
    char *shown = strdup(resv_select_text(l) ? resv_select_text(l) : was);
    int rc = was && shown ? resv_select_replace(s, l, select, e) : err_no_memory(e);

    if (rc == 0)
        rc = resv_select_is_part(attr_list_text(l, RESV_ATTR_schedselect), was, e);
    if (rc == 0 && (attr_list_set_text(l, RESV_ATTR_reserve_select_revert, shown, e) < 0 ||
                    (!attr_list_is_set(l, RESV_ATTR_schedselect_orig) &&
                     attr_list_set_text(l, RESV_ATTR_schedselect_orig, was, e) < 0)))
        rc = -1;
    free(shown);
    free(was);
    return rc;
}

bool resv_select_is_altered(const struct resv *r)
{
    return attr_list_is_set(&r->obj.attrs, RESV_ATTR_reserve_select_revert);
}

/* --- and put back -------------------------------------------------------------------------------------------- */

static void resv_select_restore(struct reservations *all, struct resv *r, int from)
{
    struct attr_list *l = &r->obj.attrs;
    const char *kept = attr_list_text(l, from);
    char *text = kept ? strdup(kept) : NULL;
    struct err e;

    if (!kept)
        return;
    if (!text)
        abort(); /* its row would have amounts that it was refused */
    if (resv_select_replace(all->p.ctx, l, text, &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "its select cannot be put back");
    free(text);
    attr_list_unset(l, from);
    if (!attr_list_is_set(l, RESV_ATTR_reserve_select_orig))
        attr_list_unset(l, RESV_ATTR_schedselect_orig);
}

void resv_select_undo(struct reservations *all, struct resv *r)
{
    resv_select_restore(all, r, RESV_ATTR_reserve_select_revert);
}

void resv_select_keep(struct reservations *all, struct resv *r)
{
    struct attr_list *l = &r->obj.attrs;

    if (!resv_select_is_altered(r))
        return;
    if (resv_is_standing(r) && !attr_list_is_set(l, RESV_ATTR_reserve_select_orig))
        resv_set_text(r, RESV_ATTR_reserve_select_orig, attr_list_text(l, RESV_ATTR_reserve_select_revert));
    attr_list_unset(l, RESV_ATTR_reserve_select_revert);
    resv_queue_set_amounts(all, r);
}

void resv_select_undo_occurrence(struct reservations *all, struct resv *r)
{
    bool was = attr_list_is_set(&r->obj.attrs, RESV_ATTR_reserve_select_orig);

    resv_select_restore(all, r, RESV_ATTR_reserve_select_orig);
    if (was)
        resv_queue_set_amounts(all, r);
}
