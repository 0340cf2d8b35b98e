/* Completing a request. See defaults.h.
 *
 * The order is the rule: what was added before goes; the old form nodes= becomes select and place;
 * defaults of the queue, then of the server, fill what is missing; without a select, host resources asked
 * for job-wide become one chunk. Then the select, completed by default_chunk, gives schedselect and the
 * job-wide sums. The select itself stays as the user wrote it. A value added here has `defaulted` set;
 * without that mark a job that moves to another queue would keep the old queue's defaults. What the job itself asked
 * for keeps its own mark also where a sum is written over it: it is what the next completion begins from. */
#include "defaults.h"

#include <string.h>

#include "pbs_error.h"
#include "place.h"
#include "select.h"
#include "select_old.h"
#include "server_ctx.h"
#include "strbuf.h"

enum { TEXT_LIMIT = 1 << 20 }; /* PBS_VALUE_MAX of ifl/protocol/types.x */

static const struct resc_list *list_of(const struct attr_list *l)
{
    return attr_list_amounts(l, JOB_ATTR_Resource_List);
}

static bool is_own(const struct attr_list *l, int id)
{
    const struct value *v = attr_list_amount(l, JOB_ATTR_Resource_List, id);

    return v && !v->defaulted;
}

static int defaults_put(struct attr_list *l, int id, struct value v, struct err *e)
{
    v.defaulted = !is_own(l, id);
    return attr_list_set_amount(l, JOB_ATTR_Resource_List, id, v, e);
}

/* Write the amount in the unit that the job used: 100mb, not 102400kb. */
static bool defaults_is_said(const struct resource *r, const struct attr_list *l, const struct value *v)
{
    return is_own(l, r->id) && r->type->compare &&
           r->type->compare(r->type, v, attr_list_amount(l, JOB_ATTR_Resource_List, r->id)) == 0;
}

static int defaults_put_text(const struct server_ctx *s, struct attr_list *l, int id, const char *text,
                             struct err *e)
{
    const struct resource *r = resource_get(s->resources, id);
    struct value v;

    if (r->type->parse(r->type, text, &v, e) < 0)
        return -1;
    if (defaults_is_said(r, l, &v)) {
        r->type->free(&v);
        return 0;
    }
    return defaults_put(l, id, v, e);
}

static void drop_defaulted(struct attr_list *l)
{
    const struct resc_list *r = list_of(l);

    for (size_t i = r ? r->n : 0; i-- > 0;) {
        if (r->v[i].defaulted)
            attr_list_unset_amount(l, JOB_ATTR_Resource_List, r->v[i].tag);
        r = list_of(l);
        if (!r)
            return;
    }
}

static int add_defaults(struct attr_list *l, const struct resc_list *from, struct err *e)
{
    for (size_t i = 0; from && i < from->n; i++) {
        struct value copy;

        if (attr_list_amount(l, JOB_ATTR_Resource_List, from->v[i].tag))
            continue;
        if (value_dup(&from->v[i], &copy) < 0 || defaults_put(l, from->v[i].tag, copy, e) < 0)
            return err_set(e, PBSE_SYSTEM, "no memory for defaults");
    }
    return 0;
}

static const char *defaults_text_of(const struct attr_list *l, int id)
{
    return value_text(attr_list_amount(l, JOB_ATTR_Resource_List, id));
}

/* --- old forms ------------------------------------------------------------------------------------ */

static int defaults_is_property(void *ctx, const char *name)
{
    const struct resource *r = resource_find(((struct server_ctx *)ctx)->resources, name);

    return r && (r->flags & RESC_HOST) && strcmp(r->type->name, "boolean") == 0;
}

/* What each of n nodes gives of an amount that was asked for job-wide, rounded up: -l nodes=2,mem=3gb. */
static void share_of(const struct resource *r, const struct value *v, uint64_t n, struct strbuf *scratch)
{
    enum { KB = 1024 };
    bool is_size = strcmp(r->type->name, "size") == 0;
    uint64_t whole = value_number(v) > 0 ? (uint64_t)value_number(v) : 0, unit = is_size ? KB : 1;

    strbuf_addf(scratch, "%llu%s", (unsigned long long)((whole + n * unit - 1) / (n * unit)),
                is_size ? "kb" : "");
}

/* ncpus are those of the node spec where it says a number of them. */
static int give_share(struct select *sel, const struct resource *r, const struct value *v, bool counts_cpus,
                      struct err *e)
{
    struct strbuf text;
    int rc = 0;

