/* qsub: hand a job to the server.
 *
 * The command line is read into `job`, the script's directives into `said`, and what the command line did
 * not say is taken from there; defaults fill the rest. Then there is one call. Where nothing is read from
 * a file or a terminal nothing is opened but the connection. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "job_options.h"
#include "jobid.h"
#include "jsdl.h"
#include "pbs_error.h"
#include "qsub_env.h"
#include "qsub_interactive.h"
#include "job_script.h"
#include "api_error.h"
#include "conn_pool.h"
#include "strbuf.h"
#include "wait_job.h"

enum { EXIT_SCRIPT = 8, SUBMIT_ARGUMENTS_MAX = 1 << 20 };

struct qsub {
    struct job_options o;
    const char *destination, *prefix, *variables;
    char *destination_said, *variables_said; /* from directives: ours to free */
    struct qsub_interactive terminal;
    bool all_variables, hold, interactive, silent, x11, gui, foreground;
    struct attrs sent; /* what the call takes: what was said, environment and defaults */
};

static int qsub_take_hold(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qsub *q = settings;

    (void)row;
    (void)value;
    (void)e;
    attrs_set(&q->o.attrs, ATTR_h, NULL, USER_HOLD);
    return 0;
}

static int qsub_take_interactive(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct qsub *q = settings;

    (void)row;
    (void)value;
    (void)e;
    attrs_set(&q->o.attrs, ATTR_inter, NULL, "1");
    return 0;
}

/* Directives hand over text of their own, so these two are copied. */
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

    (void)row;
    return take_copy(&q->destination_said, &q->destination, value) ? err_no_memory(e) : 0;
}

static int qsub_take_variables(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qsub *q = settings;

    (void)row;
    return take_copy(&q->variables_said, &q->variables, value) ? err_no_memory(e) : 0;
}

static const struct option_row rows[] = {
    JOB_OPTION('a', "date_time", "not before this time: [[[[CC]YY]MM]DD]hhmm[.SS]"),
    JOB_OPTION('A', "account_string", "account"),
    JOB_OPTION('c', "interval", "when to checkpoint: n, s, c, c=minutes, w, w=minutes"),
    CMD_TEXT('C', struct qsub, prefix, "directive_prefix",
             "what directives begin with; empty: there are none"),
    JOB_OPTION('e', "path", "where standard error goes: [host:]path"),
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
};

/* --- directives
 * ------------------------------------------------------------------------------------------- */

static int qsub_take_directive(void *context, const char *text)
{
    struct qsub *said = context;
    struct err e;

    if (options_parse_text(&command.options, text, said, &e) < 0)
        cmd_say(&said->o.a, "%s", e.text);
    else if (!said->o.a.errors)
        return 0;
    cmd_say(&said->o.a, "directive error: %s", text + strspn(text, " \t"));
    return 1;
}

/* What the directives said, where the command line had said nothing. */
static void merge(struct qsub *q, struct qsub *said)
{
    const struct attropl *a;

    for (a = said->o.attrs.first; a; a = a->next)
        if (!attrs_find(&q->o.attrs, a->name, a->resource))
            attrs_set(&q->o.attrs, a->name, a->resource, a->value);
    if (!q->destination && said->destination) {
        q->destination = q->destination_said = said->destination_said;
        said->destination_said = NULL;
    }
    if (!q->variables && said->variables) {
        q->variables = q->variables_said = said->variables_said;
        said->variables_said = NULL;
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
        cmd_say(&q->o.a, "%s", e.text);
    if (rc < 0 && e.code == EILSEQ)
        cmd_hint("its lines end as on Windows; dos2unix mends them");
    else if (!rc)
        merge(q, &said);
    job_options_fini(&said.o);
    free(said.destination_said);
    free(said.variables_said);
    return rc ? 1 : 0;
}

/* --- the script
 * ------------------------------------------------------------------------------------------- */

/* Where the script lies for pbs_submit, its directives read. */
struct qsub_source {
    char kept[JOB_SCRIPT_PATH_MAX];
    const char *path; /* NULL: an executable, or an interactive job */
    int fd;           /* of `kept`; -1: none */
};

static int open_script(struct qsub *q, const char *path, FILE **out)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        cmd_say(&q->o.a, "script file:: %m");
        cmd_hint("%s is taken for the script; a command follows --: qsub [options] -- command arguments",
                 path);
        return 1;
    }
    if (!S_ISREG(st.st_mode)) {
        cmd_say(&q->o.a, "script not a file");
        cmd_hint("%s", path);
        return 1;
    }
    *out = fopen(path, "re");
    if (!*out) {
        cmd_say(&q->o.a, "opening script file:: %m");
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
    s->fd = job_script_keep(STDIN_FILENO, s->kept, &e);
    in = s->fd < 0 ? NULL : fopen(s->kept, "re");
    if (!in) {
        cmd_say(&q->o.a, "%s", s->fd < 0 ? e.text : "the script cannot be read again");
        return 1;
    }
    s->path = s->kept;
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
    return i ? 0 : -cmd_say(&q->o.a, "the arguments are too long");
}

