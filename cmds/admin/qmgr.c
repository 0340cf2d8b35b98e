/* qmgr: manage servers, queues, nodes, schedulers, resources and hooks.
 *
 * qmgr_run has the steps in order. Lines come from -c, from standard input or from a terminal; each is parsed whole
 * (qmgr_line), then applied to every object that it names (qmgr_apply). */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "qmgr_active.h"
#include "qmgr_apply.h"
#include "qmgr_config.h"
#include "qmgr_edit.h"
#include "qmgr_help.h"
#include "qmgr_json.h"
#include "strbuf.h"
#include "words.h"

enum { LINE_MAX_BYTES = 16 << 20, EXIT_NO_CONNECTION = 3, EXIT_ACTIVE = 4, EXIT_NO_MEMORY = 5 };

struct qmgr {
    struct cmd_args a;
    bool abort, echo, no_execution, silent, json;
    struct words lines; /* of -c, in their order */
};

static int qmgr_take_line(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qmgr *q = settings;

    return words_add(&q->lines, value, e);
}

static const struct option_row rows[] = {
    CMD_FLAG('a', struct qmgr, abort, "end at the first error"),
    {'c', NULL, OPTION_VALUE, "command", "this command; several are done in their order", qmgr_take_line, 0},
    CMD_FLAG('e', struct qmgr, echo, "show each line before it is done"),
    CMD_FORMAT(struct qmgr, json),
    CMD_FLAG('n', struct qmgr, no_execution, "only look whether lines are well formed"),
    CMD_FLAG('z', struct qmgr, silent, "no messages of errors"),
};

/* What lasts from line to line. */
struct state {
    const struct qmgr *q;
    struct qmgr_apply apply;
    struct qmgr_active active;
    struct qmgr_edit *edit; /* NULL: not at a terminal */
    bool quit;
};

/* --- the steps ---------------------------------------------------------------------------------------------- */

static int qmgr_connect_all(struct state *s);
static int qmgr_do_options(struct state *s);
static int qmgr_do_terminal(struct state *s);
static int qmgr_do_lines(struct state *s);
static int qmgr_do_line(struct state *s, const char *line);

