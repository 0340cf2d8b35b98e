/* The actions of an adapter are put into the configuration as if the site had written them, but are marked (actions_ours), since a
 * job must have said that it saves itself before a program of ours is asked to do it (exec.x, EXEC_CKPT_ASKS). */
#include "ckpt_adapters.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attr_set.h"
#include "conf.h"
#include "file.h"
#include "log.h"
#include "loop.h"
#include "mom_config.h"
#include "mom_home.h"
#include "spawn.h"
#include "strbuf.h"

enum {
    PROBE_LIMIT_MS =
        30000, /* `criu check` takes a tenth of a second; a loaded host that swaps, several seconds */
    OUTPUT_MAX = 1 << 16,
    REASON_MAX = 200,
    TEXT_MAX = 2048,
    ADAPTERS = 3,
    APP = 0,           /* the row of ckpt-app */
    APP_LIMIT_S = 150, /* APP_ANSWER_S, and time to look at what was written */
    TOOL_LIMIT_S = 1200
};
#define TOOL_ANSWER_S "1140"
#define APP_ANSWER_S  "120" /* a state of 10 GB at 100 MB a second */

/* In the order in which they are named to people. */
static const struct ckpt_adapters_row {
    const char *name;
    bool asks_program; /* the program saves itself: only for jobs that have said so */
    int64_t limit_s;
    const char *save[4],
        *restore[4]; /* arguments; NULL at the end; restore[0] NULL: the job's script is run again */
} rows[ADAPTERS] = {
    {"app", true, APP_LIMIT_S, {"USR1", APP_ANSWER_S, NULL}, {NULL}},
    {"criu", false, TOOL_LIMIT_S, {"dump", "%path", NULL}, {"restore", "%path", NULL}},
    {"dmtcp", true, TOOL_LIMIT_S, {"dump", TOOL_ANSWER_S, NULL}, {NULL}},
};

struct ckpt_adapters_state {
    bool is_known, works;
    char why[REASON_MAX];
};

struct ckpt_adapters {
    struct loop *loop;
    struct home *home;
    ckpt_adapters_fn *changed;
    void *arg;
    struct loop_timer *timer;
    struct spawn *probe;
    int out;
    size_t at; /* the row that is being probed; ADAPTERS: none */
    bool any_new;
    struct ckpt_adapters_state state[ADAPTERS];
};

