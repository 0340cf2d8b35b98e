/* Every name comes from the job's owner; so everything here is done as the owner, programs as well as removals: a name can
 * reach no further than the owner can. Removal never crosses into another file system, and takes directories only below the
 * owner's home or the job's directory: what a slip in a file list could cost is bounded. */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "job_dirs.h"
#include "copies.h"
#include "errand.h"
#include "file.h"
#include "identity.h"
#include "own_dir.h"
#include "rpc_buf.h"
#include "rundir.h"
#include "rundir_moved.h"
#include "strbuf.h"
#include "words.h"

static const char cp_args[] = "-rp";

/* Four tries of a remote copy, as PBS makes; the pauses grow by PAUSE_S to about a minute together. */
enum { TRIES = 4, PAUSE_S = 11, SAID_MAX = 4096, EXIT_NO_PROGRAM = 255, ARGS_MAX = 8 << 20 };

static const char *workdir(const struct shep_order *o)
{
    return o->cwd[0] ? o->cwd : o->home;
}

/* ---- the private directory */
int stage_make_jobdir(const char *path, struct shep_order *o, struct err *e)
{
    char made[PATH_MAX];
    int rc;

    if (!o->cwd[0])
        return 0;
    if (identity_enter(o, e) < 0)
        return -1;
    rc = own_dir_make(o->cwd, true, o, made, e);
    identity_leave(o);
    if (rc < 0 || strcmp(made, o->cwd) == 0)
        return rc;
    return rundir_moved_note(path, RUNDIR_MOVED_JOBDIR, made, o, e);
}

/* Rename it first, so that a half-removed directory is never taken for that of a job. */
void stage_remove_jobdir(const struct shep_order *o)
{
    struct strbuf gone;

    if (!o->cwd[0] || identity_enter(o, NULL) < 0)
        return;
    strbuf_init(&gone, PATH_MAX);
    if (strbuf_addf(&gone, "%s_remove", o->cwd) == 0)
        file_remove_tree(AT_FDCWD, rename(o->cwd, gone.s) == 0 || errno == ENOENT ? gone.s : o->cwd, NULL);
    strbuf_fini(&gone);
    identity_leave(o);
}

/* ---- names */
static bool has_wildcards(const char *path)
{
    const char *base = strrchr(path, '/');

    return strpbrk(base ? base : path, "*?[") != NULL;
}

/* What the name means here, seen as the owner from the job's directory; without a match the name itself, for the
 * program to complain of. */
static void expand(const char *path, struct words *out)
{
    glob_t g;

    if (!has_wildcards(path) || glob(path, 0, NULL, &g) != 0) {
        words_add(out, path, NULL);
        return;
    }
    for (size_t i = 0; i < g.gl_pathc; i++)
        words_add(out, g.gl_pathv[i], NULL);
    globfree(&g);
}

static bool is_same_file(const char *a, const char *b)
{
    const char *base = strrchr(a, '/');
    char inside[PATH_MAX];
    struct stat x, y;

    if (stat(a, &x) < 0 || stat(b, &y) < 0)
        return false;
    if (S_ISDIR(y.st_mode) && !S_ISDIR(x.st_mode)) {
        snprintf(inside, sizeof inside, "%s/%s", b, base ? base + 1 : a);
        if (stat(inside, &y) < 0)
            return false;
    }
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- copying */
struct copy {
    const struct shep_order *o;
    const struct shep_stage *s;
    const char *from, *to;
    bool local;
};

static int make_argv(const struct copy *c, struct words *argv)
{
    int rc = words_add(argv, c->local ? c->s->cp : c->s->scp, NULL);

    if (rc == 0)
        rc = words_parse(c->local ? cp_args : c->s->scp_args, " \t", WORDS_QUOTES, argv, NULL);
    expand(c->from, argv);
    return rc < 0 ? -1 : words_add(argv, c->to, NULL);
}

/* In the child, which becomes the owner for good before it looks at any name. */
static void run_child(const struct copy *c, int said)
{
    struct words argv;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    words_init(&argv);
    if (identity_become(c->o, NULL) == 0 && chdir(workdir(c->o)) == 0 && make_argv(c, &argv) == 0 &&
        dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0)
        execv(argv.w[0], argv.w);
    dprintf(said, "cannot run %s: %s\n", c->local ? c->s->cp : c->s->scp, strerror(errno));
    _exit(EXIT_NO_PROGRAM);
}

static int try_once(const struct copy *c, int said)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        run_child(c, said);
    return pid < 0 || waitpid(pid, &status, 0) < 0 ? -1 : status;
}

static void stage_say_failed(const struct copy *c, bool in, const char *why, struct copies *all)
{
    all->failed++;
    strbuf_addf(&all->text, "Unable to copy file %s %s %s\n>>> error from copy\n%s%s>>> end error output\n",
                c->from, in ? "from" : "to", c->to, why, why[0] && why[strlen(why) - 1] == '\n' ? "" : "\n");
}