static int qmgr_run(void *settings, int n, char *operands[])
{
    struct qmgr *q = settings;
    struct qmgr_json json = {.wanted = q->json};
    struct state s = {.q = q, .apply = {.a = &q->a, .silent = q->silent, .json = &json}};
    int rc = EXIT_NO_MEMORY;

    s.apply.pool = conn_pool_create(&q->a);
    if (s.apply.pool && q->silent)
        conn_pool_silence(s.apply.pool);
    if (s.apply.pool &&
        qmgr_active_init(&s.active, operands, n) == 0) /* the servers named, or the default one */
        rc = qmgr_connect_all(&s);                     /* nothing is done if one does not answer */
    if (rc == 0 && q->lines.n)
        rc = qmgr_do_options(&s); /* the lines of -c */
    else if (rc == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        rc = qmgr_do_terminal(&s); /* qmgr_do_lines with prompt, history and completion */
    else if (rc == 0)
        rc = qmgr_do_lines(
            &s); /* standard input: each line goes to qmgr_do_line, which parses and applies it */
    qmgr_active_fini(&s.active);
    conn_pool_destroy(s.apply.pool);
    return rc;
}

static int qmgr_connect_all(struct state *s)
{
    size_t i;

    if (s->q->no_execution)
        return 0;
    for (i = 0; i < s->active.n[MGR_OBJ_SERVER]; i++)
        if (conn_pool_connect(s->apply.pool, s->active.names[MGR_OBJ_SERVER][i].server) < 0)
            return EXIT_NO_CONNECTION;
    return 0;
}

/* --- one line ----------------------------------------------------------------------------------------------- */

static void qmgr_print_error(const struct state *s, const char *line, const struct qmgr_line_error *f)
{
    if (s->q->silent)
        return;
    if (f->kind == QMGR_BAD_COMMAND)
        fprintf(stderr, "qmgr: Illegal operation: %s\nTry 'help' if you are having trouble.\n", f->word);
    else if (f->kind == QMGR_BAD_OBJECT && !*f->word)
        fprintf(stderr, "qmgr: No object type given\n");
    else if (f->kind == QMGR_BAD_OBJECT)
        fprintf(stderr, "qmgr: Illegal object type: %s.\n", f->word);
    else
        fprintf(stderr, "qmgr: Syntax error\n%s\n%*s^\n", line, (int)f->at, "");
}

static int on_each_name(struct state *s, const struct qmgr_line *l, size_t n, const struct qmgr_name *names)
{
    int rc = 0, code;
    size_t i, k;

    for (i = 0; i < n; i++) {
        const char *server = names[i].server, *name = names[i].name;

        if (l->object == MGR_OBJ_SERVER) {
            code = qmgr_apply(&s->apply, l, "", *name ? name : server);
            rc = code ? code : rc;
            continue;
        }
        for (k = 0; k < (*server ? 1 : s->active.n[MGR_OBJ_SERVER]); k++) {
            const struct qmgr_name *active = &s->active.names[MGR_OBJ_SERVER][k];

            code = qmgr_apply(&s->apply, l, name, *server ? server : active->server);
            rc = code ? code : rc;
        }
    }
    return rc;
}

/* Queues and nodes must be named or active; without names a line is about all objects of the other kinds. */
static int on_active(struct state *s, const struct qmgr_line *l)
{
    static const struct qmgr_name all = {(char *)"", (char *)""};
    const int object = l->object;

    if (s->active.n[object])
        return on_each_name(s, l, s->active.n[object], s->active.names[object]);
    if (object == MGR_OBJ_QUEUE || object == MGR_OBJ_NODE) {
        printf("No Active %s, nothing done.\n", object == MGR_OBJ_QUEUE ? "Queues" : "Nodes");
        return 0;
    }
    return on_each_name(s, l, 1, &all);
}

/* A queue or node that exists, a server that can be reached; otherwise its message has been printed. */
static bool is_there(struct state *s, int object, const struct qmgr_name *n)
{
    const char *server = *n->server ? n->server : s->active.names[MGR_OBJ_SERVER][0].server;

    if (object == MGR_OBJ_SERVER)
        return conn_pool_connect(s->apply.pool, *n->name ? n->name : n->server) >= 0;
    return (object != MGR_OBJ_QUEUE && object != MGR_OBJ_NODE) || !*n->name ||
           qmgr_apply_exists(&s->apply, object, n->name, server) == 0;
}

/* Report those that are not there; then nothing becomes active. */
static bool are_there(struct state *s, const struct qmgr_line *l)
{
    bool all = true;

    for (size_t i = 0; i < l->n; i++)
        if (!is_there(s, l->object, &l->names[i]))
            all = false;
    return all;
}

static int qmgr_do_active(struct state *s, const struct qmgr_line *l)
{
    if (l->object != MGR_OBJ_NONE && l->n && !are_there(s, l))
        return EXIT_ACTIVE;
    if (l->object != MGR_OBJ_NONE && l->n)
        return qmgr_active_set(&s->active, l) < 0 ? EXIT_NO_MEMORY : 0;
    qmgr_active_show(stdout, &s->active, l->object);
    return 0;
}

static int qmgr_do_history(struct state *s, const char *rest)
{
    if (s->edit)
        qmgr_edit_history(s->edit, stdout, atoi(rest));
    return 0;
}

/* Open the file whose name is at `rest`, "-" for standard input. Return -1 after a message. */
static int open_text(const char *rest, char name[static PATH_MAX], FILE **f)
{
    size_t n = strcspn(rest, "\r\n");

    while (n && (rest[n - 1] == ' ' || rest[n - 1] == '\t'))
        n--;
    snprintf(name, PATH_MAX, "%.*s", (int)n, rest);
    *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
    if (*f)
        return 0;
    fprintf(stderr, "qmgr: %s\n",
            *name ? strerror(errno) : "name a file with lines of qmgr, as print writes them");
    return -1;
}

/* diff FILE, apply FILE: show what the server would have to change, or change it. diff returns 1 where there is a
 * difference. */
static int qmgr_do_config(struct state *s, const struct qmgr_line *l)
{
    const struct qmgr_name *server = s->active.names[MGR_OBJ_SERVER];
    char name[PATH_MAX];
    FILE *f;
    int c, rc;

    if (open_text(l->rest, name, &f) < 0)
        return QMGR_BAD_NAME;
    c = conn_pool_connect(s->apply.pool, server ? server->server : "");
    rc = c < 0 ? pbs_errno : qmgr_config_deploy(c, f, name, l->command == QMGR_APPLY && !s->q->no_execution);
    if (f != stdin)
        fclose(f);
    return rc;
}

static int qmgr_do_parsed(struct state *s, const struct qmgr_line *l)
{
    switch (l->command) {
    case QMGR_NOTHING:
        return 0;
    case QMGR_HELP:
        qmgr_help(stdout, l->rest);
        return 0;
    case QMGR_QUIT:
        s->quit = true;
        return 0;
    case QMGR_HISTORY:
        return qmgr_do_history(s, l->rest);
    case QMGR_DIFF:
    case QMGR_APPLY:
        return qmgr_do_config(s, l);
    }
    if (s->q->no_execution)
        return 0;
    if (l->command == MGR_CMD_ACTIVE)
        return qmgr_do_active(s, l);
    return l->n ? on_each_name(s, l, l->n, l->names) : on_active(s, l);
}

/* Return 0, a parse code 1 to 4, or the number of an error. */
static int qmgr_do_line(struct state *s, const char *line)
{
    struct qmgr_line_error error;
    struct qmgr_line l;
    int rc;

    if (s->q->echo)
        printf("%s\n", line);
    if (qmgr_line_parse(line, &l, &error) < 0) {
        rc = (int)error.kind;
        qmgr_print_error(s, line, &error);
    } else {
        rc = qmgr_do_parsed(s, &l);
        qmgr_json_end(s->apply.json);
    }
    qmgr_line_fini(&l);
    fflush(stdout);
    return rc;
}

/* --- many lines --------------------------------------------------------------------------------------------- */

/* Return the next line of either source, without its newline; NULL: the end. Borrowed. */
static const char *next_line(struct state *s, char **buffer, size_t *cap, const char *prompt)
{
    ssize_t n;

    if (s->edit)
        return qmgr_edit_line(s->edit, prompt);
    n = getline(buffer, cap, stdin);
    if (n < 0)
        return NULL;
    (*buffer)[strcspn(*buffer, "\r\n")] = '\0';
    return *buffer;
}

/* Read a line with its continuations; false: the end. */
static bool next_whole(struct state *s, char **buffer, size_t *cap, struct strbuf *whole)
{
    const char *line = next_line(s, buffer, cap, "Qmgr: ");

    strbuf_reset(whole);
    while (line) {
        strbuf_add(whole, line);
        if (!whole->len || whole->s[whole->len - 1] != '\\')
            return true;
        strbuf_cut(whole, whole->len - 1);
        line = next_line(s, buffer, cap, "Qmgr< ");
    }
    return whole->len > 0;
}

static int qmgr_do_lines(struct state *s)
{
    struct strbuf whole;
    char *buffer = NULL;
    size_t cap = 0;
    int rc = 0;

    strbuf_init(&whole, LINE_MAX_BYTES);
    while (!s->quit && next_whole(s, &buffer, &cap, &whole)) {
        int code = strbuf_ok(&whole) ? qmgr_do_line(s, strbuf_str(&whole)) : EXIT_NO_MEMORY;

        rc = code ? code : rc;
        if (code && s->q->abort) {
            rc = code < 256 ? 1 : 2;
            break;
        }
        if (code == PBSE_PROTOCOL && !s->edit)
            break; /* what comes next may rest on a line that was lost */
        if (code && s->edit)
            conn_pool_forget(s->apply.pool); /* who types tries again: a server that has gone may be back */
    }
    free(buffer);
    strbuf_fini(&whole);
    return rc;
}

static int qmgr_do_options(struct state *s)
{
    int rc = 0;

    for (size_t i = 0; i < s->q->lines.n && !s->quit; i++) {
        int code = qmgr_do_line(s, s->q->lines.w[i]);

        rc = code ? code : rc;
        if (code == PBSE_PROTOCOL || (code && s->q->abort))
            break;
    }
    return rc;
}

/* Names for completion; without a server there are none. */
static void qmgr_names_of(void *arg, int object, void (*found)(void *to, const char *name), void *to)
{
    struct state *s = arg;

    qmgr_apply_names(&s->apply, object, s->active.names[MGR_OBJ_SERVER][0].server, found, to);
}

static int qmgr_do_terminal(struct state *s)
{
    int rc;

    printf("Max open servers: %d\n", CONN_POOL_MAX);
    fflush(stdout);
    s->edit = qmgr_edit_create(qmgr_names_of, s);
    rc = qmgr_do_lines(s);
    qmgr_edit_destroy(s->edit);
    return rc;
}

static void qmgr_fini(void *settings)
{
    words_fini(&((struct qmgr *)settings)->lines);
}

const struct cmd command = {
    .options = {.program = "qmgr", .operands = "[server...]", CMD_ROWS(rows)},
    .usage = "Usage: qmgr [-a] [-c command] [-e] [-F json] [-n] [-z] [server...]\n",
    .usage_exit = 1,
    .size = sizeof(struct qmgr),
    .run = qmgr_run,
    .fini = qmgr_fini,
};
