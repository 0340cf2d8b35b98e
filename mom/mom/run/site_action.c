/* Run a script of $action for a run: start the program, wait, read what it has left, call `fn`. The program is
 * `pbs_shepherd action`, which checks the script, makes its environment, and, when the script has written an image, replaces
 * the one before with it (mom/shepherd/files/action.c). It prints the size of the image on its standard output; the script's own
 * output goes to its standard error. Both are memfds, read when it has ended, so the loop never waits for a script.
 *
 * A run has one script at a time (r->action). It ends in one of three ways: by itself; by the limit of the $action, which kills the
 * group and then ends like the first; by site_action_stop, which calls nothing. A MOM that died in the middle of a checkpoint is
 * seen by the next one in the journal, which lets the job continue (shepherds_on_hello). What the codes mean is in ckpt/ckpt.c. */
#include "site_action.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "config_forms.h"
#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "spawn.h"
#include "strbuf.h"

/* OUTPUT_MAX: how much of a script's output is read; only its last line is used, and a script that prints more has no text. */
enum { MS_PER_S = 1000, TEXT_MAX = 8192, OUTPUT_MAX = 1 << 16 };

struct site_action {
    struct run *run;
    struct spawn *process;
    struct loop_timer *timer;
    enum config_event event;
    char *script;
    int out, said; /* memfds */
    int64_t begin_mono_ms;
    bool too_long;
    site_action_fn *fn;
    void *arg;
};

bool site_action_is_active(const struct run *r)
{
    return r->action != NULL;
}

static void site_action_drop(struct site_action *a)
{
    a->run->action = NULL;
    spawn_destroy(a->process);
    loop_timer_destroy(a->timer);
    if (a->out >= 0)
        close(a->out);
    if (a->said >= 0)
        close(a->said);
    free(a->script);
    free(a);
}

void site_action_stop(struct run *r)
{
    struct site_action *a = r->action;

    if (!a)
        return;
    if (a->process)
        spawn_signal_group(a->process, SIGKILL);
    site_action_drop(a);
}

/* ---- macros */
static const char *replaced(const struct run *r, const char *word, const char *path, const char *session)
{
    static const char prefix = '%';
    const struct {
        const char *name, *value;
    } macros[] = {
        {"jobid", r->id},         {"globid", "none"},       {"sid", session}, {"taskid", "1"},
        {"login", r->start.user}, {"owner", r->start.user}, {"path", path},   {"auxid", "none"},
        {"uid", r->owner_uid},    {"gid", r->owner_gid},
    };

    if (word[0] != prefix)
        return word;
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strcmp(word + 1, macros[i].name) == 0)
            return macros[i].value;
    return NULL;
}

int site_action_argv(const struct config *c, const struct run *r, enum config_event ev, const char *path,
                     int session, struct words *out, struct err *e)
{
    const struct words *from = &c->actions[ev].argv;
    char sid[16];

    snprintf(sid, sizeof sid, "%d", session);
    if (!from->n)
        return err_set(e, PBSE_NOSUP, "this host has no $action %s", config_form_event(ev));
    for (size_t i = 0; i < from->n; i++) {
        const char *word = i ? replaced(r, from->w[i], path, sid) : from->w[0];

        if (!word)
            return err_set(e, EINVAL, "action %s script %s cannot be run due to unknown parameter %s",
                           config_form_event(ev), from->w[0], from->w[i]);
        if (words_add(out, word, e) < 0)
            return -1;
    }
    return 0;
}

/* ---- the end */
/* The last line that is not empty, in place. */
static char *last_line(char *text)
{
    size_t n = strlen(text);
    char *nl;

    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = '\0';
    nl = strrchr(text, '\n');
    return nl ? nl + 1 : text;
}

static char *read_back(int fd)
{
    char *bytes = NULL;

    lseek(fd, 0, SEEK_SET);
    return file_read_fd(fd, OUTPUT_MAX, &bytes, NULL, NULL) == 0 ? bytes : NULL;
}

static void log_end(const struct site_action *a, const char *id, int status, const char *text)
{
    const char *name = config_form_event(a->event);

    if (WIFEXITED(status))
        log_event(LOGC_JOB, LOGE_JOB, id, "%s script %s: exit code %d", name, a->script, WEXITSTATUS(status));
    else if (a->too_long)
        log_event(LOGC_JOB, LOGE_ERROR, id, "%s script %s: Action alarm time exceeded", name, a->script);
    else
        log_event(LOGC_JOB, LOGE_ERROR, id, "%s script %s: got signal %d", name, a->script, WTERMSIG(status));
    if (text[0])
        log_event(LOGC_JOB, LOGE_DEBUG, id, "%s script %s: %s", name, a->script, text);
}