static bool is_interactive(const struct qsub *q);

static int read_source(struct qsub *q, int n, char *operands[], struct qsub_source *s)
{
    /* Operands stand at the end of argv, so there is a word before them. */
    /* cppcheck-suppress negativeIndex */
    if (!strcmp(operands[-1], "--"))
        return n ? from_words(q, n, operands) : cmd_usage(&q->o.a);
    if (n > 1)
        return cmd_usage(&q->o.a);
    if (n && strcmp(operands[0], "-"))
        return from_file(q, operands[0], s);
    if (is_interactive(q))
        return 0;
    return from_stdin(q, s);
}

/* --- what the job is sent with
 * ---------------------------------------------------------------------------- */

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

/* What cannot go together. Each is said; nonzero if there was one. */
static int check_together(struct qsub *q)
{
    const struct attrs *l = &q->o.attrs;
    const bool interactive = is_interactive(q), array = attrs_find(l, ATTR_J, NULL);
    const char *rerun = attrs_find(l, ATTR_r, NULL), *mail = attrs_find(l, ATTR_m, NULL), *wrong = NULL;

    if (interactive && array)
        wrong = "interactive and array job submission cannot be used together";
    else if (array && rerun && !strcmp(rerun, "FALSE"))
        wrong = " cannot submit non-rerunable Array Job";
    else if (!array && mail && strchr(mail, 'j'))
        wrong = "mail option 'j' can not be used without array job";
    else if (q->x11 && !interactive)
        wrong = "X11 Forwarding possible only for interactive jobs";
    else if (q->gui && !interactive)
        wrong = "only interactive jobs can have GUI";
    else if (q->x11 && !getenv("DISPLAY"))
        wrong = "DISPLAY not set";
    else if (q->x11 && names_display(q->variables))
        wrong = "-X makes a DISPLAY of the job's own, which cannot be given by -v";
    else if (q->gui)
        wrong = "-G is not supported: it is for hosts that run Windows (-X forwards X11)";
    else if (interactive && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        wrong = "\tstandard input and output must be a terminal for an interactive job";
    if (wrong)
        cmd_say(&q->o.a, "%s", wrong);
    else if (interactive && rerun && !strcmp(rerun, "TRUE"))
        fputs("qsub (Warning): Interactive jobs will be treated as not rerunnable\n", stderr);
    if (!wrong && interactive && is_blocking(q))
        fputs(
            "qsub (Warning) : setting \"block\" attribute as \"true\" for an interactive job will not return "
            "job's exit status\n",
            stderr);
    return wrong != NULL;
}

/* Containers and services often have no LOGNAME. */
static const char *user_name(void)
{
    const struct passwd *pw = getpwuid(getuid());

    return pw ? pw->pw_name : NULL;
}

static int add_environment(struct qsub *q)
{
    struct conf *conf = conf_load(NULL); /* a bad file is said when we connect */
    char cwd[PATH_MAX];
    struct qsub_env env = {.environment = environ,
                           .workdir = cwd,
                           .wanted = q->variables,
                           .all = q->all_variables,
                           .user = getenv("LOGNAME") ? NULL : user_name(),
                           .host = conf ? conf_text(conf, CONF_PBS_PUBLIC_HOST_NAME) : NULL};
    const char *term = getenv("TERM");
    struct strbuf b;
    struct err e;
    int rc = job_options_cwd(&q->o.a, cwd, sizeof cwd);

    strbuf_init(&b, QSUB_ENV_MAX);
    if (rc == 0 && (rc = qsub_env_format(&env, &b, &e)) < 0)
        cmd_say(&q->o.a, "cannot send environment with the job: %s", e.text);
    if (rc == 0 && is_interactive(q) && term && !strpbrk(term, ",\\"))
        strbuf_addf(&b, "%sTERM=%s", b.len ? "," : "", term);
    if (rc == 0)
        attrs_add(&q->sent, ATTR_v, NULL, strbuf_str(&b), SET);
    strbuf_fini(&b);
    conf_destroy(conf);
    return rc ? 1 : 0;
}

/* The command line as it was typed, but for the program. */
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

/* --- submission
 * ------------------------------------------------------------------------------------------- */

static int qsub_report(struct qsub *q, int c)
{
    const char *text = pbs_geterrmsg(c);
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;

    if (text && *text)
        cmd_say(&q->o.a, "%s", text);
    else
        cmd_say(&q->o.a, "Error (%d) submitting job", code);
    api_error_report_attribs(&q->o.a, c, "");
    return code;
}

/* "queue@server" is a queue for the server behind the @. */
static int split_destination(struct qsub *q, struct destination *d)
{
    struct err e;

    memset(d, 0, sizeof *d);
    if (!q->destination || jobid_parse_destination(q->destination, d, &e) == 0)
        return 0;
    cmd_say(&q->o.a, "illegally formed destination: %s", q->destination);
    return 2;
}

/* -W block=true: our end is the job's. Its identifier stands there while we wait. */
static int wait_for_end(struct qsub *q, int c, const char *id)
{
    int code;

    fflush(stdout);
    return wait_job(&q->o.a, c, id, &code);
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
        attrs_add(&q->sent, ATTR_X11_port, NULL, port, SET); /* the windows come the same way */
    attrs_add(&q->sent, "interactive_key", NULL, q->terminal.key, SET);
    return 0;
}

/* Everything that was said, then what always goes along. */
static int qsub_complete(struct qsub *q)
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
    return q->sent.failed ? -cmd_say(&q->o.a, "no memory") : 0;
}

