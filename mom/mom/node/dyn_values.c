/* A round goes through the list; a timer begins the next one when the last script has ended, so a slow script
 * makes rounds rarer and never runs twice at a time. Its output goes to a file without name: what it writes
 * beyond the first line, or after its end, is ignored. */
#include "dyn_values.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attr_set.h"
#include "mom_config.h"
#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "spawn.h"
#include "trusted.h"
#include "words.h"

enum { MS_PER_S = 1000, OUTPUT_MAX = 65536 };

struct dyn_values_amount {
    char *name;
    char *value;  /* NULL: not known yet */
    bool failing; /* said so already */
};

struct dyn_values {
    struct loop *loop;
    const struct home *home;
    dyn_values_fn *changed;
    void *arg;
    struct dyn_values_amount *list; /* as config->dynamic */
    size_t n, at;
    bool any_new;
    struct loop_timer *timer; /* to the next round, or of the script */
    struct spawn *script;
    int out;
};

static void run_next(struct dyn_values *d);

/* ---- one script */
static void dyn_values_stop(struct dyn_values *d)
{
    if (d->script)
        spawn_signal_group(d->script, SIGKILL);
    spawn_destroy(d->script);
    d->script = NULL;
    if (d->out >= 0)
        close(d->out);
    d->out = -1;
}

static void dyn_values_failed(struct dyn_values *d, const char *why)
{
    struct dyn_values_amount *a = &d->list[d->at];

    if (!a->failing)
        log_event(LOGC_NODE, LOGE_ERROR, d->home->node, "resource %s: %s: %s; %s", a->name,
                  d->home->config->dynamic[d->at].argv.w[0], why,
                  a->value ? "its last amount stays" : "it has no amount");
    a->failing = true;
}

static void dyn_values_take(struct dyn_values *d, const char *value)
{
    struct dyn_values_amount *a = &d->list[d->at];
    char *copy;

    a->failing = false;
    if (a->value && strcmp(a->value, value) == 0)
        return;
    copy = strdup(value);
    if (!copy)
        return;
    free(a->value);
    a->value = copy;
    d->any_new = true;
}

static void dyn_values_read_amount(struct dyn_values *d)
{
    char *text = NULL, *line;

    lseek(d->out, 0, SEEK_SET);
    if (file_read_fd(d->out, OUTPUT_MAX, &text, NULL, NULL) < 0) {
        dyn_values_failed(d, "its output cannot be read");
        return;
    }
    text[strcspn(text, "\n")] = '\0';
    line = words_trim(text);
    if (line[0])
        dyn_values_take(d, line);
    else
        dyn_values_failed(d, "it has written nothing");
    free(text);
}

static void dyn_values_on_end(void *arg, int status)
{
    struct dyn_values *d = arg;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        dyn_values_read_amount(d);
    else
        dyn_values_failed(d, WIFEXITED(status) ? "it has failed"
                                               : "it was killed, or took more than ten seconds");
    dyn_values_stop(d);
    d->at++;
    run_next(d);
}

static int dyn_values_start(struct dyn_values *d, struct err *e)
{
    const struct words *argv = &d->home->config->dynamic[d->at].argv;
    char real[PATH_MAX];
    int fds[3] = {-1, -1, -1};
    struct spawn_options o = {
        .path = real, .argv = argv->w, .cwd = "/", .fds = fds, .n_fds = 3, .new_session = true};

    if (trusted_program(argv->w[0], real, e) < 0)
        return -1;
    d->out = memfd_create("resource", MFD_CLOEXEC);
    if (d->out < 0)
        return err_errno(e, errno, "cannot make a file for the output");
    fds[1] = d->out;
    d->script = spawn_start(d->loop, &o, dyn_values_on_end, d, e);
    return d->script ? 0 : -1;
}

/* ---- a round */
static void round_over(struct dyn_values *d)
{
    bool any_new = d->any_new;

    d->any_new = false;
    d->at = 0;
    loop_timer_set(d->timer, d->home->config->resource_poll_s * MS_PER_S);
    if (any_new)
        d->changed(d->arg);
}

static void run_next(struct dyn_values *d)
{
    for (; d->at < d->n; d->at++) {
        struct err e = {0};

        if (dyn_values_start(d, &e) == 0) {
            loop_timer_set(d->timer, d->home->query_s * MS_PER_S);
            return;
        }
        dyn_values_failed(d, e.text);
        dyn_values_stop(d);
    }
    if (d->n)
        round_over(d);
}

static void dyn_values_on_timer(void *arg)
{
    struct dyn_values *d = arg;

    if (d->script)
        spawn_signal_group(d->script, SIGKILL); /* on_end continues */
    else
        run_next(d);
}

/* ---- the list */
static void drop_list(struct dyn_values_amount *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].name);
        free(list[i].value);
    }
    free(list);
}

struct dyn_values *dyn_values_create(struct loop *l, const struct home *h, dyn_values_fn *changed, void *arg)
{
    struct dyn_values *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct dyn_values){.loop = l, .home = h, .changed = changed, .arg = arg, .out = -1};
    d->timer = loop_timer_create(l, LOOP_REAL, dyn_values_on_timer, d);
    if (d->timer)
        return d;
    free(d);
    return NULL;
}

void dyn_values_destroy(struct dyn_values *d)
{
    if (!d)
        return;
    dyn_values_stop(d);
    loop_timer_destroy(d->timer);
    drop_list(d->list, d->n);
    free(d);
}

/* What was known of a name; it moves. */
static char *old_value(struct dyn_values *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->list[i].name, name) == 0) {
            char *value = d->list[i].value;

            d->list[i].value = NULL;
            return value;
        }
    return NULL;
}

int dyn_values_begin(struct dyn_values *d, struct err *e)
{
    const struct config *c = d->home->config;
    struct dyn_values_amount *list = calloc(c->n_dynamic + 1, sizeof *list);

    dyn_values_stop(d);
    loop_timer_cancel(d->timer);
    for (size_t i = 0; list && i < c->n_dynamic; i++) {
        list[i].name = strdup(c->dynamic[i].name);
        if (!list[i].name) {
            drop_list(list, i);
            list = NULL;
        }
    }
    for (size_t i = 0; list && i < c->n_dynamic; i++)
        list[i].value = old_value(d, list[i].name);
    drop_list(d->list, d->n);
    d->list = list;
    d->n = list ? c->n_dynamic : 0;
    d->at = 0;
    d->any_new = false;
    if (!list)
        return err_set(e, ENOMEM, "no memory for the resources of this host");
    run_next(d);
    return 0;
}

void dyn_values_add(const struct dyn_values *d, wire_attrs *out)
{
    for (size_t i = 0; d && i < d->n; i++)
        if (d->list[i].value)
            attr_set(out, "resources_available", d->list[i].name, d->list[i].value);
}
