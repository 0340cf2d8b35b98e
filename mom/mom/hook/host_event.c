/* Hooks of runs. See host_event.h.
 *
 * A run has one event under way that it waits for (r->hook_event). Each hook's changes are put into what this host knows of the
 * job, and said to the server, before the next one runs. */
#include "host_event.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "exit_status.h"
#include "hook_event.h"
#include "host_changes.h"
#include "host_data.h"
#include "host_hooks.h"
#include "host_release.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "pbs_error.h"
#include "spawn.h"

struct host_event {
    struct mom *m;
    wire_job job;
    unsigned run;
    uint32_t event;
    host_event_fn *fn;    /* NULL: the run does not wait */
    host_asked_fn *asked; /* in its place, of host_event_ask */
    void *arg;
    json_t *data;
    json_t *more;    /* while it begins: what else hooks see; borrowed */
    bool rerun, del; /* of the last hook */
};

static struct run *host_event_run_of(const struct host_event *e)
{
    return run_find(e->m->runs, &e->job, e->run);
}

/* ---- what answers ask for ---------------------------------------------------------------------------- */

unsigned host_event_wishes(const json_t *answer)
{
    return json_is_true(json_object_get(answer, "scheduler_restart_cycle")) ? EXEC_HOOK_RESTART : 0;
}

static void host_event_rebooted(void *arg, int status)
{
    log_event(LOGC_HOOK, LOGE_ADMIN, "pbs_mom", "the reboot command has ended, status %d", status);
    spawn_destroy(*(struct spawn **)arg);
    free(arg);
}

void host_event_heed(struct mom *m, const char *hook, const json_t *answer)
{
    const char *said = json_string_value(json_object_get(answer, "reboot"));
    char shell[] = "/bin/sh", option[] = "-c", command[4096];
    char *argv[] = {shell, option, command, NULL}, path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
         *envp[] = {path, NULL};
    const struct spawn_options o = {
        .path = shell, .argv = argv, .envp = envp, .cwd = "/", .new_session = true};
    struct spawn **child;
    struct err e;

    if (!said)
        return;
    snprintf(command, sizeof command, "%s", *said ? said : "reboot");
    log_event(LOGC_HOOK, LOGE_ADMIN, hook, "requested for host to be rebooted");
    log_event(LOGC_HOOK, LOGE_ADMIN, hook, "issuing cmd %s", command);
    child = calloc(1, sizeof *child);
    if (child && (*child = spawn_start(m->loop, &o, host_event_rebooted, child, &e)))
        return;
    free(child);
    log_err(LOGC_HOOK, hook, &e, "the reboot command cannot be run");
}

/* A start that is refused is over by the refusal; everywhere else the server decides at the run's end. */
static unsigned host_event_end_wishes(const struct host_event *e, bool accepted)
{
    const uint32_t start = HOOK_EVENT_execjob_begin | HOOK_EVENT_execjob_prologue | HOOK_EVENT_execjob_launch;

    if (e->fn && e->event & start && !accepted)
        return 0;
    if (e->event == HOOK_EVENT_execjob_epilogue && !accepted && !e->rerun && !e->del)
        return EXEC_HOOK_END;
    return (e->rerun ? EXEC_HOOK_RERUN : 0) | (e->del ? EXEC_HOOK_DELETE : 0);
}

