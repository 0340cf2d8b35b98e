/* qsub: submit a job.
 *
 * qsub_run has the steps in order. Options of the command line are stronger than directives of the script, and those are
 * stronger than the server's default_qsub_arguments; defaults fill the rest. Where nothing is read from a file or a
 * terminal, nothing is opened but the connection. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "job_options.h"
#include "jobid.h"
#include "jsdl.h"
#include "pbs_error.h"
#include "qsub_env.h"
#include "qsub_interactive.h"
#include "qsub_when.h"
#include "job_script.h"
#include "api_error.h"
#include "conn_pool.h"
#include "strbuf.h"
#include "wait_job.h"

enum { EXIT_SCRIPT = 8, SUBMIT_ARGUMENTS_MAX = 1 << 20 };

struct qsub {
    struct job_options o;
    const char *destination, *prefix, *variables;
    char *destination_copy, *variables_copy; /* owned texts of these two */
    struct qsub_interactive terminal;
    bool all_variables, hold, interactive, silent, x11, gui, foreground, when, json;
    const char *shapes[QSUB_WHEN_MAX]; /* --or */
    size_t n_shapes;
    /* set by the steps */
    struct qsub_source {
        char copy[JOB_SCRIPT_PATH_MAX]; /* of standard input, which is read twice */
        const char *path;               /* of the script; NULL: an executable, or an interactive job */
        int fd;                         /* of `copy`; -1: none */
    } source;
    struct attrs sent; /* what the call takes: options, environment and defaults */
    struct conn_pool *pool;
    struct destination target;
    int c; /* connection to the job's server */
    char *id;
};

static int qsub_take_hold(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qsub *q = settings;

    attrs_set(&q->o.attrs, ATTR_h, NULL, USER_HOLD);
    return 0;
}

static int qsub_take_interactive(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct qsub *q = settings;

    attrs_set(&q->o.attrs, ATTR_inter, NULL, "1");
    return 0;
}

/* The text of a directive does not last, so these two are copied. */
static int take_copy(char **slot, const char **field, const char *value)
{
    free(*slot);
    *slot = strdup(value);
    *field = *slot;
    return *slot ? 0 : -1;
}

static int qsub_take_destination(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct qsub *q = settings;

    return take_copy(&q->destination_copy, &q->destination, value) ? err_no_memory(e) : 0;
}

static int qsub_take_variables(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qsub *q = settings;

    return take_copy(&q->variables_copy, &q->variables, value) ? err_no_memory(e) : 0;
}

static int qsub_take_shape(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qsub *q = settings;

    if (q->n_shapes == QSUB_WHEN_MAX)
        return err_set(e, EINVAL, "at most %d shapes", QSUB_WHEN_MAX);
    q->shapes[q->n_shapes++] = value;
    return 0;
}

