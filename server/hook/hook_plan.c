/* Hooks of plans. See hook_plan.h.
 *
 *   PREEMPT_RUN -> parked -> hooks, one after the other -> the arguments as they are now -> examined, by the next gate
 *                        \-> too late -> examined as it came; what the hooks still say is dropped (`over`)
 *
 * What a hook says is checked before the arguments change, and changes them whole: where it names a job that is not a victim,
 * or methods that do not exist, the plan stays as the hook before has left it. */
#include "hook_plan.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "access.h"
#include "hook_chain.h"
#include "hook_event.h"
#include "hook_gate.h"
#include "hook_gate_args.h"
#include "hook_objects.h"
#include "hook_json.h"
#include "jobid.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "preempt_method.h"
#include "request.h"
#include "words.h"

/* Behind the longest alarm, so that a script that heeds its alarm is named in the log. */
enum { LATE_MS = 1000 };

struct hook_plan {
    struct hook_server *s;
    struct request *request;
    struct loop_timer *timer;
    json_t *data;
    bool over; /* it was late: the plan has gone on */
    void (*pass)(void *arg, struct request *r);
    void *pass_arg;
};

static ifl_preempt_run_args *hook_plan_args(const struct hook_plan *p)
{
    return request_args(p->request);
}

/* ---- what hooks see ---------------------------------------------------------------------------------- */

static json_t *hook_plan_job(const struct hook_server *s, const char *name)
{
    struct jobid id = {0}; /* stays so where the name is not one of a job */
    struct job *j = jobid_parse(name, &id, NULL) == 0 ? server_ctx_find_job(s->o.ctx, &id) : NULL;

    if (!j && id.form == JOBID_SUBJOB) /* it is an object when it runs */
        j = jobs_find(s->o.ctx->jobs, (struct job_key){id.key.seq, JOBID_NO_INDEX});
    json_t *v = j && j->state != JOB_ARRIVING ? hook_objects_make(s, &j->obj) : NULL;
    if (v)
        json_object_set_new(v, "name", hook_json_text(name));
    return v;
}

/* Victims that have ended meanwhile are not shown; they stay in the plan until a hook says what it is. */
static json_t *hook_plan_victims(const struct hook_server *s, const ifl_preempt_run_args *a)
{
    json_t *all = json_array();

    for (u_int i = 0; all && i < a->victims.victims_len; i++) {
        json_t *v = hook_plan_job(s, a->victims.victims_val[i].job);

        if (v)
            json_object_set_new(v, "methods", hook_json_text(a->victims.victims_val[i].methods));
        if (v)
            json_array_append_new(all, v);
    }
    return all;
}

static json_t *hook_plan_data(const struct hook_server *s, const ifl_preempt_run_args *a)
{
    json_t *job = hook_plan_job(s, a->job);

    if (!job)
        return NULL;
    hook_json_put(json_object_get(job, "attrs"), "exec_vnode", NULL, a->location);
    return json_pack("{s:o, s:o}", "job", job, "victims", hook_plan_victims(s, a));
}

/* ---- what they say ----------------------------------------------------------------------------------- */

static ifl_victim *hook_plan_find(const ifl_preempt_run_args *a, const char *id, size_t n)
{
    for (u_int i = 0; i < a->victims.victims_len; i++)
        if (strlen(a->victims.victims_val[i].job) == n && memcmp(a->victims.victims_val[i].job, id, n) == 0)
            return &a->victims.victims_val[i];
    return NULL;
}

/* One "ID=METHODS" of n characters, into a victim of its own. -1: it is not of this plan or was named before, or no memory.
 * `named` has a mark for each victim of the plan as it was. */
static int hook_plan_take(const ifl_preempt_run_args *a, const char *word, size_t n, bool *named,
                          ifl_victim *out, struct err *e)
{
    const char *equals = memchr(word, '=', n);
    size_t length = equals ? (size_t)(equals - word) : n;
    const ifl_victim *was = hook_plan_find(a, word, length);
    struct preempt_methods methods;
    char letters[PREEMPT_LETTERS_MAX] = "";

    if (!was)
        return err_set(e, PBSE_HOOKERROR, "job %.*s is not a victim of this plan", (int)length, word);
    if (named[was - a->victims.victims_val])
        return err_set(e, PBSE_HOOKERROR, "victim %s is named twice", was->job);
    named[was - a->victims.victims_val] = true;
    if (equals && n - length - 1 < sizeof letters)
        memcpy(letters, equals + 1, n - length - 1);
    if (!preempt_methods_parse(letters, &methods) || preempt_methods_has(&methods, METHOD_RELEASE) ||
        strlen(letters) != (equals ? n - length - 1 : 0))
        return err_set(e, PBSE_HOOKERROR, "%.*s: methods are letters of SCRD, each once", (int)n, word);
    *out = (ifl_victim){.job = strdup(was->job), .run_version = was->run_version, .methods = strdup(letters)};
    return out->job && out->methods ? 0 : err_set(e, PBSE_SYSTEM, "no memory for a plan");
}

static void hook_plan_free(ifl_victim *v, u_int n)
{
    for (u_int i = 0; i < n; i++) {
        free(v[i].job);
        free(v[i].methods);
    }
    free(v);
}

