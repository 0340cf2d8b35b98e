/* The scripts mom_priv/prologue and mom_priv/epilogue, run by `pbs_shepherd script` in a session of its own.
 *
 * The conversation: an action of the run asks for a step; the verdict is STEP_GO_ON at once where there is no script, else it
 * comes when the program ends. The loop runs meanwhile. At $prologalarm the group is killed, and the verdict follows from that end
 * like from any other. A run that is told to end before stops its step, and no verdict comes. A step that had not ended when the
 * MOM did is done again by the next MOM: the program dies with its MOM.
 *
 * Scripts run on the first host of a job only. The exit code of the prologue decides (0 continue, 1 end the job, others run it
 * again later); that of the epilogue is logged. Where the site has hooks for the step, start/act_start.c and end/act_end.c run
 * those (hook/host_event.c) and ask for no script. */
#include "site_steps.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mom_config.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "mom_run.h"
#include "spawn.h"
#include "strbuf.h"
#include "units.h"
#include "words.h"

enum { MS_PER_S = 1000, PATH_LEN_MAX = 8192, TEXT_MAX = 65536 };
enum { CODE_NO_FILES = 252, CODE_KILLED = 253, CODE_REFUSED = 254 };     /* of the errand: script.h */
enum { RESULT_PERMISSION = -1, RESULT_NO_FILES = -2, RESULT_WAIT = -3 }; /* PBS's numbers in the log line */

struct site_steps {
    struct loop *loop;
    const struct home *home;
    step_fn *fn;
    void *arg;
};

struct step_row {
    const char *name;       /* also of the script in mom_priv */
    bool counts;            /* its code decides */
    struct site_steps *all; /* of the run's copy */
    enum step which;
};

static const struct step_row rows[STEP_COUNT] = {
    [STEP_PROLOGUE] = {.name = "prologue", .counts = true},
    [STEP_EPILOGUE] = {.name = "epilogue"},
};

struct site_steps *site_steps_create(struct loop *l, const struct home *h, step_fn *fn, void *arg)
{
    struct site_steps *s = calloc(1, sizeof *s);

    if (s)
        *s = (struct site_steps){l, h, fn, arg};
    return s;
}

void site_steps_destroy(struct site_steps *s)
{
    free(s);
}

static void clean(struct run *r)
{
    spawn_destroy(r->step);
    r->step = NULL;
    loop_timer_destroy(r->step_timer);
    r->step_timer = NULL;
    free((void *)r->step_row);
    r->step_row = NULL;
}

void site_steps_stop(struct run *r)
{
    if (r->step)
        spawn_signal_group(r->step, SIGKILL);
    clean(r);
}

static enum step_verdict site_steps_judge(const struct step_row *row, int code)
{
    if (!row->counts || code == 0 || code == RESULT_NO_FILES)
        return STEP_GO_ON;
    return code == 1 ? STEP_ABORT : STEP_RERUN;
}

static const char *words_of(int code)
{
    switch (code) {
    case RESULT_PERMISSION:
        return "Permission Error";
    case RESULT_NO_FILES:
        return "no pro/epilogue input file";
    default:
        return "nonzero p/e exit status";
    }
}

static void log_result(const struct run *r, const struct site_steps *s, const char *name, int code)
{
    if (code < 0 || code > 0)
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "prologue/epilogue failed, file: %s/%s, exit: %d, %s",
                  s->home->priv, name, code, words_of(code));
    log_event(LOGC_JOB, LOGE_JOB, r->id, "completed %s, exit=%d", name, code);
}

static void site_steps_on_end(void *arg, int status)
{
    struct run *r = arg;
    struct step_row row = *r->step_row;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : RESULT_WAIT;

    if (code == CODE_KILLED)
        code = RESULT_WAIT;
    else if (code == CODE_REFUSED)
        code = RESULT_PERMISSION;
    else if (code == CODE_NO_FILES)
        code = RESULT_NO_FILES;
    clean(r);
    log_result(r, row.all, row.name, code);
    row.all->fn(row.all->arg, r, row.which, site_steps_judge(&row, code), true, code);
}

/* The time is over: the group dies, and site_steps_on_end sees a killed script. */
static void site_steps_on_alarm(void *arg)
{
    struct run *r = arg;

    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s exceeds its time limit ($prologalarm)", r->step_row->name);
    spawn_signal_group(r->step, SIGKILL);
}