static const struct option_row rows[] = {
    JOB_OPTION('a', "date_time", "not before this time: [[[[CC]YY]MM]DD]hhmm[.SS]"),
    JOB_OPTION('A', "account_string", "account"),
    JOB_OPTION('c', "interval", "when to checkpoint: n, s, c, c=minutes, w, w=minutes"),
    CMD_TEXT('C', struct qsub, prefix, "directive_prefix",
             "what directives begin with; empty: there are none"),
    JOB_OPTION('e', "path", "where standard error goes: [host:]path"),
    CMD_FORMAT(struct qsub, json),
    CMD_FLAG('f', struct qsub, foreground, "accepted; submission is always in the foreground"),
    CMD_FLAG('G', struct qsub, gui, "a graphical interactive job"),
    {'h', NULL, OPTION_ALONE, NULL, "hold the job", qsub_take_hold, 0},
    {'I', NULL, OPTION_ALONE, NULL, "an interactive job", qsub_take_interactive, 0},
    JOB_OPTION('j', "oe|eo|n", "join output and error"),
    JOB_OPTION('J', "X-Y[:Z][%N]", "an array: indices, and how many run at once"),
    JOB_OPTION('k', "keep", "keep output on the execution host: letters of o, e, d; or n"),
    JOB_OPTION('l', "resource_list", "resources: select=..., place=..., walltime=..."),
    JOB_OPTION('m', "mail_options", "when to mail: letters of a, b, e, j; or n"),
    JOB_OPTION('M', "user_list", "whom to mail"),
    JOB_OPTION('N', "name", "the job's name"),
    JOB_OPTION('o', "path", "where standard output goes: [host:]path"),
    JOB_OPTION('p', "priority", "-1024 to 1023"),
    JOB_OPTION('P', "project", "project"),
    {'q', NULL, OPTION_VALUE, "destination", "queue, @server or queue@server", qsub_take_destination, 0},
    JOB_OPTION('r', "y|n", "may it be run again from its start?"),
    JOB_OPTION('R', "o|e|oe", "output files to remove when it ends well"),
    JOB_OPTION('S', "path", "shell: path[@host][,path[@host]]"),
    JOB_OPTION('u', "user_list", "who to run as: user[@host],..."),
    {'v', NULL, OPTION_VALUE, "variable_list", "variables to send: a,b=value", qsub_take_variables, 0},
    CMD_FLAG('V', struct qsub, all_variables, "send the whole environment"),
    JOB_OPTION('W', "otherattributes", "attribute=value[,attribute=value]"),
    CMD_FLAG('X', struct qsub, x11, "forward X11 of an interactive job"),
    CMD_FLAG('z', struct qsub, silent, "do not print the job's identifier"),
    {0, "when", OPTION_ALONE, NULL, "do not submit: say when the job would start", cmd_take_flag,
     (int)offsetof(struct qsub, when)},
    {0, "or", OPTION_VALUE, "resource_list", "with --when: the same job with these resources",
     qsub_take_shape, 0},
};

/* --- the steps ---------------------------------------------------------------------------------------------- */

static int qsub_read_source(struct qsub *q, int n, char *operands[]);
static int qsub_build_job(struct qsub *q);
static int qsub_connect(struct qsub *q);
static int qsub_submit(struct qsub *q);
static int qsub_foresee(struct qsub *q);
static int qsub_finish(struct qsub *q);

/* Each step returns 0, or the exit code that ends the command, after a message. */
static int qsub_run(void *settings, int n, char *operands[])
{
    struct qsub *q = settings;
    int rc;

    q->source.fd = -1;
    rc =
        qsub_read_source(q, n, operands); /* script or executable; directives fill in what options left out */
    if (rc == 0)
        rc = qsub_build_job(q); /* check options; add environment, terminal and defaults */
    if (rc == 0)
        rc = qsub_connect(q); /* to the server of the destination */
    if (rc == 0 && q->when)
        rc = qsub_foresee(q); /* in place of the rest */
    else if (rc == 0)
        rc = qsub_submit(q); /* twice where the server has default_qsub_arguments */
    if (rc == 0 && !q->when)
        rc = qsub_finish(q); /* print the identifier, be the job's terminal, wait for its end */
    conn_pool_destroy(q->pool);
    free(q->id);
    if (q->source.fd >= 0)
        close(q->source.fd);
    return rc;
}

/* --- directives --------------------------------------------------------------------------------------------- */

static int qsub_take_directive(void *context, const char *text)
{
    struct qsub *said = context;
    struct err e;

    if (options_parse_text(&command.options, text, said, &e) < 0)
        cmd_error(&said->o.a, "%s", e.text);
    else if (!said->o.a.errors)
        return 0;
    cmd_error(&said->o.a, "directive error: %s", text + strspn(text, " \t"));
    return 1;
}