    strbuf_init(&text, TEXT_LIMIT);
    share_of(r, v, select_count(sel), &text);
    if (r->id != RESC_ncpus)
        rc = select_complete(sel, r->name, strbuf_str(&text), e);
    else if (!counts_cpus)
        rc = select_replace(sel, r->name, strbuf_str(&text), e);
    strbuf_fini(&text);
    return rc;
}

/* The host resources that are given job-wide beside nodes= are those of its nodes together. */
static int share_amounts(struct server_ctx *s, const struct attr_list *l, const char *nodes,
                         struct strbuf *select, struct err *e)
{
    const struct resc_list *r = list_of(l);
    struct select *sel = select_parse(strbuf_str(select), NULL, NULL, e);
    bool counts_cpus = strstr(nodes, "ppn=") || strstr(nodes, "ncpus=") || strstr(nodes, "cpp=");
    int rc = sel ? 0 : -1;

    for (size_t i = 0; rc == 0 && r && i < r->n; i++) {
        const struct resource *def = resource_get(s->resources, r->v[i].tag);

        if (!r->v[i].defaulted && (def->flags & RESC_HOST) && resource_is_consumable(def) &&
            strcmp(def->type->name, "float") != 0)
            rc = give_share(sel, def, &r->v[i], counts_cpus, e);
    }
    if (rc == 0) {
        strbuf_reset(select);
        rc = select_format(sel, select) < 0 ? err_set(e, PBSE_SYSTEM, "no memory for a select") : 0;
    }
    select_destroy(sel);
    return rc;
}

static int from_nodes(struct server_ctx *s, struct attr_list *l, const char *nodes, struct err *e)
{
    struct strbuf select, place;
    int rc = -1;

    if (is_own(l, RESC_select) || is_own(l, RESC_place))
        return err_set(e, PBSE_INVALNODEPLACE, "Cannot be used with select or place: nodes");
    strbuf_init(&select, TEXT_LIMIT);
    strbuf_init(&place, TEXT_LIMIT);
    if (select_old_nodes(nodes, defaults_is_property, s, &select, &place, e) == 0 &&
        share_amounts(s, l, nodes, &select, e) == 0 &&
        defaults_put_text(s, l, RESC_select, strbuf_str(&select), e) == 0 &&
        defaults_put_text(s, l, RESC_place, strbuf_str(&place), e) == 0)
        rc = 0;
    strbuf_fini(&select);
    strbuf_fini(&place);
    return rc;
}

/* Without a select, the host resources that were asked for job-wide become one chunk. */
static int from_amounts(struct server_ctx *s, struct attr_list *l, struct err *e)
{
    const struct resc_list *r = list_of(l);
    struct select_old_resource old[256];
    struct strbuf scratch[256], select;
    size_t n = 0;
    int rc = -1;

    strbuf_init(&select, TEXT_LIMIT);
    for (size_t i = 0; r && i < r->n && n < 256; i++) {
        const struct resource *def = resource_get(s->resources, r->v[i].tag);

        if (!(def->flags & RESC_HOST))
            continue;
        strbuf_init(&scratch[n], TEXT_LIMIT);
        old[n].name = def->name;
        old[n].value = value_show(def->type, &r->v[i], &scratch[n]);
        n++;
    }
    if (select_old_amounts(old, n, &select) < 0)
        err_set(e, PBSE_SYSTEM, "no memory for a select");
    else
        rc = defaults_put_text(s, l, RESC_select, strbuf_str(&select), e);
    for (size_t i = 0; i < n; i++)
        strbuf_fini(&scratch[i]);
    strbuf_fini(&select);
    if (rc == 0 && !defaults_text_of(l, RESC_place))
        rc = defaults_put_text(s, l, RESC_place, "pack", e);
    return rc;
}

/* --- select --------------------------------------------------------------------------------------- */

/* Refuse negative amounts of consumable resources: they would add to what other jobs may use. */
static int defaults_check_amount(const struct resource *r, const struct value *v, struct err *e)
{
    bool negative = v->kind == VALUE_REAL ? v->real < 0 : v->kind == VALUE_NUMBER && v->n < 0;

    if (!negative || !resource_is_consumable(r))
        return 0;
    return err_set(e, PBSE_BADATVAL, "Illegal attribute or resource value: %s: the amount is negative",
                   r->name);
}

static int defaults_check_amounts(struct server_ctx *s, const struct attr_list *l, struct err *e)
{
    const struct resc_list *r = list_of(l);

    for (size_t i = 0; r && i < r->n; i++)
        if (defaults_check_amount(resource_get(s->resources, r->v[i].tag), &r->v[i], e) < 0)
            return -1;
    return 0;
}

