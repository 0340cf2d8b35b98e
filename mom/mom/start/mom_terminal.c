/* A launch step of an interactive job, on its first host: start `pbs_terminal serve`, which connects to the waiting qsub, makes the
 * terminal and leaves its name in the run's directory; a child of it carries the bytes (mom/terminal/host_end.c). The program that
 * is started here ends as soon as the terminal is there, or cannot be; it keeps its own time limit, so there is no timer. Its exit
 * status decides, and the first line of its standard error is the reason. */
#include "mom_terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"
#include "mom_home.h"
#include "loop.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "rundir.h"
#include "spawn.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, SAID_MAX = 1024 };

struct terminal {
    struct run *run;
    struct spawn *process;
    int said;
    terminal_fn *fn;
    void *arg;
};

bool terminal_is_interactive(const struct run *r)
{
    const char *port = run_attr(r, "interactive", "");

    return port && strtoul(port, NULL, 10) != 0;
}

bool terminal_is_wanted(const struct run *r)
{
    struct strbuf path;
    bool there;

    if (!terminal_is_interactive(r) || run_is_sister(r))
        return false;
    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/" RUNDIR_TTY, r->path);
    there = access(strbuf_str(&path), F_OK) == 0;
    strbuf_fini(&path);
    return !there;
}

static void terminal_drop(struct terminal *t)
{
    t->run->terminal = NULL;
    spawn_destroy(t->process);
    if (t->said >= 0)
        close(t->said);
    free(t);
}

void terminal_stop(struct run *r)
{
    if (!r->terminal)
        return;
    if (r->terminal->process)
        spawn_signal_group(r->terminal->process, SIGKILL);
    terminal_drop(r->terminal);
}

static void terminal_on_end(void *arg, int status)
{
    struct terminal *t = arg;
    struct run *r = t->run;
    terminal_fn *fn = t->fn;
    void *fn_arg = t->arg;
    char *said = NULL;

    lseek(t->said, 0, SEEK_SET);
    if (status != 0 && file_read_fd(t->said, SAID_MAX, &said, NULL, NULL) == 0)
        said[strcspn(said, "\n")] = '\0';
    terminal_drop(t); /* before fn: with r->terminal set the launch would not go on */
    fn(fn_arg, r, status == 0 ? NULL : said && *said ? said : "cannot open qsub sock");
    free(said);
}

int terminal_begin(struct loop *l, const struct home *h, struct run *r, terminal_fn *fn, void *arg,
                   struct err *e)
{
    char verb[] = "serve", *argv[] = {h->terminal, verb, r->path, NULL};
    struct terminal *t = calloc(1, sizeof *t);
    int fds[] = {-1, -1, -1};
    const struct spawn_options o = spawn_own(argv, fds, 3);

    if (!t)
        return err_set(e, PBSE_SYSTEM, "no memory for the terminal of job %s", r->id);
    *t = (struct terminal){.run = r, .said = memfd_create("said", MFD_CLOEXEC), .fn = fn, .arg = arg};
    r->terminal = t;
    fds[2] = t->said;
    t->process = spawn_start(l, &o, terminal_on_end, t, e);
    if (t->process)
        return 0;
    terminal_drop(t);
    return -1;
}
