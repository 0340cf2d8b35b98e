/* What a suspended job has given back. See released.h.
 *
 * The attributes are made from the exec_vnode of the run and the list as it was then. assign.c gives back
 * by names of resources only: `released_names` reads them out of the attribute again, for a restart and
 * for a resume that failed. */
#include "released.h"

#include <string.h>

#include "exec_vnode.h"
#include "job_run.h"
#include "site.h"
#include "type_list.h"

/* One part of a chunk: "n1:ncpus=2:mem=1gb", of the resources in the list; "n1:ncpus=0" where none is. */
static void add_part(const struct site *s, const struct exec_vnode_part *p, const char *only,
                     struct strbuf *out, struct resc_list **sum)
{
    bool any = false;

    strbuf_add(out, p->vnode);
    for (size_t i = 0; i < p->res.n; i++) {
        const struct resource *r = resource_find(s->resources, p->res.a[i].name);
        struct resc_list *one = NULL;

        if (!r || !list_contains(only, r->name))
            continue;
        any = true;
        strbuf_addf(out, ":%s=%s", r->name, p->res.a[i].value);
        if (resc_parse(&one, r, p->res.a[i].value, false, NULL) == 0)
            resc_add(sum, one, s->resources, 0, NULL);
        resc_free(one);
    }
    if (!any)
        strbuf_add(out, ":ncpus=0");
}

static void add_all(const struct site *s, const struct exec_vnode *ev, const char *only, struct strbuf *out,
                    struct resc_list **sum)
{
    for (size_t i = 0; i < ev->n; i++) {
        bool begins = i == 0 || ev->part[i].chunk != ev->part[i - 1].chunk;
        bool ends = i + 1 == ev->n || ev->part[i].chunk != ev->part[i + 1].chunk;

        strbuf_add(out, i == 0 ? "(" : begins ? "+(" : "+");
        add_part(s, &ev->part[i], only, out, sum);
        if (ends)
            strbuf_add_char(out, ')');
    }
}

void released_note(const struct site *s, struct job *j, const char *only)
{
    struct err e;
    struct exec_vnode *ev = j->run ? exec_vnode_parse(j->run->exec_vnode, &e) : NULL;
    struct resc_list *sum = NULL;
    struct strbuf text;

    if (!ev)
        return;
    strbuf_init(&text, 1 << 20);
    add_all(s, ev, only, &text, &sum);
    exec_vnode_destroy(ev);
    if (strbuf_ok(&text))
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_resources_released, strbuf_str(&text), NULL);
    attr_list_set_amounts(&j->obj.attrs, JOB_ATTR_resource_released_list, sum, NULL);
    strbuf_fini(&text);
    jobs_touch(s->jobs, j, PART_ATTRS);
}

void released_forget(const struct site *s, struct job *j)
{
    if (!attr_list_is_set(&j->obj.attrs, JOB_ATTR_resources_released))
        return;
    attr_list_unset(&j->obj.attrs, JOB_ATTR_resources_released);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_resource_released_list);
    jobs_touch(s->jobs, j, PART_ATTRS);
}

const char *released_names(const struct site *s, const struct job *j, struct strbuf *out)
{
    const struct resc_list *l = attr_list_amounts(&j->obj.attrs, JOB_ATTR_resource_released_list);

    if (!attr_list_is_set(&j->obj.attrs, JOB_ATTR_resources_released))
        return NULL;
    for (size_t i = 0; l && i < l->n; i++) {
        strbuf_add_sep(out, ",");
        strbuf_add(out, resource_get(s->resources, l->v[i].tag)->name);
    }
    return strbuf_str(out);
}
