/* A running job gives vnodes back. See release_nodes.h. What goes is found by release_plan.c; here it is written down and
 * ordered.
 *
 *   work_out             which parts go, the texts of what is left and what goes, the attributes as if the job had asked for less
 *   EVENT_RUN_PHASE_OVER accounting reads the run as it was
 *   release_nodes_apply  attributes and run are changed together; hosts of which nothing is left are `leaving`
 *   EVENT_RUN_PHASE_BEGUN, and the order to those hosts (exec_send_give_up)
 *   a host releases      its vnodes are free (run_hosts.c), as at the end of a job; the last one settles method P
 *
 * Everything is made before anything is changed: the new texts of the run, and a copy of the attributes completed as
 * after an alteration. The run keeps its full exec_vnode beside what is left (now_vnode), since a restarted server must
 * still count what the leaving hosts hold. A job may give vnodes back several times; the _orig attributes are those before
 * the first. */
#include "release_nodes.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "assign.h"
#include "defaults.h"
#include "exec_send.h"
#include "exec_host.h"
#include "exec_vnode.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "services.h"
#include "stop_method.h"
#include "release_plan.h"
#include "server_ctx.h"
#include "server_events.h"
#include "strbuf.h"

/* TEXT_LIMIT: PBS_VALUE_MAX of ifl/protocol/types.x, a longer attribute could not be sent. OFFER_LIMIT_S, a choice: hosts that a
 * job offered end its processes there in seconds; after that the victim's next method is tried. */
enum { TEXT_LIMIT = 1 << 20, OFFER_LIMIT_S = 600 };

struct release_nodes {
    struct server_ctx *ctx;
    struct exec_send *send;
};

void release_nodes_destroy(struct release_nodes *z)
{
    free(z);
}

/* --- the plan ---------------------------------------------------------------------------------------- */

struct release_nodes_plan {
    struct exec_vnode *where; /* before */
    struct exec_host *hosts;
    size_t *host_of;
    struct release_plan_host *names;
    bool *gone;
    struct release_plan s;
    struct strbuf vnode, host, freed, select; /* what is left, what goes */
    struct attr_list attrs;
    bool has_attrs;
};

static void plan_fini(struct release_nodes_plan *p)
{
    exec_vnode_destroy(p->where);
    exec_host_destroy(p->hosts);
    free(p->host_of);
    free(p->names);
    free(p->gone);
    strbuf_fini(&p->vnode);
    strbuf_fini(&p->host);
    strbuf_fini(&p->freed);
    strbuf_fini(&p->select);
    if (p->has_attrs)
        attr_list_fini(&p->attrs);
}

/* Which host each part is of, and what hosts are called. A vnode that is gone counts to the first host, which stays. */
static void name_hosts(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p)
{
    for (size_t i = 0; i < j->run->n_hosts; i++)
        p->names[i].name = job_run_host_name(j->run->hosts[i].service);
    for (size_t i = 0; i < p->where->n; i++) {
        const struct node *n = nodes_find(z->ctx->nodes, p->where->part[i].vnode);

        for (size_t h = 0; n && h < j->run->n_hosts; h++) {
            if (j->run->hosts[h].service != n->service_name)
                continue;
            p->host_of[i] = h;
            p->names[h].parts = n->service && (n->service->capabilities & EXEC_CAN_RELEASE);
        }
    }
}

static int plan_init(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p,
                     struct err *e)
{
    memset(p, 0, sizeof *p);
    strbuf_init(&p->vnode, TEXT_LIMIT);
    strbuf_init(&p->host, TEXT_LIMIT);
    strbuf_init(&p->freed, TEXT_LIMIT);
    strbuf_init(&p->select, TEXT_LIMIT);
    p->where = exec_vnode_parse(job_run_vnodes(j->run), e);
    p->hosts = p->where ? exec_host_parse(job_run_where(j->run), e) : NULL;
    if (!p->hosts)
        return -1;
    p->host_of = calloc(p->where->n, sizeof *p->host_of);
    p->names = calloc(j->run->n_hosts, sizeof *p->names);
    p->gone = calloc(p->where->n, sizeof *p->gone);
    if (!p->host_of || !p->names || !p->gone)
        return err_set(e, PBSE_SYSTEM, "no memory to release vnodes of %s", j->obj.name);
    name_hosts(z, j, p);
    p->s = (struct release_plan){p->where, p->host_of, p->names, j->run->n_hosts, p->gone};
    return 0;
}

static const char *asked_select(const struct job *j)
{
    return value_text(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_select));
}

