/* What a suspended job has given back. See suspend_release.h.
 *
 * The attributes are made from the exec_vnode of the run, what the job has as a whole, and the list as it was then.
 * assign.c gives back by names of resources only: `suspend_release_gift` reads them out of the attribute again, for a restart
 * and for a resume that failed. */
#include "suspend_release.h"

#include <string.h>

#include "assign.h"
#include "exec_vnode.h"
#include "earmark_sums.h"
#include "job_run.h"
#include "server_ctx.h"
#include "type_list.h"

struct suspend_release_rule {
    const struct server_ctx *ctx;
    const char *only; /* restrict_res_to_release_on_suspend, or NULL */
    bool keeps_memory;
};

static bool gives(const struct suspend_release_rule *u, const struct resource *r)
{
    return (!u->only || list_contains(u->only, r->name)) && !(u->keeps_memory && earmark_sums_is_memory(r));
}

/* One part of a chunk: "n1:ncpus=2:mem=1gb", of the resources in the list; "n1:ncpus=0" where none is. */
static void suspend_release_add_part(const struct suspend_release_rule *u, const struct exec_vnode_part *p,
                                     struct strbuf *out, struct resc_list **sum)
{
    bool any = false;

    strbuf_add(out, p->vnode);
    for (size_t i = 0; i < p->res.n; i++) {
        const struct resource *r = resource_find(u->ctx->resources, p->res.a[i].name);
        struct resc_list *one = NULL;

        if (!r || !gives(u, r))
            continue;
        any = true;
        strbuf_addf(out, ":%s=%s", r->name, p->res.a[i].value);
        if (resc_parse(&one, r, p->res.a[i].value, false, NULL) == 0)
            resc_add(sum, one, u->ctx->resources, 0, NULL);
        resc_free(one);
    }
    if (!any)
        strbuf_add(out, ":ncpus=0");
}

static void add_all(const struct suspend_release_rule *u, const struct exec_vnode *ev, struct strbuf *out,
                    struct resc_list **sum)
{
    for (size_t i = 0; i < ev->n; i++) {
        bool begins = i == 0 || ev->part[i].chunk != ev->part[i - 1].chunk;
        bool ends = i + 1 == ev->n || ev->part[i].chunk != ev->part[i + 1].chunk;

        strbuf_add(out, i == 0 ? "(" : begins ? "+(" : "+");
        suspend_release_add_part(u, &ev->part[i], out, sum);
        if (ends)
            strbuf_add_char(out, ')');
    }
}

/* What it has of server and queue beside its chunks: "-l licences=2". */
static void add_shared(const struct suspend_release_rule *u, const struct job *j, struct resc_list **sum)
{
    const struct resc_list *asked = attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);

    for (size_t i = 0; asked && i < asked->n; i++) {
        const struct resource *r = resource_get(u->ctx->resources, asked->v[i].tag);
        struct value copy;

        if ((r->flags & RESC_SUM) && !resc_find(*sum, r->id) && gives(u, r) &&
            value_dup(&asked->v[i], &copy) == 0)
            resc_put(sum, r->id, copy, NULL);
    }
}

void suspend_release_note(const struct server_ctx *s, struct job *j)
{
    const struct suspend_release_rule u = {
        .ctx = s,
        .only = attr_list_text(&s->server->obj.attrs, SERVER_ATTR_restrict_res_to_release_on_suspend),
        .keeps_memory = j->queue && queue_is_gang(j->queue)};
    struct err e;
    struct exec_vnode *ev;
    struct resc_list *sum = NULL;
    struct strbuf text;

    j->run->leaves_vnodes = !u.only;
    if ((!u.only && !u.keeps_memory) || !(ev = exec_vnode_parse(j->run->exec_vnode, &e)))
        return;
    strbuf_init(&text, 1 << 20);
    add_all(&u, ev, &text, &sum);
    add_shared(&u, j, &sum);
    exec_vnode_destroy(ev);
    if (strbuf_ok(&text))
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_resources_released, strbuf_str(&text), NULL);
    attr_list_set_amounts(&j->obj.attrs, JOB_ATTR_resource_released_list, sum, NULL);
    strbuf_fini(&text);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
}

void suspend_release_forget(const struct server_ctx *s, struct job *j)
{
    if (!attr_list_is_set(&j->obj.attrs, JOB_ATTR_resources_released))
        return;
    attr_list_unset(&j->obj.attrs, JOB_ATTR_resources_released);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_resource_released_list);
    jobs_touch(s->jobs, j, PART_ATTRS);
}

void suspend_release_gift(const struct server_ctx *s, const struct job *j, struct strbuf *out,
                          struct assign_gift *gift)
{
    const struct resc_list *l = attr_list_amounts(&j->obj.attrs, JOB_ATTR_resource_released_list);

    *gift = (struct assign_gift){.vnodes = true};
    if (!attr_list_is_set(&j->obj.attrs, JOB_ATTR_resources_released))
        return;
    for (size_t i = 0; l && i < l->n; i++) {
        strbuf_add_sep(out, ",");
        strbuf_add(out, resource_get(s->resources, l->v[i].tag)->name);
    }
    gift->only = strbuf_str(out);
    gift->vnodes = j->run->leaves_vnodes;
}