/* "ID=METHODS ID=METHODS": exactly these victims in this order. -1: the plan is as it was. */
static int hook_plan_apply(ifl_preempt_run_args *a, const char *text, struct err *e)
{
    ifl_victim *v = calloc(a->victims.victims_len + 1, sizeof *v);
    bool *named = calloc(a->victims.victims_len + 1, sizeof *named);
    const char *one;
    size_t length;
    u_int n = 0;
    int rc = v && named ? 0 : err_set(e, PBSE_SYSTEM, "no memory for a plan");

    /* each is named once, so there are no more than the plan had */
    while (rc == 0 && (one = words_next(&text, ' ', &length)))
        rc = hook_plan_take(a, one, length, named, &v[n++], e);
    free(named);
    if (rc < 0) {
        hook_plan_free(v, n);
        return -1;
    }
    hook_plan_free(a->victims.victims_val, a->victims.victims_len);
    a->victims.victims_val = v;
    a->victims.victims_len = n;
    return 0;
}

static void hook_plan_changed(void *arg, const char *hook, bool accepted, const struct hook_changes *c,
                              const json_t *answer)
{
    struct hook_plan *p = arg;
    ifl_preempt_run_args *a = hook_plan_args(p);
    struct err e;

    for (size_t i = 0; accepted && !p->over && i < c->n; i++) {
        if (strcmp(c->list[i].object, "plan") != 0 || strcmp(c->list[i].attr, "victims") != 0)
            continue;
        if (hook_plan_apply(a, c->list[i].value ? c->list[i].value : "", &e) < 0) {
            log_err(LOGC_HOOK, hook, &e, "what it makes of the plan is not used");
            continue;
        }
        log_event(LOGC_HOOK, LOGE_DEBUG2, hook, "plan for job %s: victims are now %s", a->job,
                  c->list[i].value && *c->list[i].value ? c->list[i].value : "none");
        json_object_set_new(p->data, "victims", hook_plan_victims(p->s, a));
    }
}

/* ---- the wait ---------------------------------------------------------------------------------------- */

static void hook_plan_pass(struct hook_plan *p)
{
    if (!hook_gate(p->s, p->request, p->pass, p->pass_arg))
        p->pass(p->pass_arg, p->request);
}

static void hook_plan_free_pass(struct hook_plan *p)
{
    loop_timer_destroy(p->timer);
    json_decref(p->data);
    request_unref(p->request);
    free(p);
}

/* Its chain still runs; what it says is not heard any more. */
static void hook_plan_late(void *arg)
{
    struct hook_plan *p = arg;

    log_event(LOGC_HOOK, LOGE_ADMIN, hook_plan_args(p)->job,
              "the plan continues without its preempt hooks: they take too long");
    p->over = true;
    hook_plan_pass(p);
}

static void hook_plan_done(void *arg, const struct hook_verdict *v)
{
    struct hook_plan *p = arg;

    if (v->dropped || p->over)
        (void)0; /* the server ends; or the request was passed on */
    else if (v->accepted)
        hook_plan_pass(p);
    else
        request_failf(p->request, PBSE_HOOKERROR, "%s", v->message);
    hook_plan_free_pass(p);
}

static int64_t hook_plan_limit_ms(const struct hook_server *s)
{
    int64_t longest_s = 0;

    for (const struct hook *h = hooks_first(s->hooks); h; h = h->next)
        if (h->set.events & HOOK_EVENT_preempt && h->set.enabled && h->set.alarm_s > longest_s)
            longest_s = h->set.alarm_s;
    return longest_s * 1000 + LATE_MS;
}

/* Return true if hooks of the event preempt see the request first. */
static bool hook_plan_start(struct hook_server *s, struct request *r,
                            void (*pass)(void *arg, struct request *r), void *pass_arg)
{
    struct hook_plan *p;
    json_t *data;
    struct err e;

    if (request_row(r)->proc != IFL_PREEMPT_RUN || !(*s->active & HOOK_EVENT_preempt) ||
        !(data = hook_plan_data(s, request_args(r))))
        return false;
    p = calloc(1, sizeof *p);
    if (!p || !(p->timer = loop_timer_create(s->o.loop, LOOP_REAL, hook_plan_late, p))) {
        free(p);
        json_decref(data);
        request_failf(r, PBSE_SYSTEM, "no memory to run hooks");
        return true;
    }
    p->s = s;
    p->request = request_ref(r);
    p->data = json_incref(data);
    p->pass = pass;
    p->pass_arg = pass_arg;
    loop_timer_set(p->timer, hook_plan_limit_ms(s));
    if (hook_chain_start(&s->chains,
                         &(struct hook_chain_ask){.event = HOOK_EVENT_preempt,
                                                  .requestor = hook_objects_requestor(r),
                                                  .host = client_host(request_client(r)),
                                                  .data = data,
                                                  .fails_open = true,
                                                  .changed = hook_plan_changed,
                                                  .done = hook_plan_done,
                                                  .arg = p},
                         &e) < 0) {
        request_fail(r, &e);
        hook_plan_free_pass(p);
    }
    return true;
}

bool hook_plan_gate(void *arg, struct request *r, void (*pass)(void *arg, struct request *r), void *pass_arg)
{
    return hook_plan_start(arg, r, pass, pass_arg) || hook_gate(arg, r, pass, pass_arg);
}