static int mark_kept(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p,
                     const char *keep, struct err *e)
{
    const char *text = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    struct select *want, *asked;
    char *end;
    unsigned long count = strtoul(keep, &end, 10);
    int rc = -1;

    if (*keep && !*end) {
        release_plan_to_count(&p->s, count);
        return 0;
    }
    want = select_parse(strncmp(keep, "select=", 7) == 0 ? keep + 7 : keep, NULL, NULL, e);
    asked = want && text ? select_parse(text, NULL, NULL, e) : NULL;
    if (asked)
        rc = release_plan_to_select(&p->s, asked, want, z->ctx->resources, e);
    select_destroy(want);
    select_destroy(asked);
    return rc;
}

static int mark(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p,
                const struct release_nodes_ask *ask, struct err *e)
{
    if (ask->keep)
        return mark_kept(z, j, p, ask->keep, e);
    if (ask->vnodes && *ask->vnodes)
        return release_plan_named(&p->s, ask->vnodes, e);
    release_plan_all(&p->s);
    return 0;
}

/* --- what is left ------------------------------------------------------------------------------------ */

static int split_vnodes(struct release_nodes_plan *p, struct err *e)
{
    struct exec_vnode *left = exec_vnode_create(e), *freed = exec_vnode_create(e);
    int rc = left && freed ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < p->where->n; i++) {
        const struct exec_vnode_part *part = &p->where->part[i];

        rc = exec_vnode_copy_part(p->gone[i] ? freed : left, part, i > 0 && part->chunk == part[-1].chunk, e);
    }
    if (rc == 0 && (exec_vnode_format(left, &p->vnode) < 0 || exec_vnode_format(freed, &p->freed) < 0))
        rc = err_set(e, PBSE_SYSTEM, "no memory to release vnodes");
    exec_vnode_destroy(left);
    exec_vnode_destroy(freed);
    return rc;
}

/* `at`: a part of this chunk or of an earlier one; chunks are asked for in order. */
static bool chunk_is_gone(const struct release_nodes_plan *p, size_t chunk, size_t *at)
{
    while (*at < p->where->n && p->where->part[*at].chunk < chunk)
        ++*at;
    return *at < p->where->n && p->where->part[*at].chunk == chunk && p->gone[*at];
}

/* exec_host has one entry a chunk. */
static int split_hosts(struct release_nodes_plan *p, struct err *e)
{
    struct exec_host *left = exec_host_create(e);
    size_t at = 0;
    int rc = left ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < p->hosts->n; i++) {
        const struct exec_host_part *h = &p->hosts->part[i];

        if (!chunk_is_gone(p, i, &at))
            rc = exec_host_add(left, h->host, h->slot, h->ncpus, e);
    }
    if (rc == 0 && exec_host_format(left, &p->host) < 0)
        rc = err_set(e, PBSE_SYSTEM, "no memory to release vnodes");
    exec_host_destroy(left);
    return rc;
}

/* The select of the chunks that stay, like ones in a row together. */
static int make_select(const struct job *j, struct release_nodes_plan *p, struct err *e)
{
    struct select *asked = select_parse(asked_select(j), NULL, NULL, e);
    const struct select_chunk *last = NULL;
    size_t count = 0, at = 0;

    if (!asked)
        return -1;
    for (size_t i = 0; i <= p->where->n_chunks; i++) {
        const struct select_chunk *c =
            i < p->where->n_chunks && !chunk_is_gone(p, i, &at) ? release_plan_chunk(asked, i) : NULL;

        if (c && c == last) {
            count++;
            continue;
        }
        if (last && (c || i == p->where->n_chunks)) {
            strbuf_add_sep(&p->select, "+");
            strbuf_addf(&p->select, "%zu:", count);
            amounts_text_format(&last->res, &p->select);
            last = NULL;
        }
        if (c) {
            last = c;
            count = 1;
        }
    }
    select_destroy(asked);
    return strbuf_ok(&p->select) ? 0 : err_set(e, PBSE_SYSTEM, "no memory for a select");
}

