/* pbs_attach: make a process that was not started by PBS a task of a job: it is counted, suspended and ended with the
 * job. The process either runs already (-p), or is this one, which then becomes the command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ext.h"
#include "tm_wait.h"

enum { EXIT_ERROR = 1, EXIT_NO_EXEC = 126, SHELL_SIGNALLED = 128 };

struct attach {
    struct cmd_args a;
    const char *job, *port, *pid;
    bool parent, session;
};

static const struct option_row rows[] = {
    CMD_TEXT('j', struct attach, job, "jobid", "the job; else that of the environment, or the only one here"),
    CMD_TEXT('m', struct attach, port, "port", "of a MOM; not needed: the job's shepherd is found without"),
    CMD_TEXT('p', struct attach, pid, "pid", "attach the session of this process"),
    CMD_FLAG('P', struct attach, parent, "with -s: the session of the caller as well"),
    CMD_FLAG('s', struct attach, session, "run the command in a session of its own and attach that"),
};

static int attach_pid(const struct attach *t, pid_t pid)
{
    tm_task_id task;
    int code = tm_attach((char *)t->job, NULL, pid, &task, NULL, 0);
    const char *why = pbs_tm_reason();

    if (code == TM_SUCCESS)
        return 0;
    return cmd_error(&t->a, "cannot attach process %d: error %d: %s", (int)pid, code,
                     *why ? why : tm_wait_error_text(code));
}

static int pbs_attach_execute(const struct attach *t, char *argv[])
{
    (void)execvp(argv[0], argv);
    (void)cmd_error(&t->a, "cannot execute %s: %s", argv[0], strerror(errno));
    return EXIT_NO_EXEC;
}

/* The child waits until it is attached: nothing of the command runs outside the job. */
static int execute_in_session(const struct attach *t, char *argv[])
{
    int go[2], ready[2], status = 0;
    pid_t child;
    char c;

    if (pipe(go) < 0 || pipe(ready) < 0 || (child = fork()) < 0) {
        (void)cmd_error(&t->a, "cannot start %s: %s", argv[0], strerror(errno));
        return EXIT_ERROR;
    }
    if (child == 0) {
        (void)close(go[1]);
        (void)close(ready[0]);
        (void)setsid();
        (void)close(ready[1]);
        _exit(read(go[0], &c, 1) == 1 && close(go[0]) == 0 ? pbs_attach_execute(t, argv) : EXIT_ERROR);
    }
    (void)close(go[0]);
    (void)close(ready[1]);
    (void)!read(ready[0], &c, 1); /* the pipe has ended: the child has its session, by which it is attached */
    (void)close(ready[0]);
    if (attach_pid(t, child) < 0 || (t->parent && attach_pid(t, getpid()) < 0)) {
        (void)close(go[1]);
        return EXIT_ERROR;
    }
    (void)!write(go[1], "g", 1);
    (void)close(go[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? SHELL_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int pbs_attach_run(void *settings, int n, char *operands[])
{
    struct attach *t = settings;

    if (!t->pid == (n == 0) || (t->pid && (t->session || t->parent)) || (t->parent && !t->session))
        return cmd_usage(&t->a);
    if (t->pid) {
        char *end;
        long pid = strtol(t->pid, &end, 10);

        if (pid <= 1 || *end) {
            (void)cmd_error(&t->a, "%s is not a process", t->pid);
            return EXIT_ERROR;
        }
        return attach_pid(t, (pid_t)pid) < 0 ? EXIT_ERROR : 0;
    }
    if (t->session)
        return execute_in_session(t, operands);
    return attach_pid(t, getpid()) < 0 ? EXIT_ERROR : pbs_attach_execute(t, operands);
}

const struct cmd command = {
    .options = {.program = "pbs_attach", .operands = "[cmd [args]]", CMD_ROWS(rows), .order = OPTIONS_FIRST},
    .usage = "usage: pbs_attach [-j jobid] [-m port] -p pid\n"
             "       pbs_attach [-j jobid] [-m port] [-P] [-s] cmd [arg ...]\n",
    .usage_exit = 2,
    .size = sizeof(struct attach),
    .run = pbs_attach_run,
};