static int copy_one(const struct copy *c, bool in, struct copies *all)
{
    int said = memfd_create("said", MFD_CLOEXEC), rc = -1;
    struct copies_try t = {.program = c->local ? c->s->cp : c->s->scp,
                           .args = c->local ? cp_args : c->s->scp_args,
                           .from = c->from,
                           .to = c->to};
    char *why = NULL;

    all->of++;
    if (!c->local && !c->s->scp[0]) {
        stage_say_failed(c, in, "it is on another host and no program for remote copies is set (PBS_SCP)",
                         all);
        if (said >= 0)
            close(said);
        return -1;
    }
    for (t.n = 1; t.n <= (c->local ? 1 : TRIES) && rc < 0; t.n++) {
        if (t.n > 1)
            sleep((unsigned)(PAUSE_S * (t.n - 1)));
        if (ftruncate(said, 0) == 0)
            lseek(said, 0, SEEK_SET);
        t.status = try_once(c, said);
        rc = t.status == 0 ? 0 : -1;
        copies_tried(all, &t);
    }
    if (rc < 0) {
        lseek(said, 0, SEEK_SET);
        stage_say_failed(c, in, file_read_fd(said, SAID_MAX, &why, NULL, NULL) == 0 ? why : "", all);
    }
    free(why);
    close(said);
    return rc;
}

/* ---- removal, as the owner and in the job's directory */
static bool may_remove_dir(const struct shep_order *o, const char *path)
{
    char real[PATH_MAX], home[PATH_MAX], work[PATH_MAX];
    size_t n;

    if (!realpath(path, real))
        return false;
    n = realpath(o->home, home) ? strlen(home) : 0;
    if (n > 1 && strncmp(real, home, n) == 0 && real[n] == '/')
        return true;
    n = realpath(workdir(o), work) ? strlen(work) : 0;
    return n > 1 && strncmp(real, work, n) == 0 && real[n] == '/';
}

static void remove_one(const struct shep_order *o, const char *path)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return;
    if (!S_ISDIR(st.st_mode))
        unlink(path);
    else if (may_remove_dir(o, path))
        file_remove_tree(AT_FDCWD, path, NULL);
}

/* `other` is where the bytes came from or went to, when that is here: it may be the very same file. */
static void remove_files(const struct shep_order *o, const char *path, const char *other)
{
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct words names;

    if (identity_enter(o, NULL) == 0) {
        words_init(&names);
        if (chdir(workdir(o)) == 0)
            expand(path, &names);
        for (size_t i = 0; i < names.n; i++)
            if (!other || !is_same_file(names.w[i], other))
                remove_one(o, names.w[i]);
        words_fini(&names);
        identity_leave(o);
    }
    if (here >= 0) {
        (void)!fchdir(here);
        close(here);
    }
}

/* Return true if there is nothing to do. Runs as the owner, in the job's directory. */
static bool is_there_already(const struct shep_order *o, const char *from, const char *to)
{
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool same = false;

    if (identity_enter(o, NULL) == 0) {
        same = chdir(workdir(o)) == 0 && is_same_file(from, to);
        identity_leave(o);
    }
    if (here >= 0) {
        (void)!fchdir(here);
        close(here);
    }
    return same;
}

/* ---- all of a list */
static void stage_in(const struct shep_order *o, const struct shep_stage *s, struct copies *all)
{
    for (u_int i = 0; i < s->files.files_len; i++) {
        const struct shep_stage_file *f = &s->files.files_val[i];
        const struct copy c = {o, s, f->there, f->here, f->local};

        if (f->local && is_there_already(o, f->there, f->here))
            continue;
        copy_one(&c, true, all);
    }
}

void stage_out(const struct shep_order *o, const struct shep_stage *s, struct copies *all)
{
    for (u_int i = 0; i < s->files.files_len; i++) {
        const struct shep_stage_file *f = &s->files.files_val[i];
        const struct copy c = {o, s, f->here, f->there, f->local};

        if (f->local && (strcmp(f->there, "/dev/null") == 0 || is_there_already(o, f->here, f->there)))
            continue;
        if (copy_one(&c, false, all) == 0)
            remove_files(o, f->here, f->local ? f->there : NULL);
    }
}

void stage_remove(const struct shep_order *o, const struct shep_stage *s)
{
    for (u_int i = 0; i < s->files.files_len; i++) {
        const struct shep_stage_file *f = &s->files.files_val[i];

        remove_files(o, f->here, f->local ? f->there : NULL);
    }
}

/* ---- the errand */
static int stage_answer(struct copies *all, struct err *e)
{
    struct shep_close_result r;
    struct byte_buf out;
    int rc = -1;

    copies_result(all, &r);
    byte_buf_init(&out);
    if (rpc_buf_encode(&out, (xdrproc_t)xdr_shep_close_result, &r) == 0)
        rc = file_write_all(STDOUT_FILENO, out.bytes, out.len, e);
    byte_buf_fini(&out);
    xdr_free((xdrproc_t)xdr_shep_close_result, &r);
    return rc;
}

static int stage_with(const char *path, struct shep_order *o, const char *bytes, size_t n, struct err *e)
{
    struct shep_stage s = {0};
    struct copies all;
    bool ready;
    int rc;

    copies_init(&all);
    ready = (rpc_buf_decode(bytes, n, (xdrproc_t)xdr_shep_stage, &s) == 0 ||
             err_set(e, EINVAL, "the arguments on stdin are not whole") == 0) &&
            job_dirs_make(path, o, e) == 0 && stage_make_jobdir(path, o, e) == 0;
    if (ready) {
        errand_end_with_parent(); /* the process was the owner for a moment; take back root's rights */
        stage_in(o, &s, &all);
    } else {
        all.of = s.files.files_len ? s.files.files_len : 1;
        all.failed = (int)all.of;
        strbuf_add(&all.text, e->text);
    }
    rc = stage_answer(&all, e);
    xdr_free((xdrproc_t)xdr_shep_stage, &s);
    return rc;
}

int stage_errand(const char *path)
{
    return errand_with_order(path, ARGS_MAX, stage_with);
}