static int defaults_check_chunk(void *ctx, const char *name, const char *value, struct err *e)
{
    const struct resource_table *t = ((struct server_ctx *)ctx)->resources;
    const struct resource *r = resource_find(t, name);
    struct value v;
    int rc;

    if (!r)
        return resource_unknown(t, NULL, name, e);
    if (!(r->flags & RESC_HOST))
        return err_set(e, PBSE_INVALSELECTRESC, "Resource invalid in \"select\" specification: %s", name);
    if (r->type->parse(r->type, value, &v, e) < 0)
        return err_prefix(e, "select: %s", name);
    rc = defaults_check_amount(r, &v, e);
    r->type->free(&v);
    return rc;
}

static int refuse_jobwide(struct server_ctx *s, const struct attr_list *l, struct err *e)
{
    const struct resc_list *r = list_of(l);

    for (size_t i = 0; r && i < r->n; i++) {
        const struct resource *def = resource_get(s->resources, r->v[i].tag);

        if (!r->v[i].defaulted && (def->flags & RESC_HOST) && resource_is_consumable(def))
            return err_set(e, PBSE_INVALJOBRESC,
                           "\"-lresource=\" cannot be used with \"select\" or \"place\", resource is: %s",
                           def->name);
    }
    return 0;
}

void defaults_make_way(const struct server_ctx *s, struct attr_list *l)
{
    const struct resc_list *r = list_of(l);
    size_t i = r ? r->n : 0;

    /* From the end, and the list looked up again each time: an amount that goes may take the list along. */
    while ((r = list_of(l)) && i > 0) {
        const struct resource *def = --i < r->n ? resource_get(s->resources, r->v[i].tag) : NULL;

        if (def && (def->id == RESC_nodes || ((def->flags & RESC_HOST) && resource_is_consumable(def))))
            attr_list_unset_amount(l, JOB_ATTR_Resource_List, def->id);
    }
}

struct defaults_sums {
    struct server_ctx *ctx;
    struct attr_list *l;
    const struct select *select;
    struct err *e;
};

static enum select_kind defaults_kind_of(const struct resource *r)
{
    if (strcmp(r->type->name, "size") == 0)
        return SELECT_SIZE;
    return strcmp(r->type->name, "float") == 0 ? SELECT_REAL : SELECT_INTEGER;
}

static int defaults_add_sum(void *arg, const char *name)
{
    struct defaults_sums *u = arg;
    const struct resource *r = resource_find(u->ctx->resources, name);
    struct select_sum sum;

    if (!resource_is_consumable(r) && r->id != RESC_mpiprocs)
        return 0;
    switch (select_sum(u->select, name, defaults_kind_of(r), &sum, u->e)) {
    case 1:
        return defaults_put_text(u->ctx, u->l, r->id, sum.text, u->e);
    case 0:
        return 0;
    }
    return -1;
}

static int complete_chunks(struct server_ctx *s, struct select *sel, const struct resc_list *chunk,
                           struct err *e)
{
    struct strbuf scratch;
    int rc = 0;

    strbuf_init(&scratch, TEXT_LIMIT);
    for (size_t i = 0; rc == 0 && chunk && i < chunk->n; i++) {
        const struct resource *r = resource_get(s->resources, chunk->v[i].tag);

        rc = select_complete(sel, r->name, value_show(r->type, &chunk->v[i], &scratch), e);
    }
    strbuf_fini(&scratch);
    return rc;
}

static int default_chunks(struct server_ctx *s, struct select *sel, const struct queue *q, struct err *e)
{
    if (q && complete_chunks(s, sel, attr_list_amounts(&q->obj.attrs, QUEUE_ATTR_default_chunk), e) < 0)
        return -1;
    if (complete_chunks(s, sel, attr_list_amounts(&s->server->obj.attrs, SERVER_ATTR_default_chunk), e) < 0)
        return -1;
    return select_complete(sel, "ncpus", "1", e);
}

static int set_schedselect(struct attr_list *l, const struct select *sel, struct err *e)
{
    struct strbuf text;
    int rc = -1;

    strbuf_init(&text, TEXT_LIMIT);
    if (select_format(sel, &text) == 0)
        rc = attr_list_set_text(l, JOB_ATTR_schedselect, strbuf_str(&text), e);
    else
        err_set(e, PBSE_SYSTEM, "no memory for a select");
    strbuf_fini(&text);
    return rc;
}

static const char *defaults_name_of(void *ctx, const char *name)
{
    const struct resource *r = resource_find(((const struct server_ctx *)ctx)->resources, name);

    return r ? r->name : NULL;
}