static void adapter_path(const struct ckpt_adapters *a, const struct ckpt_adapters_row *row,
                         char out[static PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/libexec/ckpt-%s", conf_text(a->home->conf, CONF_PBS_EXEC), row->name);
}

/* ---- what the configuration gets */
static const struct ckpt_adapters_row *row_chosen(const struct config *c, size_t *at)
{
    for (size_t i = 0; i < ADAPTERS; i++)
        if (strcmp(c->checkpoint_adapter, rows[i].name) == 0) {
            *at = i;
            return &rows[i];
        }
    return NULL;
}

static bool site_has_its_own(const struct config *c)
{
    return !c->actions_ours &&
           (c->actions[ACTION_CHECKPOINT].argv.n || c->actions[ACTION_CHECKPOINT_ABORT].argv.n ||
            c->actions[ACTION_RESTART].argv.n);
}

/* One that no probe has looked at yet counts as usable where its program does all there is to do, so that the first HELLO is right as
 * a rule; what the probe finds is said after it. */
static bool is_usable(const struct ckpt_adapters *a, size_t at, const char *path)
{
    const struct ckpt_adapters_state *s = &a->state[at];

    return s->is_known ? s->works : at == APP && access(path, X_OK) == 0;
}

static void set_action(struct config_action *x, const char *path, const char *const args[], int64_t limit_s)
{
    words_fini(&x->argv);
    words_init(&x->argv);
    x->limit_s = limit_s;
    if (!args[0] || words_add(&x->argv, path, NULL) < 0)
        return;
    for (size_t i = 0; args[i]; i++)
        if (words_add(&x->argv, args[i], NULL) < 0) { /* half a command line is none */
            words_fini(&x->argv);
            words_init(&x->argv);
            return;
        }
}

/* Where the site says nothing, the actions are those of the chosen adapter, if it works. */
static void ckpt_adapters_apply(struct ckpt_adapters *a)
{
    static const char *const nothing[] = {NULL};
    struct config *c = a->home->config;
    const struct ckpt_adapters_row *row;
    char path[PATH_MAX] = "";
    bool use;
    size_t at;

    if (site_has_its_own(c))
        return;
    row = row_chosen(c, &at);
    if (row)
        adapter_path(a, row, path);
    use = row && is_usable(a, at, path);
    c->actions_ours = true;
    c->actions_ask_program = use && row->asks_program;
    set_action(&c->actions[ACTION_CHECKPOINT], path, use ? row->save : nothing, use ? row->limit_s : 0);
    set_action(&c->actions[ACTION_CHECKPOINT_ABORT], path, use ? row->save : nothing, use ? row->limit_s : 0);
    set_action(&c->actions[ACTION_RESTART], path, use ? row->restore : nothing, use ? row->limit_s : 0);
}

/* ---- probes */
static void probe_next(struct ckpt_adapters *a);

static void ckpt_adapters_stop(struct ckpt_adapters *a)
{
    if (a->probe)
        spawn_signal_group(a->probe, SIGKILL);
    spawn_destroy(a->probe);
    a->probe = NULL;
    if (a->out >= 0)
        close(a->out);
    a->out = -1;
    loop_timer_cancel(a->timer);
}

static void note_state(struct ckpt_adapters *a, bool works, const char *why)
{
    struct ckpt_adapters_state *s = &a->state[a->at], before = *s;

    *s = (struct ckpt_adapters_state){.is_known = true, .works = works};
    snprintf(s->why, sizeof s->why, "%s", works ? "" : why);
    for (char *at = s->why; *at; at++) /* they are listed in one line, separated by "; " */
        if ((unsigned char)*at < ' ' || *at == ';' || *at == 127)
            *at = ' ';
    if (before.is_known && before.works == works && strcmp(before.why, s->why) == 0)
        return;
    a->any_new = true;
    ckpt_adapters_apply(a);
    log_event(LOGC_NODE, LOGE_SYSTEM, a->home->node,
              works ? "checkpoint by ckpt-%s works here" : "checkpoint by ckpt-%s: %s", rows[a->at].name,
              s->why);
}

static void said_last(int fd, char out[static REASON_MAX])
{
    char *text = NULL, *nl;
    size_t n;

    snprintf(out, REASON_MAX, "it does not say why");
    lseek(fd, 0, SEEK_SET);
    if (file_read_fd(fd, OUTPUT_MAX, &text, NULL, NULL) < 0)
        return;
    for (n = strlen(text); n && (text[n - 1] == '\n' || text[n - 1] == ' '); n--)
        text[n - 1] = '\0';
    nl = strrchr(text, '\n');
    if (n)
        snprintf(out, REASON_MAX, "%s", nl ? nl + 1 : text);
    free(text);
}

static void ckpt_adapters_on_probed(void *arg, int status)
{
    struct ckpt_adapters *a = arg;
    char why[REASON_MAX];

    said_last(a->out, why);
    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "its probe was ended by signal %d", WTERMSIG(status));
    note_state(a, WIFEXITED(status) && WEXITSTATUS(status) == 0, why);
    ckpt_adapters_stop(a);
    a->at++;
    probe_next(a);
}

static void ckpt_adapters_on_alarm(void *arg)
{
    struct ckpt_adapters *a = arg;

    if (a->probe)
        spawn_signal_group(a->probe, SIGKILL); /* on_probed continues */
}

