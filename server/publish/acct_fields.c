/* The fields of accounting records. See acct_fields.h.
 *
 * Other programs read these lines: names, order and spelling are PBS's, and what a job does not have is
 * left out. A run that gave vnodes back has phases: records of the whole run tell of its beginning, those
 * of a phase of what is left. */
#include "acct_fields.h"

#include <stdlib.h>
#include <string.h>

#include "acct_line.h"
#include "job_run.h"
#include "server_obj.h"
#include "units.h"

enum { AMOUNTS_MAX = 256 };

int acct_fields_add(struct strbuf *out, const char *key, const char *value)
{
    return acct_line_add(out, key, NULL, value);
}

static void add_set(struct strbuf *out, const char *key, const char *value)
{
    if (value && *value)
        acct_line_add(out, key, NULL, value);
}

/* Of texts that may be anything PBS quotes some always. */
static void add_quoted(struct strbuf *out, const char *key, const char *value)
{
    if (value && *value)
        acct_line_add_quoted(out, key, value);
}

struct acct_fields_amount {
    const struct resource *r;
    const struct value *v;
};

static int acct_fields_by_name(const void *a, const void *b)
{
    return strcasecmp(((const struct acct_fields_amount *)a)->r->name,
                      ((const struct acct_fields_amount *)b)->r->name);
}

/* Every amount of a list in the order of the alphabet, "Resource_List.ncpus=4". */
static void acct_fields_add_amounts(struct strbuf *out, const struct server_ctx *s, const char *key,
                                    const struct resc_list *l, unsigned flags)
{
    struct acct_fields_amount list[AMOUNTS_MAX] = {0};
    struct strbuf scratch;
    size_t n = 0;

    for (size_t i = 0; l && i < l->n && n < AMOUNTS_MAX; i++)
        list[n++] = (struct acct_fields_amount){resource_get(s->resources, l->v[i].tag), &l->v[i]};
    qsort(list, n, sizeof list[0], acct_fields_by_name);
    strbuf_init(&scratch, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        struct value sum = *list[i].v;
        const char *text;

        if (flags && sum.kind == VALUE_SIZE) /* sums are in kb, whatever unit was asked in */
            sum = value_of_kb(((uint64_t)value_number(&sum) + 1023) / 1024);
        text = value_show(list[i].r->type, &sum, &scratch);
        if (text && (!flags || (list[i].r->flags & flags)))
            acct_line_add(out, key, list[i].r->name, text);
    }
    strbuf_fini(&scratch);
}

static const char *exec_text(const struct job *j, int index, const char *of_run)
{
    return j->run ? of_run : attr_list_text(&j->obj.attrs, index);
}

/* Of the run at its begin, or of what is left after vnodes were given back. */
enum phase { PHASE_FIRST, PHASE_NOW };

static void add_where(struct strbuf *out, const struct job *j, enum phase which)
{
    const struct run *r = j->run;
    bool now = which == PHASE_NOW;

    add_set(out, "exec_host",
            exec_text(j, JOB_ATTR_exec_host,
                      !r    ? NULL
                      : now ? job_run_where(r)
                            : r->exec_host));
    add_set(out, "exec_vnode",
            exec_text(j, JOB_ATTR_exec_vnode,
                      !r    ? NULL
                      : now ? job_run_vnodes(r)
                            : r->exec_vnode));
}

static const struct resc_list *acct_fields_asked(const struct job *j, enum phase which)
{
    const struct resc_list *first = attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List_orig);

    return which == PHASE_FIRST && first ? first : attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
}

/* The reservation of its queue, which it has left when it ends. */
static const struct resv *acct_fields_resv(const struct server_ctx *s, const struct job *j)
{
    const struct queue *q =
        resvs_first(s->resvs) && j->queue_name ? queues_find(s->queues, j->queue_name) : NULL;

    return q ? q->resv : NULL;
}

static void add_job_set(struct strbuf *out, const struct server_ctx *s, const struct job *j, bool started,
                        enum phase which)
{
    const struct attr_list *a = &j->obj.attrs;
    const struct resv *r = acct_fields_resv(s, j);

