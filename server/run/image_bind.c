/* A job is bound to the hosts of its images. See image_bind.h.
 *
 * run_checkpoint.c binds a job when its run is over and it waits again, and frees it when the images are given up. Between
 * the two j->unbound has what the job asked for, with which an alteration compares (keep_bound of alter.c).
 *
 * Chunks of exec_vnode follow those of schedselect in order, each of them once: so the select is written again, one chunk
 * at a time, with the host on which that chunk lay. A host that the owner asks for by name is in it already. Where that
 * fails (no memory, a vnode that is gone) the job is not bound: it begins from its start on other hosts. */
#include "image_bind.h"

#include <string.h>

#include "exec_vnode.h"
#include "job_image.h"
#include "job_run.h"
#include "select.h"
#include "server_ctx.h"
#include "strbuf.h"

enum { TEXT_MAX = 1 << 20 }; /* PBS_VALUE_MAX of ifl/protocol/types.x: a longer one could not be sent */

static void set_schedselect(struct server_ctx *s, struct job *j, const char *text)
{
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_schedselect, text, NULL);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
}

/* The host on which chunk `i` lay, and the part after it in *at. */
static const char *host_of_chunk(const struct server_ctx *s, const struct exec_vnode *where, size_t i,
                                 size_t *at)
{
    const struct node *n;

    while (*at < where->n && where->part[*at].chunk < i)
        ++*at;
    n = *at < where->n ? nodes_find(s->nodes, where->part[*at].vnode) : NULL;
    return n ? n->host : NULL;
}

static int add_chunk(const struct select_chunk *c, const char *host, struct strbuf *out)
{
    strbuf_add_sep(out, "+");
    strbuf_add(out, "1");
    for (size_t i = 0; i < c->res.n; i++)
        strbuf_addf(out, ":%s=%s", c->res.a[i].name, c->res.a[i].value);
    if (host && !amounts_text_find(&c->res, "host"))
        strbuf_addf(out, ":host=%s", host);
    return strbuf_ok(out) ? 0 : -1;
}

static int bind_each(const struct server_ctx *s, const struct select *sel, const struct exec_vnode *where,
                     struct strbuf *out)
{
    size_t chunk = 0, at = 0;

    for (size_t i = 0; i < sel->n; i++)
        for (uint32_t k = 0; k < sel->chunk[i].count; k++)
            if (add_chunk(&sel->chunk[i], host_of_chunk(s, where, chunk++, &at), out) < 0)
                return -1;
    return 0;
}

/* All on one host: the select keeps its counts. */
static int bind_all(const struct server_ctx *s, struct select *sel, const struct exec_vnode *where,
                    struct strbuf *out)
{
    size_t at = 0;
    const char *host = host_of_chunk(s, where, 0, &at);

    return !host || select_complete(sel, "host", host, NULL) < 0 ? -1 : select_format(sel, out);
}

/* Wherever the job is put, it can have them. One that may not begin from the start waits for its host all the same. */
static bool is_free_to_go(const struct job *j)
{
    bool may_fail = attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true);
    struct job_image m;

    for (size_t i = 0; job_image_at(j->restart_from, i, &m); i++)
        if (!m.shared && !(m.moves && may_fail))
            return false;
    return true;
}

void image_bind(struct server_ctx *s, struct job *j)
{
    const char *old = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    struct select *sel;
    struct exec_vnode *where;
    struct strbuf b;
    int rc = -1;

    if (!old || j->unbound || j->run->now_vnode || is_free_to_go(j))
        return;
    sel = select_parse(old, NULL, NULL, NULL);
    where = exec_vnode_parse(j->run->exec_vnode, NULL);
    strbuf_init(&b, TEXT_MAX);
    if (sel && where)
        rc = j->run->n_hosts == 1 ? bind_all(s, sel, where, &b) : bind_each(s, sel, where, &b);
    if (rc == 0 && strbuf_ok(&b)) {
        job_set_text(&j->unbound, old);
        set_schedselect(s, j, b.s);
    }
    strbuf_fini(&b);
    select_destroy(sel);
    exec_vnode_destroy(where);
}

void image_unbind(struct server_ctx *s, struct job *j)
{
    if (!j->unbound)
        return;
    set_schedselect(s, j, j->unbound);
    job_set_text(&j->unbound, NULL);
}
