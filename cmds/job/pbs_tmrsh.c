/* pbs_tmrsh: like rsh, to a host of the job that it is called in, by task management: what runs there is part of the
 * job. MPI programs use it as their remote shell.
 *
 * The words of the command are joined and given to the user's shell there, as rsh does. What the command writes comes
 * here; its standard input is empty. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "tm_nodefile.h"
#include "pbs_ext.h"
#include "strbuf.h"
#include "tm_wait.h"

enum { EXIT_ERROR = 255, COMMAND_MAX = 1 << 20, SIGNALLED = 256, SHELL_SIGNALLED = 128 };

struct tmrsh {
    struct cmd_args a;
    bool no_input;
    const char *user;
};

static const struct option_row rows[] = {
    CMD_FLAG('n', struct tmrsh, no_input, "no standard input (never is any)"),
    CMD_TEXT('l', struct tmrsh, user, "username", "the job's user; no other is accepted"),
};

static int pbs_tmrsh_refuse(const struct tmrsh *t, int code)
{
    const char *why = pbs_tm_reason();

    (void)cmd_error(&t->a, "error %d: %s", code, *why ? why : tm_wait_error_text(code));
    return EXIT_ERROR;
}

/* Options may follow the host too. Return the command's first word. */
static char **skip_options(struct tmrsh *t, char **words)
{
    while (*words) {
        if (strcmp(*words, "-n") == 0) {
            words++;
        } else if (strcmp(*words, "-l") == 0 && words[1]) {
            t->user = words[1];
            words += 2;
        } else {
            break;
        }
    }
    return words;
}

static bool is_me(const char *user)
{
    const struct passwd *p = getpwuid(getuid());

    return p && strcmp(p->pw_name, user) == 0;
}

static char *pbs_tmrsh_join(char *const words[])
{
    struct strbuf b;

    strbuf_init(&b, COMMAND_MAX);
    for (; *words; words++) {
        (void)strbuf_add_sep(&b, " ");
        (void)strbuf_add(&b, *words);
    }
    return strbuf_take(&b);
}

/* Return the exit status, or -1 after a message. */
static int run_on(const struct tmrsh *t, tm_node_id node, char *line)
{
    char *shell = getenv("SHELL"), sh[] = "/bin/sh", flag[] = "-c";
    char *argv[] = {shell && *shell == '/' ? shell : sh, flag, line, NULL};
    tm_task_id task;
    tm_event_t event;
    int status = 0, code = pbs_tm_spawn_relay(3, argv, NULL, node, &task, &event);

    if (code == TM_SUCCESS)
        code = tm_wait_for(event);
    if (code == TM_SUCCESS)
        code = tm_obit(task, &status, &event);
    if (code == TM_SUCCESS)
        code = tm_wait_for(event);
    if (code != TM_SUCCESS)
        return pbs_tmrsh_refuse(t, code);
    return status >= SIGNALLED ? SHELL_SIGNALLED + (status - SIGNALLED) : status;
}

static int run_in_job(const struct tmrsh *t, const char *host, char *words[])
{
    struct tm_roots roots;
    int node, rc, code = tm_init(NULL, &roots);
    char *line;

    if (code != TM_SUCCESS)
        return pbs_tmrsh_refuse(t, code);
    node = tm_nodefile_find(host);
    line = pbs_tmrsh_join(words);
    if (node < 0) {
        (void)cmd_error(&t->a, "host \"%s\" is not a node in job %s", host, getenv("PBS_JOBID"));
        rc = EXIT_ERROR;
    } else {
        rc = line ? run_on(t, node, line) : EXIT_ERROR;
    }
    free(line);
    (void)tm_finalize();
    return rc;
}

static int pbs_tmrsh_run(void *settings, int n, char *operands[])
{
    struct tmrsh *t = settings;
    char **words = n > 1 ? skip_options(t, operands + 1) : NULL;

    if (!words || !*words)
        return cmd_usage(&t->a);
    if (!getenv("PBS_ENVIRONMENT")) {
        (void)cmd_error(&t->a, "not executing under PBS");
        return EXIT_ERROR;
    }
    if (!getenv("PBS_JOBID")) {
        (void)cmd_error(&t->a, "PBS jobid not in environment");
        return EXIT_ERROR;
    }
    if (t->user && !is_me(t->user)) {
        (void)cmd_error(&t->a, "bad user \"%s\"", t->user);
        return EXIT_ERROR;
    }
    return run_in_job(t, operands[0], words);
}

const struct cmd command = {
    .options = {.program = "pbs_tmrsh", .operands = "host command", CMD_ROWS(rows), .order = OPTIONS_FIRST},
    .usage = "usage: pbs_tmrsh [-n][-l username] host [-n][-l username] command\n",
    .usage_exit = EXIT_ERROR,
    .size = sizeof(struct tmrsh),
    .run = pbs_tmrsh_run,
};