static void host_event_changed(void *arg, const char *hook, bool accepted, const struct hook_changes *c,
                               const json_t *answer)
{
    struct host_event *e = arg;
    struct run *r = host_event_run_of(e);
    const struct hook *h = hooks_find(e->m->hooks->hooks, hook);
    struct host_word w = {.hook = hook, .event = hook_event_of(e->event)->name, .user = ""};

    e->rerun = json_array_size(json_object_get(answer, "rerun")) > 0;
    e->del = json_array_size(json_object_get(answer, "delete")) > 0;
    host_event_heed(e->m, hook, answer);
    if (!r)
        return;
    if (h && h->set.pbsuser)
        w.user = r->start.user;
    w.wishes = host_event_wishes(answer) | host_event_end_wishes(e, accepted);
    if (accepted)
        host_release_take(r, hook, answer);
    host_changes_take(r, c);
    host_changes_say(e->m, r, &w, c);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* A hook has failed: what it is to be followed by. */
static void host_event_failed(struct host_event *e, struct run *r, const struct hook_verdict *v)
{
    const struct hook_changes none = {0};
    struct host_word w = {.hook = v->hook, .event = hook_event_of(e->event)->name, .user = ""};

    w.wishes = (v->fail_action & HOOK_FAIL_OFFLINE ? EXEC_HOOK_OFFLINE : 0) |
               (v->fail_action & HOOK_FAIL_RESTART ? EXEC_HOOK_RESTART : 0);
    if (w.wishes)
        host_changes_say(e->m, r, &w, &none);
}

static void host_event_free(struct host_event *e)
{
    json_decref(e->data);
    free(e);
}

static void host_event_done(void *arg, const struct hook_verdict *v)
{
    struct host_event *e = arg;
    struct run *r = v->dropped ? NULL : host_event_run_of(e);
    const struct host_verdict said = {.accepted = v->accepted,
                                      .result = v->result,
                                      .rerun = e->rerun,
                                      .del = e->del,
                                      .message = v->message,
                                      .data = e->data};

    if (r && (v->result == HOOK_ERROR || v->result == HOOK_ALARM))
        host_event_failed(e, r, v);
    if (r && r->hook_event == e) {
        r->hook_event = NULL;
        e->fn(e->m, r, &said);
    } else if (e->asked) {
        e->asked(e->arg, r, &said);
    }
    host_event_free(e);
}

void host_event_fail(struct run *r, const struct host_verdict *v, bool always_ends)
{
    bool failed = v->result == HOOK_ERROR || v->result == HOOK_ALARM;
    bool ends = always_ends ? !v->rerun || failed : v->del && !failed;

    r->failure = (struct run_failure){.status = ends     ? EXIT_STATUS_HOOK_DELETE
                                                : failed ? EXIT_STATUS_HOOK_ERROR
                                                         : EXIT_STATUS_HOOK_RERUN,
                                      .reason = EXEC_END_HOOK};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", v->message ? v->message : "");
    if (ends)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "Job aborted per a hook rejection");
}

/* ---- the beginning ----------------------------------------------------------------------------------- */

/* `as`: who waits for the answer. */
static bool host_event_begin(struct mom *m, struct run *r, uint32_t event, const struct host_event *as)
{
    struct host_event *e = host_hooks_want(m->hooks, event) ? calloc(1, sizeof *e) : NULL;
    struct hook_chain_ask ask = {.event = event,
                                 .requestor = "pbs_mom",
                                 .host = m->home.node,
                                 .job = r->id,
                                 .user = r->start.user,
                                 .changed = host_event_changed,
                                 .done = host_event_done,
                                 .is_news = !as->fn && !as->asked,
                                 .arg = e};
    struct err why;

    if (!e)
        return false;
    *e = *as;
    e->m = m;
    e->job = run_job(r);
    e->run = r->key.run;
    e->event = event;
    e->data = host_data_of_run(m, r, event);
    if (e->data && as->more)
        json_object_update(e->data, as->more);
    e->more = NULL;
    if (e->fn)
        r->hook_event = e;
    ask.data = json_incref(e->data);
    if (e->data && hook_chain_start(&m->hooks->chains, &ask, &why) == 0)
        return true;
    /* Nothing says what the hooks would have decided: the event is accepted, as where no worker can be started. */
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "no memory to run hooks of %s", hook_event_of(event)->name);
    r->hook_event = as->fn ? NULL : r->hook_event;
    host_event_free(e);
    return false;
}

bool host_event_run(struct mom *m, struct run *r, uint32_t event, host_event_fn *fn)
{
    return host_event_begin(m, r, event, &(struct host_event){.fn = fn});
}

bool host_event_ask(struct mom *m, struct run *r, uint32_t event, const json_t *more, host_asked_fn *fn,
                    void *arg)
{
    return host_event_begin(m, r, event,
                            &(struct host_event){.asked = fn, .arg = arg, .more = (json_t *)(uintptr_t)more});
}

bool host_event_is_under_way(const struct run *r)
{
    return r->hook_event != NULL;
}

void host_event_stop(struct run *r)
{
    r->hook_event = NULL;
}