/* Take over what `said` has and the stronger `q` has not. */
static void merge(struct qsub *q, struct qsub *said)
{
    const struct attropl *a;

    for (a = said->o.attrs.first; a; a = a->next)
        if (!attrs_find(&q->o.attrs, a->name, a->resource))
            attrs_set(&q->o.attrs, a->name, a->resource, a->value);
    if (!q->destination && said->destination) {
        q->destination = q->destination_copy = said->destination_copy;
        said->destination_copy = NULL;
    }
    if (!q->variables && said->variables) {
        q->variables = q->variables_copy = said->variables_copy;
        said->variables_copy = NULL;
    }
    q->all_variables |= said->all_variables;
    q->x11 |= said->x11;
    q->gui |= said->gui;
    q->silent |= said->silent;
}

static const char *directive_prefix(const struct qsub *q)
{
    const char *env = getenv("PBS_DPREFIX");

    return q->prefix ? q->prefix : env ? env : "#PBS";
}

static int read_directives(struct qsub *q, FILE *in)
{
    struct qsub said = {.o = {.a = q->o.a}};
    struct err e;
    int rc = job_script_scan(in, directive_prefix(q), qsub_take_directive, &said, &e);

    if (rc < 0)
        cmd_error(&q->o.a, "%s", e.text);
    if (rc < 0 && e.code == EILSEQ)
        cmd_hint("its lines end as on Windows; dos2unix converts them");
    else if (!rc)
        merge(q, &said);
    job_options_fini(&said.o);
    free(said.destination_copy);
    free(said.variables_copy);
    return rc ? 1 : 0;
}

/* --- the script --------------------------------------------------------------------------------------------- */

static int open_script(struct qsub *q, const char *path, FILE **out)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        cmd_error(&q->o.a, "script file:: %m");
        cmd_hint("%s is taken for the script; a command follows --: qsub [options] -- command arguments",
                 path);
        return 1;
    }
    if (!S_ISREG(st.st_mode)) {
        cmd_error(&q->o.a, "script not a file");
        cmd_hint("%s", path);
        return 1;
    }
    *out = fopen(path, "re");
    if (!*out) {
        cmd_error(&q->o.a, "opening script file:: %m");
        cmd_hint("%s", path);
        return EXIT_SCRIPT;
    }
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int from_file(struct qsub *q, const char *path, struct qsub_source *s)
{
    FILE *in;
    int rc = open_script(q, path, &in);

    if (rc)
        return rc;
    s->path = path;
    rc = read_directives(q, in);
    fclose(in);
    if (!attrs_find(&q->o.attrs, ATTR_N, NULL))
        attrs_set(&q->o.attrs, ATTR_N, NULL, base_name(path));
    return rc;
}

static int from_stdin(struct qsub *q, struct qsub_source *s)
{
    struct err e;
    FILE *in;
    int rc;

    if (isatty(STDIN_FILENO)) {
        puts("Job script will be read from standard input. Submit with CTRL+D.");
        fflush(stdout);
    }
    s->fd = job_script_keep(STDIN_FILENO, s->copy, &e);
    in = s->fd < 0 ? NULL : fopen(s->copy, "re");
    if (!in) {
        cmd_error(&q->o.a, "%s", s->fd < 0 ? e.text : "the script cannot be read again");
        return 1;
    }
    s->path = s->copy;
    rc = read_directives(q, in);
    fclose(in);
    return rc;
}

/* "-- program arguments" */
static int from_words(struct qsub *q, int n, char *operands[])
{
    struct strbuf b;
    int i;

    strbuf_init(&b, SUBMIT_ARGUMENTS_MAX);
    jsdl_add(&b, "Executable", operands[0]);
    attrs_set(&q->o.attrs, ATTR_executable, NULL, strbuf_str(&b));
    strbuf_reset(&b);
    for (i = 1; i < n; i++)
        jsdl_add(&b, "Argument", operands[i]);
    if (n > 1)
        attrs_set(&q->o.attrs, ATTR_Arglist, NULL, strbuf_str(&b));
    i = strbuf_ok(&b);
    strbuf_fini(&b);
    return i ? 0 : -cmd_error(&q->o.a, "the arguments are too long");
}