static void site_action_on_end(void *arg, int status)
{
    struct site_action *a = arg;
    struct run *r = a->run;
    char *said = read_back(a->said), *out = read_back(a->out), none[1] = "",
         over[] = "Action alarm time exceeded";
    struct site_action_end end = {.event = a->event,
                                  .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                                  .text = a->too_long ? over
                                          : said      ? last_line(said)
                                                      : none,
                                  .bytes = out ? strtoull(out, NULL, 10) : 0,
                                  .took_ms = (unsigned)(clock_real_mono_ms() - a->begin_mono_ms)};
    site_action_fn *fn = a->fn;
    void *fn_arg = a->arg;

    log_end(a, r->id, status, end.text);
    site_action_drop(a);
    fn(fn_arg, r, &end);
    free(said);
    free(out);
}

static void site_action_on_alarm(void *arg)
{
    struct site_action *a = arg;

    a->too_long = true;
    spawn_signal_group(a->process, SIGKILL);
}

/* ---- the beginning */
static int make_argv(const struct home *h, const struct run *r, enum config_event ev, const char *path,
                     int session, struct words *argv, struct err *e)
{
    struct strbuf new, sid;
    int rc = -1;

    strbuf_init(&new, TEXT_MAX);
    strbuf_init(&sid, TEXT_MAX);
    strbuf_addf(&sid, "%d", session);
    if (path[0])
        strbuf_addf(&new, "%s.new", path);
    if (words_add(argv, h->shepherd, e) == 0 && words_add(argv, "action", e) == 0 &&
        words_add(argv, r->path, e) == 0 && words_add(argv, config_form_event(ev), e) == 0 &&
        words_add(argv, sid.s, e) == 0 && words_add(argv, path, e) == 0)
        rc = site_action_argv(h->config, r, ev, strbuf_str(&new), session, argv, e);
    strbuf_fini(&new);
    strbuf_fini(&sid);
    return rc;
}

/* With the files for what the script writes; r->action from now on. NULL: `e`. */
static struct site_action *site_action_create(const struct home *h, struct run *r, enum config_event ev,
                                              struct err *e)
{
    struct site_action *a = calloc(1, sizeof *a);

    if (!a) {
        err_no_memory(e);
        return NULL;
    }
    *a = (struct site_action){.run = r, .event = ev};
    a->script = strdup(h->config->actions[ev].argv.w[0]);
    a->out = memfd_create("size", MFD_CLOEXEC);
    a->said = a->out < 0 ? -1 : memfd_create("said", MFD_CLOEXEC);
    r->action = a;
    if (a->script && a->said >= 0)
        return a;
    if (a->script)
        err_set(e, errno, "no file for what action %s writes: %s", config_form_event(ev), strerror(errno));
    else
        err_no_memory(e);
    site_action_drop(a);
    return NULL;
}

static int site_action_start(struct site_action *a, struct loop *l, const struct home *h,
                             const struct words *argv, struct err *e)
{
    const int fds[] = {-1, a->out, a->said};
    const struct spawn_options o = spawn_own(argv->w, fds, 3);
    int64_t limit_s = h->config->actions[a->event].limit_s;

    a->timer = loop_timer_create(l, LOOP_REAL, site_action_on_alarm, a);
    if (!a->timer)
        return err_no_memory(e);
    a->process = spawn_start(l, &o, site_action_on_end, a, e);
    if (!a->process)
        return -1;
    a->begin_mono_ms = clock_real_mono_ms();
    if (limit_s)
        loop_timer_set(a->timer, limit_s * MS_PER_S);
    return 0;
}

int site_action_run(struct loop *l, const struct home *h, struct run *r, enum config_event ev,
                    const char *path, int session, site_action_fn *fn, void *arg, struct err *e)
{
    struct site_action *a;
    struct words argv;
    int rc = -1;

    if (r->action)
        return err_set(e, EBUSY, "action %s cannot be run due to existing subtask", config_form_event(ev));
    words_init(&argv);
    if (make_argv(h, r, ev, path, session, &argv, e) < 0) {
        words_fini(&argv);
        return -1;
    }
    a = site_action_create(h, r, ev, e);
    if (a) {
        a->fn = fn;
        a->arg = arg;
        rc = site_action_start(a, l, h, &argv, e);
        if (rc < 0)
            site_action_drop(a);
    }
    words_fini(&argv);
    return rc;
}