/* default_qsub_arguments of the server: as directives, and weaker than these. */
static int take_server_arguments(struct qsub *q, const char *text)
{
    struct qsub said = {.o = {.a = q->o.a}};
    struct err e;
    int rc = options_parse_text(&command.options, text, &said, &e);

    if (rc < 0 || said.o.a.errors)
        cmd_say(&q->o.a, "the server's default_qsub_arguments cannot be read: %s", rc < 0 ? e.text : text);
    else
        merge(q, &said);
    rc = rc < 0 || said.o.a.errors ? 1 : qsub_complete(q);
    job_options_fini(&said.o);
    free(said.destination_said);
    free(said.variables_said);
    return rc;
}

/* The server asks for its own arguments to be taken in, where it has some, instead of taking the job. */
static char *call(struct qsub *q, int c, const struct qsub_source *source, struct destination *d, int *rc)
{
    char *id = pbs_submit(c, q->sent.first, source->path, *d->queue ? d->queue : NULL, "qsub"), *text;

    if (id || pbs_errno != PBSE_FORCE_QSUB_UPDATE)
        return id;
    text = strdup(pbs_geterrmsg(c) ? pbs_geterrmsg(c) : "");
    *rc = text ? take_server_arguments(q, text) : 1;
    free(text);
    if (*rc == 0)
        *rc = split_destination(q, d);
    return *rc ? NULL : pbs_submit(c, q->sent.first, source->path, *d->queue ? d->queue : NULL, NULL);
}

/* What stands in the place of an identifier on standard output, and of a script. */
static int be_its_terminal(struct qsub *q, int c, const char *id)
{
    return qsub_interactive_run(&q->terminal, &q->o.a, c, id);
}

static int submit(struct qsub *q, const struct qsub_source *source)
{
    struct conn_pool *s = conn_pool_create(&q->o.a);
    struct destination d;
    int rc = s ? split_destination(q, &d) : 1, c;
    char *id;

    if (rc)
        goto out;
    c = conn_pool_connect(s, d.server);
    if (c < 0) {
        rc = pbs_errno;
        goto out;
    }
    id = call(q, c, source, &d, &rc);
    if (!id && !rc)
        rc = qsub_report(q, c);
    else if (id && is_interactive(q))
        rc = be_its_terminal(q, c, id);
    else if (id && !q->silent)
        puts(id);
    if (id && is_blocking(q) && !is_interactive(q))
        rc = wait_for_end(q, c, id);
    free(id);
out:
    conn_pool_destroy(s);
    return rc;
}

static int qsub_run(void *settings, int n, char *operands[])
{
    struct qsub *q = settings;
    struct qsub_source source = {.fd = -1};
    int rc;

    rc = read_source(q, n, operands, &source);
    if (rc == 0)
        rc = qsub_complete(q);
    if (rc == 0)
        rc = submit(q, &source);
    if (source.fd >= 0)
        close(source.fd);
    return rc;
}

static void qsub_fini(void *settings)
{
    struct qsub *q = settings;

    job_options_fini(&q->o);
    attrs_fini(&q->sent);
    free(q->destination_said);
    free(q->variables_said);
}

const struct cmd command = {
    .options = {.program = "qsub",
                .operands = "[script | - | -- program [arguments]]",
                .dashes_first = true,
                CMD_ROWS(rows)},
    .usage = "usage: qsub [-a date_time] [-A account_string] [-c interval]\n"
             "\t[-C directive_prefix] [-e path] [-f ] [-G] [-h ] [-I [-X]] [-j oe|eo] [-J X-Y[:Z][%N]]\n"
             "\t[-k keep] [-l resource_list] [-m mail_options] [-M user_list]\n"
             "\t[-N jobname] [-o path] [-p priority] [-P project] [-q queue] [-r y|n]\n"
             "\t[-R o|e|oe] [-S path] [-u user_list] [-W otherattributes=value...]\n"
             "\t[-v variable_list] [-V ] [-z] [script | - | -- command [arg1 ...]]\n",
    .usage_exit = 2,
    .size = sizeof(struct qsub),
    .run = qsub_run,
    .fini = qsub_fini,
};