/* 1: names were written otherwise, and *text is the select now; the caller frees it. 0: none was. -1, as select_spell. */
static int defaults_spelled(const struct server_ctx *s, struct select *sel, char **text, struct err *e)
{
    int rc = select_spell(sel, defaults_name_of, (void *)(uintptr_t)s, e);
    struct strbuf now;

    if (rc <= 0)
        return rc;
    strbuf_init(&now, TEXT_LIMIT);
    *text = select_format(sel, &now) == 0 ? strbuf_take(&now) : NULL;
    strbuf_fini(&now);
    return *text ? 1 : err_set(e, PBSE_SYSTEM, "no memory for a select");
}

char *defaults_spell_select(const struct server_ctx *s, const char *text)
{
    struct select *sel = select_parse(text, NULL, NULL, NULL);
    struct err ignored;
    char *now = NULL;

    if (sel)
        (void)defaults_spelled(s, sel, &now, &ignored);
    select_destroy(sel);
    return now;
}

/* In the job too: what is read of it later knows one name of each resource. */
static int defaults_spell(struct server_ctx *s, struct attr_list *l, struct select *sel, struct err *e)
{
    char *text;
    int rc = defaults_spelled(s, sel, &text, e);

    if (rc <= 0)
        return rc;
    rc = defaults_put_text(s, l, RESC_select, text, e);
    free(text);
    return rc;
}

static int from_select(struct server_ctx *s, struct attr_list *l, const struct queue *q, struct err *e)
{
    struct select *sel = select_parse(defaults_text_of(l, RESC_select), defaults_check_chunk, s, e);
    struct defaults_sums sums = {s, l, sel, e};
    char count[32];
    int rc = -1;

    if (!sel)
        return -1;
    if (defaults_spell(s, l, sel, e) == 0 && default_chunks(s, sel, q, e) == 0 &&
        select_each_name(sel, defaults_add_sum, &sums) == 0 && set_schedselect(l, sel, e) == 0) {
        snprintf(count, sizeof count, "%llu", (unsigned long long)select_count(sel));
        rc = defaults_put_text(s, l, RESC_nodect, count, e);
    }
    select_destroy(sel);
    return rc;
}

static int check_place(struct server_ctx *s, struct attr_list *l, struct err *e)
{
    struct place p;

    if (!defaults_text_of(l, RESC_place))
        return defaults_put_text(s, l, RESC_place, "free", e);
    return place_parse(defaults_text_of(l, RESC_place), &p, e);
}

/* --- jobs that shrink to fit ------------------------------------------------------------------------ */

static int check_shrinking(const struct attr_list *l, struct err *e)
{
    const struct value *min = attr_list_amount(l, JOB_ATTR_Resource_List, RESC_min_walltime),
                       *max = attr_list_amount(l, JOB_ATTR_Resource_List, RESC_max_walltime);

    if ((min || max) && attr_list_amount(l, JOB_ATTR_Resource_List, RESC_soft_walltime))
        return err_set(e, PBSE_SOFTWT_STF, "soft_walltime is not supported with Shrink to Fit jobs");
    if (max && !min)
        return err_set(e, PBSE_MAX_NO_MINWT, "Cannot have \"max_walltime\" without \"min_walltime\"");
    if (max && value_number(min) > value_number(max))
        return err_set(e, PBSE_MIN_GT_MAXWT, "\"min_walltime\" can not be greater than \"max_walltime\"");
    return 0;
}

/* The queue's defaults go before the server's. */
static int add_all_defaults(const struct server_ctx *s, struct attr_list *l, const struct queue *q,
                            struct err *e)
{
    if (q && add_defaults(l, attr_list_amounts(&q->obj.attrs, QUEUE_ATTR_resources_default), e) < 0)
        return -1;
    return add_defaults(l, attr_list_amounts(&s->server->obj.attrs, SERVER_ATTR_resources_default), e);
}

int defaults_complete(struct server_ctx *s, struct attr_list *l, const struct queue *q, struct err *e)
{
    bool own_select = is_own(l, RESC_select);

    if (!own_select && is_own(l, RESC_place) && !defaults_text_of(l, RESC_select))
        return err_set(e, PBSE_PLACENOSELECT, "Cannot have \"place\" without \"select\"");
    drop_defaulted(l);
    if (defaults_check_amounts(s, l, e) < 0)
        return -1;
    if (own_select && refuse_jobwide(s, l, e) < 0)
        return -1;
    if (is_own(l, RESC_nodes) && from_nodes(s, l, defaults_text_of(l, RESC_nodes), e) < 0)
        return -1;
    if (add_all_defaults(s, l, q, e) < 0)
        return -1;
    if (!defaults_text_of(l, RESC_select) && from_amounts(s, l, e) < 0)
        return -1;
    if (from_select(s, l, q, e) < 0 || check_place(s, l, e) < 0)
        return -1;
    return check_shrinking(l, e);
}
