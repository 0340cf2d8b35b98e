/* Where a job shall run. See run_where.h. A scheduler always names amounts, so its text passes unchanged; a person's list of
 * vnodes does not. Only what is counted at vnodes is in an exec_vnode; the rest of a chunk (arch, mpiprocs) has been
 * for choosing. Whether they have that much is asked by the claim (assign.c). */
#include "run_where.h"

#include "exec_vnode.h"
#include "job.h"
#include "pbs_error.h"
#include "resource.h"
#include "select.h"
#include "server_ctx.h"

static bool has_amounts(const struct exec_vnode *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->part[i].res.n)
            return true;
    return false;
}

static bool is_counted(const struct resource_table *t, const char *name)
{
    const struct resource *r = resource_find(t, name);

    return r && (r->flags & (RESC_PER_NODE | RESC_FIRST_NODE));
}

static int run_where_give(const struct resource_table *t, const struct amounts_text *chunk,
                          struct amounts_text *to, struct err *e)
{
    for (size_t i = 0; i < chunk->n; i++)
        if (is_counted(t, chunk->a[i].name) &&
            amounts_text_add(to, chunk->a[i].name, chunk->a[i].value, e) < 0)
            return -1;
    return 0;
}

/* The chunk on the vnodes of the next bracket of `named`; *at is its first vnode, and then that of the one behind it. */
static int place(const struct resource_table *t, const struct amounts_text *chunk,
                 const struct exec_vnode *named, size_t *at, struct exec_vnode *out, struct err *e)
{
    const size_t bracket = named->part[*at].chunk, number = out->n_chunks;
    bool first = true;

    for (; *at < named->n && named->part[*at].chunk == bracket; ++*at, first = false) {
        struct exec_vnode_part *p = exec_vnode_add(out, named->part[*at].vnode, number, e);

        if (!p || (first && run_where_give(t, chunk, &p->res, e) < 0))
            return -1;
    }
    *at = *at < named->n ? *at : 0;
    return 0;
}

static struct exec_vnode *spread(const struct resource_table *t, const struct select *s,
                                 const struct exec_vnode *named, struct err *e)
{
    struct exec_vnode *out = exec_vnode_create(e);
    size_t at = 0;
    int rc = out ? 0 : -1;

    if (rc == 0 && select_count(s) > EXEC_VNODE_PARTS_MAX)
        rc = err_set(e, PBSE_IVALREQ,
                     "the job has %llu chunks; on vnodes named without amounts at most %d can be put",
                     (unsigned long long)select_count(s), (int)EXEC_VNODE_PARTS_MAX);
    for (size_t i = 0; rc == 0 && i < s->n; i++)
        for (uint32_t k = 0; rc == 0 && k < s->chunk[i].count; k++)
            rc = place(t, &s->chunk[i].res, named, &at, out, e);
    if (rc == 0)
        return out;
    exec_vnode_destroy(out);
    return NULL;
}

/* More vnodes may be named than there are chunks; the claim sees only those that get one. */
static bool are_there(const struct nodes *nodes, const struct exec_vnode *named, struct err *e)
{
    for (size_t i = 0; i < named->n; i++)
        if (!nodes_find(nodes, named->part[i].vnode)) {
            err_set(e, PBSE_UNKNODE, "Unknown node %s", named->part[i].vnode);
            return false;
        }
    return true;
}

struct exec_vnode *run_where(const struct server_ctx *s, const struct job *j, const char *location,
                             struct err *e)
{
    const char *text = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    struct exec_vnode *named = exec_vnode_parse(location, e), *out;
    struct select *chunks;

    if (named && named->n == 0) {
        exec_vnode_destroy(named);
        err_set(e, PBSE_IVALREQ, "the location \"%s\" of job %s names no vnode", location, j->obj.name);
        return NULL;
    }
    if (!named || !text || has_amounts(named))
        return named;
    chunks = are_there(s->nodes, named, e) ? select_parse(text, NULL, NULL, e) : NULL;
    out = chunks ? spread(s->resources, chunks, named, e) : NULL;
    select_destroy(chunks);
    exec_vnode_destroy(named);
    return out;
}
