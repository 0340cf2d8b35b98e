/* A script of the site. Checked as PBS does: a regular file, owned by root (or by the user that MOM runs as), executable
 * and readable by its owner, writable by no other user.
 *
 * The MOM starts this errand in a session of its own, and alone keeps the time: it kills our group. A MOM that dies
 * takes us along (the kernel tells), and the next one runs the script again, so never two at once.
 *
 * The script has our rights but is about a job of another user: site_env.h says what it is told. */
#include "script.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "errand.h"
#include "rundir.h"
#include "site_env.h"
#include "task.h"
#include "words.h"

static void execute(const struct shep_order *o, const struct task *t, const char *file, struct words *argv,
                    int in)
{
    struct words env;

    words_init(&env);
    site_env_make(o, 0, &env);
    if (dup2(in, 0) >= 0 && dup2(t->out, 1) >= 0 && dup2(t->err, 2) >= 0)
        execve(file, argv->w, env.w);
    _exit(255);
}

static int script_exec(const struct shep_order *o, const struct task *t, const char *file, struct words *argv)
{
    int status, in = open(o->script[0] ? o->script : "/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t pid;

    if (in < 0)
        return SCRIPT_NO_FILES;
    pid = fork();
    if (pid == 0)
        execute(o, t, file, argv, in);
    close(in);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return SCRIPT_KILLED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SCRIPT_KILLED;
}

/* The owner of the job reads it in the job's error file. */
static void script_say_failed(const struct task *t, int rc)
{
    char text[64];

    snprintf(text, sizeof text, "Could not run prolog: %s %d", rc == SCRIPT_KILLED ? "killed," : "exit", rc);
    task_say(t, text);
}

/* The job opens the terminal first: if this process opened and closed it before, the terminal would hang up. */
static void keep_quiet(struct shep_order *o)
{
    o->tty_host[0] = '\0';
    free(o->out.path);
    o->out.path = strdup("/dev/null");
    o->join = 1;
}

int script_run(const char *path, const char *which, const char *file, char *const args[])
{
    struct shep_order o = {0};
    struct task t;
    struct words argv;
    struct err e = {0};
    bool epilogue = strcmp(which, "epilogue") == 0;
    int rc = SCRIPT_REFUSED;

    errand_end_with_parent();
    task_init(&t);
    words_init(&argv);
    words_add(&argv, file, &e);
    for (size_t i = 0; args[i]; i++)
        words_add(&argv, args[i], &e);
    if (errand_check(file, &e) == 0 && rundir_read_order(path, &o, &e) == 0) {
        t.append = epilogue;
        if (o.tty_host[0])
            keep_quiet(&o);
        rc = task_prepare(&t, path, &o, &e) < 0 ? SCRIPT_NO_FILES : 0;
        errand_end_with_parent(); /* becoming the owner for a moment has undone it */
        if (rc == 0)
            rc = script_exec(&o, &t, file, &argv);
        if (rc && !epilogue)
            script_say_failed(&t, rc);
    }
    if (e.code)
        fprintf(stderr, "%s\n", e.text);
    task_fini(&t);
    words_fini(&argv);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return rc;
}
