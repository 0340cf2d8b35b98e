/* A round through policy->dynamic, one script at a time. Output goes to a file without name: what a script
 * writes beyond its first line, or after its end, is ignored. See dyn_res.h.
 *
 * `at` is the resource whose script runs. A script that is late is killed; its end is reported like any
 * other, so there is one way on. */
#include "dyn_res.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pbs_error.h"
#include "spawn.h"
#include "trusted.h"
#include "words.h"

enum { MS_PER_S = 1000, OUTPUT_MAX = 65536 }; /* more output than that is bad output */

struct dyn_res {
    struct loop *loop;
    struct policy *policy;
    dyn_res_fn *done;
    void *arg;
    size_t at; /* in policy->dynamic, while asking */
    bool asking, late, changed;
    struct loop_timer *timer;
    struct spawn *script;
    int out;
};

static void run_next(struct dyn_res *d);

/* Whatever runs is killed with all that it has started. */
static void dyn_res_stop(struct dyn_res *d)
{
    if (d->script)
        spawn_signal_group(d->script, SIGKILL);
    spawn_destroy(d->script);
    d->script = NULL;
    loop_timer_cancel(d->timer);
    if (d->out >= 0)
        close(d->out);
    d->out = -1;
}

/* --- one script --------------------------------------------------------------------------------------- */

/* `changed`: also where jobs have taken some of it meanwhile, which the script may not know yet. */
static void dyn_res_set(struct dyn_res *d, struct policy_dynamic *x, const char *value)
{
    d->changed = d->changed || x->taken || !x->available || strcmp(x->available, value) != 0;
    free(x->available);
    x->available = mem_text(value);
    x->taken = 0;
}

/* PBS's lines; the resource is 0 for this cycle. */
static void dyn_res_failed(struct dyn_res *d, const char *kind, const char *what)
{
    struct policy_dynamic *x = &d->policy->dynamic[d->at];

    log_event(LOGC_SVR, LOGE_ERROR, "server_dyn_res", "%s %s %s", kind, x->command, what);
    log_event(LOGC_SVR, LOGE_DEBUG, "server_dyn_res", "Setting resource %s to 0", x->resource);
    dyn_res_set(d, x, "0");
}

static void dyn_res_read_amount(struct dyn_res *d)
{
    struct policy_dynamic *x = &d->policy->dynamic[d->at];
    char *text = NULL, *line;

    lseek(d->out, 0, SEEK_SET);
    if (file_read_fd(d->out, OUTPUT_MAX, &text, NULL, NULL) < 0) {
        dyn_res_failed(d, "Script", "returned bad output");
        return;
    }
    text[strcspn(text, "\n")] = '\0';
    line = words_trim(text);
    if (isdigit((unsigned char)line[0])) {
        log_event(LOGC_SVR, LOGE_DEBUG, "server_dyn_res", "%s = %s (\"%s\") dynamic resource", x->resource,
                  line, x->command);
        dyn_res_set(d, x, line);
    } else
        dyn_res_failed(d, "Script", "returned bad output");
    free(text);
}

static void dyn_res_on_end(void *arg, int status)
{
    struct dyn_res *d = arg;

    if (d->late)
        dyn_res_failed(d, "Program", "timed out");
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        dyn_res_read_amount(d);
    else
        dyn_res_failed(d, "Program", "failed");
    dyn_res_stop(d);
    d->at++;
    run_next(d);
}

static void dyn_res_on_time(void *arg)
{
    struct dyn_res *d = arg;

    d->late = true;
    if (d->script)
        spawn_signal_group(d->script, SIGKILL); /* its end is still reported */
}

/* Run a script only if no user but root and the scheduler's own can have written it or put another file in its
 * place. */
static bool is_safe(const char *command)
{
    size_t n = strcspn(command, " \t");
    char *path = mem_text(command), real[PATH_MAX];
    struct err e = {0};

    path[n] = '\0';
    trusted_program(path, real, &e);
    if (e.code == ENOENT) {
        log_event(LOGC_FIL, LOGE_ERROR, "sched_config", "server_dyn_res script %s does not exist", path);
    } else if (e.code) {
        log_event(LOGC_FIL, LOGE_ERROR, "sched_config",
                  "error: %s file has a non-secure file access, errno: %d", path, e.code);
        log_event(LOGC_FIL, LOGE_ERROR, "sched_config", "%s", e.text);
    }
    free(path);
    return e.code == 0;
}

static int dyn_res_start(struct dyn_res *d, struct err *e)
{
    const struct policy_dynamic *x = &d->policy->dynamic[d->at];
    static char shell[] = "sh", option[] = "-c";
    char *const argv[] = {shell, option, x->command, NULL};
    int fds[3] = {-1, -1, -1};
    struct spawn_options o = {
        .path = "/bin/sh", .argv = argv, .cwd = "/", .fds = fds, .n_fds = 3, .new_session = true};

    d->late = false;
    d->out = memfd_create("dyn_res", MFD_CLOEXEC);
    if (d->out < 0)
        return err_errno(e, errno, "cannot make a file for the output");
    fds[1] = d->out;
    d->script = spawn_start(d->loop, &o, dyn_res_on_end, d, e);
    return d->script ? 0 : -1;
}

/* --- a round ------------------------------------------------------------------------------------------ */

/* The next script that can be started; when there is none the round is over. */
static void run_next(struct dyn_res *d)
{
    for (; d->at < d->policy->n_dynamic; d->at++) {
        struct err e = {0};

        if (!is_safe(d->policy->dynamic[d->at].command)) {
            dyn_res_set(d, &d->policy->dynamic[d->at], "0");
            continue;
        }
        if (dyn_res_start(d, &e) == 0) {
            if (d->policy->dynamic_alarm_s > 0)
                loop_timer_set(d->timer, d->policy->dynamic_alarm_s * MS_PER_S);
            return;
        }
        dyn_res_failed(d, "Program", e.text);
        dyn_res_stop(d);
    }
    d->asking = false;
    d->done(d->arg, d->changed);
}

bool dyn_res_ask(struct dyn_res *d)
{
    if (d->policy->n_dynamic == 0)
        return false;
    d->asking = true;
    d->changed = false;
    d->at = 0;
    run_next(d);
    return true;
}

bool dyn_res_is_asking(const struct dyn_res *d)
{
    return d->asking;
}

void dyn_res_forget(struct dyn_res *d)
{
    dyn_res_stop(d);
    d->asking = false;
}

struct dyn_res *dyn_res_create(struct loop *l, struct policy *p, dyn_res_fn *done, void *arg, struct err *e)
{
    struct dyn_res *d = mem_new(1, sizeof *d);

    *d = (struct dyn_res){.loop = l, .policy = p, .done = done, .arg = arg, .out = -1};
    d->timer = loop_timer_create(l, LOOP_REAL, dyn_res_on_time, d);
    if (d->timer)
        return d;
    free(d);
    err_set(e, PBSE_SYSTEM, "no memory for a timer");
    return NULL;
}

void dyn_res_destroy(struct dyn_res *d)
{
    if (!d)
        return;
    dyn_res_stop(d);
    loop_timer_destroy(d->timer);
    free(d);
}
