/* See acct_fields.h. */
#include "acct_fields.h"

#include <string.h>

#include "acct_line.h"
#include "job_run.h"

int acct_fields_add(struct strbuf *out, const char *key, const char *value)
{
    return acct_line_add(out, key, NULL, value);
}

static void add_set(struct strbuf *out, const char *key, const char *value)
{
    if (value && *value)
        acct_line_add(out, key, NULL, value);
}

/* Every amount of a list, "Resource_List.ncpus=4". */
static void add_amounts(struct strbuf *out, const struct site *s, const char *key, const struct resc_list *l,
                        unsigned flags)
{
    struct strbuf scratch;

    strbuf_init(&scratch, 1 << 20);
    for (size_t i = 0; l && i < l->n; i++) {
        const struct resource *r = resource_get(s->resources, l->v[i].tag);
        const char *text = value_show(r->type, &l->v[i], &scratch);

        if (text && (!flags || (r->flags & flags)))
            acct_line_add(out, key, r->name, text);
    }
    strbuf_fini(&scratch);
}

static const char *exec_text(const struct job *j, int index, const char *of_run)
{
    return j->run ? of_run : attr_list_text(&j->obj.attrs, index);
}

static void add_where(struct strbuf *out, const struct job *j)
{
    add_set(out, "exec_host", exec_text(j, JOB_ATTR_exec_host, j->run ? j->run->exec_host : NULL));
    add_set(out, "exec_vnode", exec_text(j, JOB_ATTR_exec_vnode, j->run ? j->run->exec_vnode : NULL));
}

static void add_job_set(struct strbuf *out, const struct site *s, const struct job *j, bool started)
{
    const struct attr_list *a = &j->obj.attrs;

    add_set(out, "user", j->euser);
    add_set(out, "group", j->egroup);
    add_set(out, "account", attr_list_text(a, JOB_ATTR_Account_Name));
    add_set(out, "project", j->project);
    add_set(out, "jobname", attr_list_text(a, JOB_ATTR_Job_Name));
    add_set(out, "queue", j->queue_name);
    acct_line_add_int(out, "ctime", j->ctime_s);
    acct_line_add_int(out, "qtime", j->qtime_s);
    acct_line_add_int(out, "etime", j->etime_s);
    if (started) {
        acct_line_add_int(out, "start", j->stime_s);
        add_where(out, j);
    }
    add_amounts(out, s, "Resource_List", attr_list_amounts(a, JOB_ATTR_Resource_List), 0);
}

int acct_fields_queued(struct strbuf *out, const struct site *s, const struct job *j)
{
    add_job_set(out, s, j, false);
    add_set(out, "depend", attr_list_text(&j->obj.attrs, JOB_ATTR_depend));
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_started(struct strbuf *out, const struct site *s, const struct job *j)
{
    add_job_set(out, s, j, true);
    add_amounts(out, s, "resource_assigned", attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List),
                RESC_SUM);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_used(struct strbuf *out, const struct site *s, struct computed *c, const struct job *j)
{
    struct value room;
    const struct value *v = computed_get(c, &j->obj, JOB_ATTR_resources_used, &room);

    if (v && v->kind == VALUE_AMOUNTS)
        add_amounts(out, s, "resources_used", v->amounts, 0);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_ended(struct strbuf *out, const struct site *s, struct computed *c, const struct job *j)
{
    add_job_set(out, s, j, true);
    acct_line_add_int(out, "session", j->session);
    acct_line_add_int(out, "end", j->obittime_s);
    acct_line_add_int(out, "Exit_status", j->exit_status);
    acct_fields_used(out, s, c, j);
    acct_line_add_int(out, "run_count", (int64_t)j->run_count);
    return strbuf_ok(out) ? 0 : -1;
}