/* The attributes as they would be had the job asked for this select. */
static int make_attrs(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p,
                      struct err *e)
{
    if (attr_list_dup(&j->obj.attrs, &p->attrs) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory to release vnodes of %s", j->obj.name);
    p->has_attrs = true;
    defaults_make_way(z->ctx, &p->attrs);
    if (attr_list_change(&p->attrs, z->ctx->resources, JOB_ATTR_Resource_List, "select",
                         strbuf_str(&p->select), SET, e) < 0)
        return -1;
    return defaults_complete(z->ctx, &p->attrs, j->queue, e);
}

static int work_out(const struct release_nodes *z, const struct job *j, struct release_nodes_plan *p,
                    const struct release_nodes_ask *ask, struct err *e)
{
    if (plan_init(z, j, p, e) < 0 || mark(z, j, p, ask, e) < 0)
        return -1;
    if (release_plan_is_nothing(&p->s))
        return err_set(e, PBSE_IVALREQ, "no vnode of job %s would be released", j->obj.name);
    if (split_vnodes(p, e) < 0 || split_hosts(p, e) < 0 || make_select(j, p, e) < 0)
        return -1;
    return make_attrs(z, j, p, e);
}

/* --- doing it ---------------------------------------------------------------------------------------- */

static void keep_original(struct job *j, struct attr_list *a)
{
    static const struct {
        int from, to;
    } texts[] = {{JOB_ATTR_schedselect, JOB_ATTR_schedselect_orig}};
    struct resc_list *amounts = NULL;

    if (attr_list_is_set(a, JOB_ATTR_exec_vnode_orig))
        return;
    attr_list_set_text(a, JOB_ATTR_exec_vnode_orig, j->run->exec_vnode, NULL);
    attr_list_set_text(a, JOB_ATTR_exec_host_orig, j->run->exec_host, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        attr_list_set_text(a, texts[i].to, attr_list_text(&j->obj.attrs, texts[i].from), NULL);
    if (resc_dup(attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List), &amounts) == 0)
        attr_list_set_amounts(a, JOB_ATTR_Resource_List_orig, amounts, NULL);
}

static void add_deallocated(struct attr_list *a, const char *freed)
{
    const char *old = attr_list_text(a, JOB_ATTR_exec_vnode_deallocated);
    struct strbuf b;

    strbuf_init(&b, TEXT_LIMIT);
    if (old)
        strbuf_addf(&b, "%s+", old);
    strbuf_add(&b, freed);
    attr_list_set_text(a, JOB_ATTR_exec_vnode_deallocated, strbuf_str(&b), NULL);
    strbuf_fini(&b);
}

static void release_nodes_set_text(const char **field, const char *text)
{
    intern_unref(*field);
    *field = intern_ref(text);
}

/* Nothing of the job is left on this host. */
static bool has_left(const struct release_nodes_plan *p, size_t host)
{
    for (size_t i = 0; i < p->where->n; i++)
        if (p->host_of[i] == host && !p->gone[i])
            return false;
    return true;
}

static void release_nodes_apply(struct release_nodes *z, struct job *j, struct release_nodes_plan *p)
{
    struct run *r = j->run;

    keep_original(j, &p->attrs);
    add_deallocated(&p->attrs, strbuf_str(&p->freed));
    assign_share(z->ctx->assign, j, false); /* what it has of server and queue follows Resource_List */
    attr_list_fini(&j->obj.attrs);
    j->obj.attrs = p->attrs;
    p->has_attrs = false;
    assign_share(z->ctx->assign, j, true);
    release_nodes_set_text(&r->now_vnode, strbuf_str(&p->vnode));
    release_nodes_set_text(&r->now_host, strbuf_str(&p->host));
    for (size_t i = 0; i < r->n_hosts; i++)
        r->hosts[i].leaving |= has_left(p, i);
    r->before_phase = j->usage;
    jobs_touch(z->ctx->jobs, j, PART_HOT | PART_ATTRS);
}

static int release(struct release_nodes *z, struct job *j, const struct release_nodes_ask *ask, struct err *e)
{
    struct release_nodes_plan p;
    int rc = work_out(z, j, &p, ask, e);

    if (rc == 0) {
        if (!ask->before_script)
            server_events_tell(z->ctx->events,
                               &(struct server_event){.kind = EVENT_RUN_PHASE_OVER, .job = j});
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "vnodes released at request of %s: %s", ask->by,
                  strbuf_str(&p.freed));
        release_nodes_apply(z, j, &p);
        server_events_tell(z->ctx->events, &(struct server_event){.kind = EVENT_RUN_PHASE_BEGUN,
                                                                  .job = j,
                                                                  .letter = ask->before_script ? 's' : 'c'});
    }
    plan_fini(&p);
    return rc;
}

static int release_nodes_check_state(const struct job *j, struct err *e)
{
    if (j->state != JOB_RUNNING || j->intent != INTENT_NONE || j->run->terminations || j->run->suspending)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name,
                       j->state == JOB_RUNNING ? "about to change" : job_state_name(j->state));
    return 0;
}

int release_nodes_check(const struct release_nodes *z, const struct job *j,
                        const struct release_nodes_ask *ask, struct err *e)
{
    struct release_nodes_plan p;
    int rc;

    if (release_nodes_check_state(j, e) < 0)
        return -1;
    rc = work_out(z, j, &p, ask, e);
    plan_fini(&p);
    return rc;
}