    add_quoted(out, "gridname", attr_list_text(a, JOB_ATTR_gridname));
    add_set(out, "user", j->euser);
    add_set(out, "group", j->egroup);
    add_quoted(out, "account", attr_list_text(a, JOB_ATTR_Account_Name));
    add_set(out, "project", j->project);
    add_set(out, "jobname", attr_list_text(a, JOB_ATTR_Job_Name));
    add_set(out, "queue", j->queue_name);
    if (r) {
        add_set(out, "resvname", attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Name));
        add_set(out, "resvID", r->obj.name);
    }
    acct_line_add_int(out, "ctime", j->ctime_s);
    acct_line_add_int(out, "qtime", j->qtime_s);
    acct_line_add_int(out, "etime", j->etime_s);
    if (started)
        acct_line_add_int(out, "start", j->stime_s);
    add_set(out, "array_indices", attr_list_text(a, JOB_ATTR_array_indices_submitted));
    if (started)
        add_where(out, j, which);
    acct_fields_add_amounts(out, s, "Resource_List", acct_fields_asked(j, which), 0);
}

int acct_fields_queued(struct strbuf *out, const struct server_ctx *s, const struct job *j)
{
    add_job_set(out, s, j, false, PHASE_NOW);
    add_set(out, "depend", attr_list_text(&j->obj.attrs, JOB_ATTR_depend));
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_started(struct strbuf *out, const struct server_ctx *s, const struct job *j)
{
    add_job_set(out, s, j, true, PHASE_NOW);
    acct_fields_add_amounts(out, s, "resource_assigned",
                            attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List), RESC_SUM);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_used(struct strbuf *out, const struct server_ctx *s, struct derived_attribs *c,
                     const struct job *j)
{
    struct value room;
    const struct value *v = derived_attribs_get(c, &j->obj, JOB_ATTR_resources_used, &room);

    if (v && v->kind == VALUE_AMOUNTS)
        acct_fields_add_amounts(out, s, "resources_used", v->amounts, 0);
    return strbuf_ok(out) ? 0 : -1;
}

static void add_eligible(struct strbuf *out, const struct server_ctx *s, const struct job *j)
{
    char text[UNITS_TEXT_MAX];

    if (attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_eligible_time_enable, false))
        acct_line_add(out, "eligible_time", NULL,
                      units_format_duration(text, job_eligible_s(j, server_ctx_now_s(s))));
}

int acct_fields_ended(struct strbuf *out, const struct server_ctx *s, struct derived_attribs *c,
                      const struct job *j, int status)
{
    add_job_set(out, s, j, true, PHASE_FIRST);
    acct_line_add_int(out, "session", j->session);
    acct_line_add_int(out, "end", j->obittime_s);
    acct_line_add_int(out, "Exit_status", status);
    acct_fields_used(out, s, c, j);
    add_eligible(out, s, j);
    acct_line_add_int(out, "run_count", (int64_t)j->run_count);
    return strbuf_ok(out) ? 0 : -1;
}

static int64_t since(int64_t now, int64_t before)
{
    return now > before ? now - before : 0;
}

/* Times are those of the phase; memory is the highest there was, cpus are those that it had. */
static void add_used_in_phase(struct strbuf *out, const struct job *j)
{
    const struct job_usage *before = &j->run->before_phase;
    char cput[UNITS_TEXT_MAX], walltime[UNITS_TEXT_MAX];

    units_format_duration(cput, since(j->usage.cput_ms, before->cput_ms) / 1000);
    units_format_duration(walltime, since(j->usage.walltime_ms, before->walltime_ms) / 1000);
    strbuf_addf(out,
                " resources_used.cput=%s resources_used.mem=%lldkb resources_used.ncpus=%u"
                " resources_used.vmem=%lldkb resources_used.walltime=%s",
                cput, (long long)j->usage.mem_kb, j->usage.ncpus, (long long)j->usage.vmem_kb, walltime);
}

int acct_fields_phase_over(struct strbuf *out, const struct server_ctx *s, const struct job *j)
{
    add_job_set(out, s, j, true, PHASE_NOW);
    acct_line_add_int(out, "session", j->session);
    acct_line_add_int(out, "end", j->obittime_s ? j->obittime_s : server_ctx_now_s(s));
    add_used_in_phase(out, j);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_fields_phase_begun(struct strbuf *out, const struct server_ctx *s, const struct job *j)
{
    add_job_set(out, s, j, true, PHASE_NOW);
    return strbuf_ok(out) ? 0 : -1;
}
