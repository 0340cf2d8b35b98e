/* A script of the site. Checked as PBS does: a regular file, owned by root (or by whoever MOM runs as), executable
 * and readable by its owner, writable by nobody else. The time limit is the MOM's: it kills our group. */
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "rundir.h"
#include "task.h"
#include "words.h"

static int check(const char *file, struct err *e)
{
    struct stat st;

    if (stat(file, &st) < 0)
        return err_errno(e, errno, "%s", file);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0500) != 0500 || (st.st_mode & 022))
        return err_set(e, EACCES, "%s: Permission Error", file);
    return 0;
}

static void execute(const struct shep_order *o, const struct task *t, const char *file, struct words *argv)
{
    struct words env;
    const char *input = o->script[0] ? o->script : "/dev/null";
    int in = open(input, O_RDONLY | O_CLOEXEC);

    words_init(&env);
    for (u_int i = 0; i < o->env.env_len; i++)
        words_add(&env, o->env.env_val[i], NULL);
    if (in >= 0 && dup2(in, 0) >= 0 && dup2(t->out, 1) >= 0 && dup2(t->err, 2) >= 0)
        execve(file, argv->w, env.w);
    _exit(255);
}

static int run(const struct shep_order *o, const struct task *t, const char *file, struct words *argv)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        execute(o, t, file, argv);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return SCRIPT_KILLED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SCRIPT_KILLED;
}

int script_run(const char *path, const char *which, const char *file, char *const args[])
{
    struct shep_order o = {0};
    struct task t;
    struct words argv;
    struct err e = {0};
    int rc = SCRIPT_REFUSED;

    task_init(&t);
    words_init(&argv);
    words_add(&argv, file, &e);
    for (size_t i = 0; args[i]; i++)
        words_add(&argv, args[i], &e);
    if (check(file, &e) == 0 && rundir_read_order(path, &o, &e) == 0) {
        o.out.append |= strcmp(which, "epilogue") == 0;
        o.err.append |= strcmp(which, "epilogue") == 0;
        if (task_prepare(&t, &o, &e) == 0)
            rc = run(&o, &t, file, &argv);
    }
    if (rc == SCRIPT_REFUSED)
        fprintf(stderr, "%s\n", e.text);
    task_fini(&t);
    words_fini(&argv);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return rc;
}