int release_nodes_release(struct release_nodes *z, struct job *j, const struct release_nodes_ask *ask,
                          struct err *e)
{
    if (release_nodes_check_state(j, e) < 0)
        return -1;
    if (release(z, j, ask, e) < 0)
        return -1;
    exec_send_give_up(z->send, j);
    return 0;
}

void release_nodes_on_hook(void *arg, const struct server_event *ev)
{
    for (u_int i = 0; ev->job && ev->job->run && i < ev->hook->changes.changes_len; i++) {
        const exec_hook_change *c = &ev->hook->changes.changes_val[i];
        const struct release_nodes_ask ask = {
            .vnodes = c->value, .by = ev->hook->hook, .before_script = true};
        struct err e;

        if (strcmp(c->object, "job") == 0 && strcmp(c->attr, EXEC_HOOK_RELEASE) == 0 &&
            release_nodes_release(arg, ev->job, &ask, &e) < 0)
            log_err(LOGC_JOB, ev->job->obj.name, &e, "'%s' hook cannot release %s", ev->hook->hook, c->value);
    }
}

/* All other hosts have been told to end already (act_finish). */
void release_nodes_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    static const struct release_nodes_ask all = {.by = "release_nodes_on_stageout"};
    struct err e;

    if (ev != EV_FINISH || j->state != JOB_EXITING || !j->run || j->run->n_hosts < 2 || j->run->lost ||
        !attr_list_bool(&j->obj.attrs, JOB_ATTR_release_nodes_on_stageout, false))
        return;
    if (release(arg, j, &all, &e) < 0)
        log_err(
            LOGC_JOB, j->obj.name, &e,
            "the hosts beside its first are kept until its files are delivered (release_nodes_on_stageout)");
}

void release_nodes_forget(struct job *j)
{
    static const int gone[] = {JOB_ATTR_exec_vnode_orig, JOB_ATTR_exec_host_orig,
                               JOB_ATTR_exec_vnode_deallocated, JOB_ATTR_Resource_List_orig,
                               JOB_ATTR_schedselect_orig};
    struct attr_list *a = &j->obj.attrs;
    struct resc_list *amounts = NULL;

    if (!attr_list_is_set(a, JOB_ATTR_exec_vnode_orig))
        return;
    if (resc_dup(attr_list_amounts(a, JOB_ATTR_Resource_List_orig), &amounts) == 0)
        attr_list_set_amounts(a, JOB_ATTR_Resource_List, amounts, NULL);
    attr_list_set_text(a, JOB_ATTR_schedselect, attr_list_text(a, JOB_ATTR_schedselect_orig), NULL);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        attr_list_unset(a, gone[i]);
}

/* --- method P ---------------------------------------------------------------------------------------- */

static struct release_nodes_ask offer_of(const struct job *j)
{
    return (struct release_nodes_ask){.vnodes = j->preempt->offer, .by = j->preempt->by};
}

static int release_nodes_may(void *arg, const struct job *j, struct err *e)
{
    struct release_nodes_ask ask;

    if (!j->preempt || !j->preempt->offer)
        return err_set(e, PBSE_BADSTATE, "job %s has offered nothing", j->obj.name);
    ask = offer_of(j);
    return release_nodes_check(arg, j, &ask, e);
}

static int release_nodes_start(void *arg, struct job *j, struct err *e)
{
    const struct release_nodes_ask ask = offer_of(j);

    return release_nodes_release(arg, j, &ask, e);
}

/* When the last host that leaves has released. */
static bool release_nodes_is_settled(void *arg, const struct job *j)
{
    bool any = false;

    if (!job_is_placed(j) || j->state == JOB_EXITING || !j->run)
        return false; /* it has come to another end */
    for (size_t i = 0; i < j->run->n_hosts; i++) {
        const struct run_host *h = &j->run->hosts[i];

        if (h->leaving && h->state <= RUN_HOST_READY)
            return false;
        any |= h->leaving;
    }
    return any;
}

static int64_t release_nodes_limit_s(const struct job *j)
{
    return OFFER_LIMIT_S;
}

struct release_nodes *release_nodes_create(struct server_ctx *s, struct exec_send *x, struct stop_methods *m)
{
    struct release_nodes *z = calloc(1, sizeof *z);

    if (!z)
        return NULL;
    *z = (struct release_nodes){s, x};
    stop_methods_add(m, &(struct stop_method){METHOD_RELEASE, release_nodes_may, release_nodes_start,
                                              release_nodes_is_settled, release_nodes_limit_s, z});
    return z;
}