static void add_list(struct strbuf *b, const struct run *r)
{
    for (u_int i = 0; i < r->start.attrs.wire_attrs_len; i++) {
        const struct wire_attr *a = &r->start.attrs.wire_attrs_val[i];

        if (strcmp(a->name, "Resource_List") != 0)
            continue;
        strbuf_add_sep(b, ",");
        strbuf_addf(b, "%s=%s", a->resource, a->value);
    }
}

/* As resources_used of the job, in its order and with its units: scripts of PBS cut it at commas. */
static void add_used(struct strbuf *b, const exec_usage *u)
{
    char cput[UNITS_TEXT_MAX], walltime[UNITS_TEXT_MAX];

    units_format_duration(cput, (int64_t)u->cput_ms / MS_PER_S);
    units_format_duration(walltime, (int64_t)u->walltime_ms / MS_PER_S);
    strbuf_addf(b, "cpupercent=%u,cput=%s,mem=%llukb,ncpus=%u,vmem=%llukb,walltime=%s", u->cpupercent, cput,
                (unsigned long long)u->mem_kb, u->ncpus, (unsigned long long)u->vmem_kb, walltime);
}

static void add_text(struct words *argv, const char *text)
{
    words_add(argv, text ? text : "", NULL);
}

static void add_epilogue_arguments(struct words *argv, const struct run *r)
{
    struct strbuf b;
    const char *account = run_attr(r, "Account_Name", "");

    strbuf_init(&b, TEXT_MAX);
    add_text(argv, run_attr(r, "Job_Name", ""));
    strbuf_addf(&b, "%d", r->started_record.pid);
    add_text(argv, b.s);
    strbuf_reset(&b);
    add_list(&b, r);
    add_text(argv, strbuf_str(&b));
    strbuf_reset(&b);
    add_used(&b, &r->usage);
    add_text(argv, b.s);
    add_text(argv, run_attr(r, "queue", ""));
    add_text(argv, account ? account : "null");
    strbuf_reset(&b);
    strbuf_addf(&b, "%d", r->failure.status);
    add_text(argv, b.s);
    strbuf_fini(&b);
}

static void make_arguments(struct words *argv, const struct site_steps *s, const struct run *r,
                           const struct step_row *row, const char *file)
{
    words_init(argv);
    add_text(argv, s->home->shepherd);
    add_text(argv, "script");
    add_text(argv, row->name);
    add_text(argv, r->path);
    add_text(argv, file);
    add_text(argv, r->id);
    add_text(argv, r->start.user);
    add_text(argv, r->start.group);
    if (row->which == STEP_EPILOGUE)
        add_epilogue_arguments(argv, r);
}

static int start_script(struct site_steps *s, struct run *r, struct step_row *row, const char *file,
                        struct err *e)
{
    struct words argv;
    char *envp[] = {NULL};
    struct spawn_options o = {.path = s->home->shepherd, .envp = envp, .cwd = "/", .new_session = true};

    make_arguments(&argv, s, r, row, file);
    o.argv = argv.w;
    r->step_row = row;
    r->step_timer = loop_timer_create(s->loop, LOOP_REAL, site_steps_on_alarm, r);
    r->step = r->step_timer ? spawn_start(s->loop, &o, site_steps_on_end, r, e) : NULL;
    words_fini(&argv);
    if (!r->step)
        return -1;
    loop_timer_set(r->step_timer, s->home->config->prologue_s * MS_PER_S);
    return 0;
}

void site_steps_run(struct site_steps *s, struct run *r, enum step which)
{
    struct step_row *row = malloc(sizeof *row);
    struct strbuf file;
    struct err e = {0};

    strbuf_init(&file, PATH_LEN_MAX);
    if (row)
        *row = rows[which];
    if (!row || r->start.my_host != 0 || strbuf_addf(&file, "%s/%s", s->home->priv, row->name) < 0 ||
        access(file.s, F_OK) < 0) {
        free(row);
        strbuf_fini(&file);
        s->fn(s->arg, r, which, STEP_GO_ON, false, 0);
        return;
    }
    row->all = s;
    row->which = which;
    log_event(LOGC_JOB, LOGE_JOB, r->id, "running %s", row->name);
    if (start_script(s, r, row, file.s, &e) < 0) {
        log_err(LOGC_JOB, r->id, &e, "cannot run %s", file.s);
        clean(r);
        s->fn(s->arg, r, which, rows[which].counts ? STEP_RERUN : STEP_GO_ON, true, RESULT_WAIT);
    }
    strbuf_fini(&file);
}