static int probe_start(struct ckpt_adapters *a, struct err *e)
{
    static char option[] = "--probe",
                path_is[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char *const env[] = {path_is, NULL};
    char path[PATH_MAX];
    char *argv[] = {path, option, NULL};
    int fds[3] = {-1, -1, -1};
    struct spawn_options o = {
        .path = path, .argv = argv, .envp = env, .cwd = "/", .fds = fds, .n_fds = 3, .new_session = true};

    adapter_path(a, &rows[a->at], path);
    a->out = memfd_create("probe", MFD_CLOEXEC);
    if (a->out < 0)
        return err_errno(e, errno, "cannot make a file for the output");
    fds[1] = fds[2] = a->out;
    a->probe = spawn_start(a->loop, &o, ckpt_adapters_on_probed, a, e);
    if (!a->probe)
        return -1;
    loop_timer_set(a->timer, PROBE_LIMIT_MS);
    return 0;
}

static void probe_next(struct ckpt_adapters *a)
{
    struct err e = {0};

    for (; a->at < ADAPTERS; a->at++) {
        if (probe_start(a, &e) == 0)
            return;
        note_state(a, false, e.text);
        ckpt_adapters_stop(a);
    }
    if (!a->any_new)
        return;
    a->any_new = false;
    a->changed(a->arg);
}

void ckpt_adapters_begin(struct ckpt_adapters *a)
{
    ckpt_adapters_stop(a);
    ckpt_adapters_apply(a);
    a->at = 0;
    probe_next(a);
}

/* ---- what people see */
static void list_working(const struct ckpt_adapters *a, struct strbuf *b)
{
    const struct config *c = a->home->config;
    const struct ckpt_adapters_row *first = NULL;
    size_t at = ADAPTERS;

    if (site_has_its_own(c))
        strbuf_add(b, "site");
    else if ((first = row_chosen(c, &at)) && a->state[at].works)
        strbuf_add(b, first->name);
    for (size_t i = 0; i < ADAPTERS; i++)
        if (a->state[i].works && i != at)
            strbuf_addf(b, "%s%s",
                        b->len                                       ? ","
                        : strcmp(c->checkpoint_adapter, "none") == 0 ? "none,"
                                                                     : "",
                        rows[i].name);
    if (!b->len)
        strbuf_add(b, "none");
}

void ckpt_adapters_add(const struct ckpt_adapters *a, wire_attrs *out)
{
    struct strbuf works, missing;

    if (!a)
        return;
    strbuf_init(&works, TEXT_MAX);
    strbuf_init(&missing, TEXT_MAX);
    list_working(a, &works);
    for (size_t i = 0; i < ADAPTERS; i++)
        if (a->state[i].is_known && !a->state[i].works)
            strbuf_addf(&missing, "%s%s: %s", missing.len ? "; " : "", rows[i].name, a->state[i].why);
    attr_set(out, "checkpoint", "", strbuf_str(&works));
    attr_set(out, "checkpoint_missing", "", strbuf_str(&missing));
    strbuf_fini(&works);
    strbuf_fini(&missing);
}

struct ckpt_adapters *ckpt_adapters_create(struct loop *l, struct home *h, ckpt_adapters_fn *changed,
                                           void *arg, struct err *e)
{
    struct ckpt_adapters *a = calloc(1, sizeof *a);

    if (a) {
        *a = (struct ckpt_adapters){
            .loop = l, .home = h, .changed = changed, .arg = arg, .out = -1, .at = ADAPTERS};
        a->timer = loop_timer_create(l, LOOP_REAL, ckpt_adapters_on_alarm, a);
    }
    if (a && a->timer)
        return a;
    free(a);
    err_no_memory(e);
    return NULL;
}

void ckpt_adapters_destroy(struct ckpt_adapters *a)
{
    if (!a)
        return;
    ckpt_adapters_stop(a);
    loop_timer_destroy(a->timer);
    free(a);
}