static bool is_interactive(const struct qsub *q);

static int qsub_read_source(struct qsub *q, int n, char *operands[])
{
    /* Operands come at the end of argv, so there is a word before them. */
    /* cppcheck-suppress negativeIndex */
    if (!strcmp(operands[-1], "--"))
        return n ? from_words(q, n, operands) : cmd_usage(&q->o.a);
    if (n > 1)
        return cmd_usage(&q->o.a);
    if (n && strcmp(operands[0], "-"))
        return from_file(q, operands[0], &q->source);
    if (is_interactive(q) || (q->when && n == 0))
        return 0;
    return from_stdin(q, &q->source);
}

/* --- what the job is sent with ------------------------------------------------------------------------------ */

static void add_defaults(struct attrs *l)
{
    static const struct {
        const char *name, *value;
    } defaults[] = {
        {ATTR_c, CHECKPOINT_UNSPECIFIED}, {ATTR_h, NO_HOLD}, {ATTR_j, NO_JOIN}, {ATTR_k, NO_KEEP},
        {ATTR_m, MAIL_AT_ABORT},          {ATTR_p, "0"},     {ATTR_r, "TRUE"},  {ATTR_N, "STDIN"}};
    size_t i;

    for (i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (!attrs_find(l, defaults[i].name, NULL))
            attrs_add(l, defaults[i].name, NULL, defaults[i].value, SET);
}

static bool is_blocking(const struct qsub *q)
{
    return attrs_find(&q->o.attrs, ATTR_block, NULL) != NULL;
}

static bool is_interactive(const struct qsub *q)
{
    const char *said = attrs_find(&q->o.attrs, ATTR_inter, NULL);

    return said && strcasecmp(said, "false") != 0 && strcmp(said, "0") != 0;
}

static bool names_display(const char *variables)
{
    static const char name[] = "DISPLAY";
    const size_t n = sizeof name - 1;

    for (const char *p = variables; p && *p; p = strchr(p, ',')) {
        p += strspn(p, ", ");
        if (strncmp(p, name, n) == 0 && strchr("=, ", p[n]))
            return true;
    }
    return false;
}

enum {
    QSUB_INTERACTIVE = 1,
    QSUB_ARRAY = 2,
    QSUB_NOT_RERUNNABLE = 4, /* -r n */
    QSUB_MAIL_SUBJOBS = 8,   /* -m with j */
    QSUB_X11 = 16,
    QSUB_GUI = 32,
    QSUB_HAS_DISPLAY = 64,
    QSUB_GIVES_DISPLAY = 128, /* -v DISPLAY */
    QSUB_TERMINAL = 256,
    QSUB_WHEN = 512,
    QSUB_SHAPES = 1024, /* --or */
    QSUB_JSON = 2048,
};

static const struct cmd_rule qsub_rules[] = {
    {.all = QSUB_WHEN | QSUB_INTERACTIVE, .text = "--when cannot be used for an interactive job"},
    {.all = QSUB_SHAPES, .none = QSUB_WHEN, .text = "--or needs --when"},
    {.all = QSUB_JSON, .none = QSUB_WHEN, .text = "-F needs --when"},
    {.all = QSUB_INTERACTIVE | QSUB_ARRAY,
     .text = "interactive and array job submission cannot be used together"},
    {.all = QSUB_ARRAY | QSUB_NOT_RERUNNABLE, .text = " cannot submit non-rerunable Array Job"},
    {.all = QSUB_MAIL_SUBJOBS,
     .none = QSUB_ARRAY,
     .text = "mail option 'j' can not be used without array job"},
    {.all = QSUB_X11, .none = QSUB_INTERACTIVE, .text = "X11 Forwarding possible only for interactive jobs"},
    {.all = QSUB_GUI, .none = QSUB_INTERACTIVE, .text = "only interactive jobs can have GUI"},
    {.all = QSUB_X11, .none = QSUB_HAS_DISPLAY, .text = "DISPLAY not set"},
    {.all = QSUB_X11 | QSUB_GIVES_DISPLAY,
     .text = "-X makes a DISPLAY of the job's own, which cannot be given by -v"},
    {.all = QSUB_GUI, .text = "-G is not supported: it is for hosts that run Windows (-X forwards X11)"},
    {.all = QSUB_INTERACTIVE,
     .none = QSUB_TERMINAL,
     .text = "\tstandard input and output must be a terminal for an interactive job"},
};

static bool qsub_has(const struct qsub *q, const char *attribute, const char *value)
{
    const char *given = attrs_find(&q->o.attrs, attribute, NULL);

    return given && !strcmp(given, value);
}

static unsigned qsub_given(const struct qsub *q)
{
    const char *mail = attrs_find(&q->o.attrs, ATTR_m, NULL);

    return QSUB_INTERACTIVE * is_interactive(q) | QSUB_ARRAY * !!attrs_find(&q->o.attrs, ATTR_J, NULL) |
           QSUB_NOT_RERUNNABLE * qsub_has(q, ATTR_r, "FALSE") |
           QSUB_MAIL_SUBJOBS * (mail && strchr(mail, 'j')) | QSUB_X11 * q->x11 | QSUB_GUI * q->gui |
           QSUB_WHEN * q->when | QSUB_SHAPES * (q->n_shapes > 0) | QSUB_JSON * q->json |
           QSUB_HAS_DISPLAY * !!getenv("DISPLAY") | QSUB_GIVES_DISPLAY * names_display(q->variables) |
           QSUB_TERMINAL * (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
}

/* Print a message for options that cannot go together; nonzero if there was one. */
static int check_together(struct qsub *q)
{
    const char *wrong = cmd_rule_broken(qsub_rules, sizeof qsub_rules / sizeof qsub_rules[0], qsub_given(q));

    if (wrong)
        return -cmd_error(&q->o.a, "%s", wrong);
    if (is_interactive(q) && qsub_has(q, ATTR_r, "TRUE"))
        fputs("qsub (Warning): Interactive jobs will be treated as not rerunnable\n", stderr);
    if (is_interactive(q) && is_blocking(q))
        fputs(
            "qsub (Warning) : setting \"block\" attribute as \"true\" for an interactive job will not return "
            "job's exit status\n",
            stderr);
    return 0;
}

static int add_environment(struct qsub *q)
{
    const struct conf *conf = conf_shared(false, NULL); /* an error in the file is reported by pbs_connect */
    char cwd[PATH_MAX];
    struct qsub_env env = {.environment = environ,
                           .workdir = cwd,
                           .wanted = q->variables,
                           .all = q->all_variables,
                           .host = conf ? conf_text(conf, CONF_PBS_PUBLIC_HOST_NAME) : NULL};
    const char *term = getenv("TERM");
    struct strbuf b;
    struct err e;
    int rc = job_options_cwd(&q->o.a, cwd, sizeof cwd);

    strbuf_init(&b, QSUB_ENV_MAX);
    if (rc == 0 && (rc = qsub_env_format(&env, &b, &e)) < 0)
        cmd_error(&q->o.a, "cannot send environment with the job: %s", e.text);
    if (rc == 0 && is_interactive(q) && term && !strpbrk(term, ",\\"))
        strbuf_addf(&b, "%sTERM=%s", b.len ? "," : "", term);
    if (rc == 0)
        attrs_add(&q->sent, ATTR_v, NULL, strbuf_str(&b), SET);
    strbuf_fini(&b);
    return rc ? 1 : 0;
}

/* Add the command line as it was typed, without the program. */
static void add_arguments(struct qsub *q)
{
    struct strbuf b;
    char **word;

    strbuf_init(&b, SUBMIT_ARGUMENTS_MAX);
    for (word = q->o.a.argv + 1; *word; word++)
        jsdl_add(&b, "Argument", *word);
    if (b.len && strbuf_ok(&b))
        attrs_add(&q->sent, ATTR_submit_arguments, NULL, strbuf_str(&b), SET);
    strbuf_fini(&b);
}

static int add_terminal(struct qsub *q)
{
    char port[16];

    if (!is_interactive(q))
        return 0;
    if (q->terminal.listening <= 0 && qsub_interactive_listen(&q->terminal, q->x11, &q->o.a) < 0)
        return 1;
    snprintf(port, sizeof port, "%u", q->terminal.port);
    attrs_add(&q->sent, ATTR_inter, NULL, port, SET);
    if (q->x11)
        attrs_add(&q->sent, ATTR_X11_port, NULL, port, SET); /* X11 connections come to the same port */
    attrs_add(&q->sent, "interactive_key", NULL, q->terminal.key, SET);
    return 0;
}

/* Add the options, then what is always sent. */
static int qsub_build_job(struct qsub *q)
{
    const struct attropl *a;

    attrs_fini(&q->sent);
    for (a = q->o.attrs.first; a; a = a->next)
        if (strcmp(a->name, ATTR_inter) != 0)
            attrs_add(&q->sent, a->name, a->resource, a->value, a->op);
    if (check_together(q) || add_environment(q) || add_terminal(q))
        return 1;
    add_defaults(&q->sent);
    add_arguments(q);
    return q->sent.failed ? -cmd_error(&q->o.a, "no memory") : 0;
}

/* Merge the server's default_qsub_arguments, which are read as directives and weaker than those. */
static int take_server_arguments(struct qsub *q, const char *text)
{
    struct qsub said = {.o = {.a = q->o.a}};
    struct err e;
    int rc = options_parse_text(&command.options, text, &said, &e);

    if (rc < 0 || said.o.a.errors)
        cmd_error(&q->o.a, "the server's default_qsub_arguments cannot be read: %s", rc < 0 ? e.text : text);
    else
        merge(q, &said);
    rc = rc < 0 || said.o.a.errors ? 1 : qsub_build_job(q);
    job_options_fini(&said.o);
    free(said.destination_copy);
    free(said.variables_copy);
    return rc;
}

/* --- submission --------------------------------------------------------------------------------------------- */

/* Take "queue@server" apart: a queue of the server behind the @. */
static int split_destination(struct qsub *q)
{
    struct err e;

    memset(&q->target, 0, sizeof q->target);
    if (!q->destination || jobid_parse_destination(q->destination, &q->target, &e) == 0)
        return 0;
    cmd_error(&q->o.a, "illegally formed destination: %s", q->destination);
    return 2;
}

static int qsub_connect(struct qsub *q)
{
    int rc;

    q->pool = conn_pool_create(&q->o.a);
    rc = q->pool ? split_destination(q) : 1;
    if (rc)
        return rc;
    q->c = conn_pool_connect(q->pool, q->target.server);
    return q->c < 0 ? pbs_errno : 0;
}

static int qsub_report(struct qsub *q)
{
    const char *text = pbs_geterrmsg(q->c);
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;

    if (text && *text)
        cmd_error(&q->o.a, "%s", text);
    else
        cmd_error(&q->o.a, "Error (%d) submitting job", code);
    api_error_report_attribs(&q->o.a, q->c, "");
    return code;
}

static char *qsub_call_submit(struct qsub *q, const char *extend)
{
    return pbs_submit(q->c, q->sent.first, q->source.path, *q->target.queue ? q->target.queue : NULL, extend);
}

/* With "qsub" as extension a server that has default_qsub_arguments does not take the job, but answers with them. */
static int qsub_submit(struct qsub *q)
{
    char *text;
    int rc;

    q->id = qsub_call_submit(q, "qsub");
    if (!q->id && pbs_errno == PBSE_FORCE_QSUB_UPDATE) {
        text = strdup(pbs_geterrmsg(q->c) ? pbs_geterrmsg(q->c) : "");
        rc = text ? take_server_arguments(q, text) : 1;
        free(text);
        if (rc == 0)
            rc = split_destination(q);
        if (rc)
            return rc;
        q->id = qsub_call_submit(q, NULL);
    }
    return q->id ? 0 : qsub_report(q);
}

/* --- not submitted ------------------------------------------------------------------------------------------ */

static int foresee_shape(struct qsub *q, struct qsub_when *w, const char *resources)
{
    static const struct option_row row = JOB_OPTION('l', "resource_list", "resources of --or");
    struct job_options said = {.a = q->o.a};
    struct err e;
    int rc = job_options_take(&said, &row, resources, &e);

    if (rc < 0 || said.a.errors)
        rc = 2;
    else
        rc = qsub_when_show(w, &q->sent, &said.attrs, NULL);
    job_options_fini(&said);
    return rc;
}

/* As qsub_submit and qsub_finish, for questions. The exit code is that of the last shape that was refused. */
static int qsub_foresee(struct qsub *q)
{
    struct qsub_when w = {.a = &q->o.a, .c = q->c, .json = q->json};
    int rc;

    w.destination = *q->target.queue ? q->target.queue : NULL;
    rc = qsub_when_show(&w, &q->sent, NULL, "qsub");
    if (rc == PBSE_FORCE_QSUB_UPDATE) {
        char *text = strdup(pbs_geterrmsg(q->c) ? pbs_geterrmsg(q->c) : "");
        rc = text ? take_server_arguments(q, text) : 1;
        free(text);
        if (rc == 0 && (rc = split_destination(q)) == 0) {
            w.destination = *q->target.queue ? q->target.queue : NULL;
            rc = qsub_when_show(&w, &q->sent, NULL, NULL);
        }
    }
    for (size_t i = 0; rc == 0 && i < q->n_shapes; i++)
        rc = foresee_shape(q, &w, q->shapes[i]);
    return rc ? rc : w.code;
}

static int qsub_finish(struct qsub *q)
{
    int code;

    if (is_interactive(q))
        return qsub_interactive_run(&q->terminal, &q->o.a, q->c, q->id);
    if (!q->silent)
        puts(q->id);
    if (!is_blocking(q))
        return 0;
    fflush(stdout); /* the identifier is read while qsub waits */
    return wait_job(&q->o.a, q->c, q->id, &code);
}

static void qsub_fini(void *settings)
{
    struct qsub *q = settings;

    job_options_fini(&q->o);
    attrs_fini(&q->sent);
    free(q->destination_copy);
    free(q->variables_copy);
}

const struct cmd command = {
    .options = {.program = "qsub",
                .operands = "[script | - | -- program [arguments]]",
                .dashes_first = true,
                CMD_ROWS(rows)},
    .usage =
        "usage: qsub [-a date_time] [-A account_string] [-c interval]\n"
        "\t[-C directive_prefix] [-e path] [-f ] [-G] [-h ] [-I [-X]] [-j oe|eo] [-J X-Y[:Z][%N]]\n"
        "\t[-k keep] [-l resource_list] [-m mail_options] [-M user_list]\n"
        "\t[-N jobname] [-o path] [-p priority] [-P project] [-q queue] [-r y|n]\n"
        "\t[-R o|e|oe] [-S path] [-u user_list] [-W otherattributes=value...]\n"
        "\t[-v variable_list] [-V ] [-z] [script | - | -- command [arg1 ...]]\n"
        "       qsub --when [--or resource_list]... [-F json] [options] [script | -- command [arg1 ...]]\n",
    .usage_exit = 2,
    .size = sizeof(struct qsub),
    .run = qsub_run,
    .fini = qsub_fini,
};
