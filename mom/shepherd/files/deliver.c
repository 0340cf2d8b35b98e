/* Delivery as the owner. Blocks as long as a copy takes: the job is over, nothing else waits for us.
 *
 * A file is done when its name in the spool is gone; so removal comes last, and a delivery that broke off is
 * done again from its beginning. One file that fails is put aside, with lines that say why, and the next is
 * tried. Names in the spool are the MOM's to remove, everything else is done with the rights of the owner alone.
 * Nothing that lies at a name of the owner's may stop us: a pipe without a reader is a failure. The program for remote
 * copies becomes the owner for good, since it is not ours. */
#include "deliver.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "copies.h"
#include "file.h"
#include "identity.h"
#include "strbuf.h"
#include "words.h"

enum {
    TRIES = 4,
    PAUSE_S = 11,
    COPY_PIECE = 1 << 16,
    PATIENCE_MS = 10000,
    SAID_MAX = 1 << 12,
    SAID_LINE_MAX = 200
};

/* `to`, or the same name inside it when it is a directory. */
static void final_path(char out[static PATH_MAX], const char *from, const char *to)
{
    const char *base = strrchr(from, '/');
    struct stat st;

    if (stat(to, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(out, PATH_MAX, "%s/%s", to, base ? base + 1 : from);
    else
        snprintf(out, PATH_MAX, "%s", to);
}

/* A reader at the other end of a pipe may be slow, but the run cannot end before it has read: so the wait has a limit. */
static int write_piece(int to, const char *bytes, size_t n)
{
    struct pollfd p = {.fd = to, .events = POLLOUT};

    while (n) {
        ssize_t done = write(to, bytes, n);

        if (done < 0 && errno == EAGAIN && poll(&p, 1, PATIENCE_MS) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

static int copy_bytes(int from, int to)
{
    char *piece = malloc(COPY_PIECE);
    ssize_t n = -1;

    while (piece && (n = read(from, piece, COPY_PIECE)) > 0)
        if (write_piece(to, piece, (size_t)n) < 0) {
            n = -1;
            break;
        }
    free(piece);
    return n < 0 ? -1 : 0;
}

/* Only a plain file: nothing else is there, unless root has put it there. */
static int open_spooled(const char *from, struct err *e)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return err_errno(e, errno, "cannot read %s", from);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return err_set(e, EINVAL, "%s is not a file", from);
}

static int copy_file(const char *from, const char *to, mode_t mode, struct err *e)
{
    int in = open_spooled(from, e), out, rc = -1;

    if (in < 0)
        return -1;
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode & 0777);
    if (out < 0) {
        err_errno(e, errno, "cannot write %s", to);
    } else {
        rc = copy_bytes(in, out);
        if (close(out) < 0 || rc < 0)
            rc = err_errno(e, errno, "cannot copy %s to %s", from, to);
    }
    close(in);
    return rc;
}

/* One file with two names, until the spool's is removed: nothing is copied. The name appears at once with all that is in it. */
static bool link_to(const char *from, const char *path)
{
    char new[PATH_MAX];
    bool done;

    if (snprintf(new, sizeof new, "%s.%d.new", path, (int)getpid()) >= (int)sizeof new || link(from, new) < 0)
        return false;
    done = rename(new, path) == 0;
    unlink(new); /* still there, where both were one file */
    return done;
}

static int deliver_here(const char *from, const char *to, struct err *e)
{
    char path[PATH_MAX];
    struct stat src, dst;

    final_path(path, from, to);
    if (lstat(from, &src) < 0)
        return err_errno(e, errno, "cannot find %s", from);
    /* Only a plain file is replaced; into a device or a link of the owner's it is written. */
    if ((lstat(path, &dst) < 0 || S_ISREG(dst.st_mode)) && link_to(from, path))
        return 0;
    return copy_file(from, path, src.st_mode, e);
}

struct deliver_delivery {
    const struct shep_order *o;
    const struct shep_close_args *a;
    struct copies *all;
};

/* The last line of what a program has written, as far as SAID_MAX bytes: the reason of a refusal comes last. */
static void last_line(int fd, char *out, size_t max)
{
    char text[SAID_MAX];
    ssize_t n = read(fd, text, sizeof text - 1), from;

    out[0] = '\0';
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    if (n <= 0)
        return;
    text[n] = '\0';
    for (from = n; from > 0 && text[from - 1] != '\n' && text[from - 1] != '\r';)
        from--;
    for (ssize_t i = from; i < n; i++)
        text[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    snprintf(out, max, "%.*s", (int)max - 1, text + from);
}

/* One try: the program as the owner. Its wait status, and the last line of what it has said. Its output is not read while it runs: what
 * does not fit into the pipe is lost to it, not waited for. */
static int run_copy(const struct deliver_delivery *w, const char *from, const char *to, char *said,
                    size_t max)
{
    const struct shep_close_args *a = w->a;
    struct words argv;
    int status = -1, pipe_fds[2] = {-1, -1};
    pid_t pid;

    said[0] = '\0';
    words_init(&argv);
    if (words_add(&argv, a->scp, NULL) < 0 ||
        words_parse(a->scp_args, " \t", WORDS_QUOTES, &argv, NULL) < 0 || words_add(&argv, from, NULL) < 0 ||
        words_add(&argv, to, NULL) < 0)
        goto out;
    if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        goto out;
    pid = fork();
    if (pid == 0) {
        dup2(pipe_fds[1], STDERR_FILENO);
        identity_leave(w->o);
        if (identity_become(w->o, NULL) == 0 && chdir(w->o->home) == 0)
            execv(a->scp, argv.w);
        _exit(255);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        status = -1;
    last_line(pipe_fds[0], said, max);
out:
    if (pipe_fds[0] >= 0) {
        close(pipe_fds[0]);
        close(pipe_fds[1]);
    }
    words_fini(&argv);
    return status;
}

static int deliver_there(const struct deliver_delivery *w, const char *from, const char *to, struct err *e)
{
    struct copies_try t = {
        .program = w->a->scp, .args = w->a->scp_args, .from = from, .to = to, .status = -1};
    char said[SAID_LINE_MAX];

    if (!w->a->scp[0])
        return err_set(e, ENOTSUP, "%s is on another host and no program for remote copies is set (PBS_SCP)",
                       to);
    for (t.n = 1; t.n <= TRIES; t.n++) {
        t.status = run_copy(w, from, to, said, sizeof said);
        copies_tried(w->all, &t);
        if (t.status == 0)
            return 0;
        if (t.n < TRIES)
            sleep((unsigned)(PAUSE_S * t.n));
    }
    return err_set(e, EIO, "%s ended with status %d%s%s", t.program,
                   WIFEXITED(t.status) ? WEXITSTATUS(t.status) : -1, said[0] ? ": " : "", said);
}

/* Written by the job at its final place: `from` is only the name that it has in a directory. */
static bool is_in_place(const struct shep_delivery *d)
{
    return !strchr(d->from, '/');
}

/* What is there now may be another thing than the job has written: only a file is removed. As the owner. */
static int remove_written(const struct shep_delivery *d, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;

    final_path(path, d->from, d->to);
    if (!d->remove || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot remove %s", path);
    return 0;
}

/* As the owner. */
static int deliver_one(const struct deliver_delivery *w, const struct shep_delivery *d, struct err *e)
{
    if (is_in_place(d))
        return remove_written(d, e);
    if (access(d->from, F_OK) < 0 && errno == ENOENT)
        return 0; /* delivered before, or written directly */
    if (d->remove || strcmp(d->to, "/dev/null") == 0)
        return 0;
    w->all->of++;
    return d->local ? deliver_here(d->from, d->to, e) : deliver_there(w, d->from, d->to, e);
}

/* `undelivered` is open to all: a name that another user has taken is left to them. */
static bool put_aside(const char *undelivered, const char *name, const char *from, char kept[static PATH_MAX])
{
    unsigned suffix;

    snprintf(kept, PATH_MAX, "%s/%s", undelivered, name);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, kept, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EEXIST || getrandom(&suffix, sizeof suffix, 0) != sizeof suffix)
        return false;
    snprintf(kept, PATH_MAX, "%s/%s.%08x", undelivered, name, suffix);
    return renameat2(AT_FDCWD, from, AT_FDCWD, kept, RENAME_NOREPLACE) == 0;
}

static void deliver_keep(const struct shep_close_args *a, const struct shep_delivery *d,
                         const struct err *why, struct strbuf *text)
{
    char kept[PATH_MAX];
    const char *base = strrchr(d->from, '/');

    strbuf_addf(text, "Unable to copy file %s to %s\n>>> error from copy\n%s\n>>> end error output\n",
                d->from, d->to, why->text);
    if (a->undelivered[0] && put_aside(a->undelivered, base ? base + 1 : d->from, d->from, kept))
        strbuf_addf(text, "Output retained on that host in: %s\n", kept);
}

void deliver_all(const struct shep_order *o, const struct shep_close_args *a, struct copies *c)
{
    const struct deliver_delivery w = {o, a, c};

    for (u_int i = 0; i < a->items.items_len; i++) {
        const struct shep_delivery *d = &a->items.items_val[i];
        unsigned counted = c->of;
        struct err e = {0};
        bool inside = identity_enter(o, &e) == 0;
        int rc = inside ? deliver_one(&w, d, &e) : -1;

        if (inside)
            identity_leave(o);
        if (rc == 0 && !is_in_place(d) && unlink(d->from) < 0 && errno != ENOENT)
            rc = err_errno(&e, errno, "cannot remove %s", d->from);
        if (rc == 0)
            continue;
        c->of += c->of == counted;
        c->failed++;
        if (inside && !is_in_place(d))
            deliver_keep(a, d, &e, &c->text);
        else
            strbuf_addf(&c->text, "%s\n", e.text);
    }
}
