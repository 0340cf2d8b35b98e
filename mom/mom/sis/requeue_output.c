/* Nothing is kept in memory: a MOM that was restarted serves as well. Every user may write into the spool, so a file in it counts
 * only when it is plainly the owner's: regular, of one name, of the user in the KEY file, which is ours alone. */
#include "requeue_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>
#include <sis.h>

#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "pbs_error.h"
#include "sis_pieces.h"
#include "rpc_request.h"
#include "mom_run.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, KEY_TEXT_MAX = 128 };

#define KEY_SUFFIX "KEY"

static void requeue_output_path_of(struct strbuf *out, const struct home *h, const char *id,
                                   const char *suffix)
{
    strbuf_reset(out);
    strbuf_addf(out, "%s/%s.%s", h->spool, id, suffix);
}

/* -1: there is no such file. */
static off_t size_of(const struct home *h, const char *id, const char *suffix)
{
    struct strbuf path;
    struct stat st;

    strbuf_init(&path, PATH_LEN_MAX);
    requeue_output_path_of(&path, h, id, suffix);
    off_t size = lstat(strbuf_str(&path), &st) == 0 ? st.st_size : -1;
    strbuf_fini(&path);
    return size;
}

static bool has_output(const struct home *h, const char *id)
{
    return size_of(h, id, "OU") > 0 || size_of(h, id, "ER") > 0;
}

void requeue_output_keep(const struct home *h, const struct run *r)
{
    struct strbuf path, text;
    struct err e = {0};
    int n_key;
    const char *key = run_files_key(r, &n_key);

    if (run_is_sister(r) || !n_key || !r->owner_home || !has_output(h, r->id))
        return;
    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_init(&text, KEY_TEXT_MAX);
    requeue_output_path_of(&path, h, r->id, KEY_SUFFIX);
    strbuf_add_bytes(&text, key, (size_t)n_key);
    strbuf_addf(&text, " %s\n", r->owner_uid);
    /* not synced, as the output is not: a host that crashes has neither, and then the next one is told that there is none */
    if (!strbuf_ok(&text) || file_write_quick(AT_FDCWD, strbuf_str(&path), text.s, text.len, 0600, &e) < 0)
        log_err(LOGC_FIL, r->id, &e, "the next host will not get the output of this run");
    strbuf_fini(&path);
    strbuf_fini(&text);
}

static void put_aside(const struct home *h, const struct run *r, const char *suffix)
{
    struct strbuf from, to;
    struct stat st;

    strbuf_init(&from, PATH_LEN_MAX);
    strbuf_init(&to, PATH_LEN_MAX);
    requeue_output_path_of(&from, h, r->id, suffix);
    strbuf_addf(&to, "%s/%s.%u.%s", h->undelivered, r->id, r->key.run, suffix);
    if (lstat(strbuf_str(&from), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        rename(from.s, strbuf_str(&to)) == 0)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "what run %u has written is kept in %s", r->key.run, to.s);
    strbuf_fini(&from);
    strbuf_fini(&to);
}

void requeue_output_put_aside(const struct home *h, const struct run *r)
{
    put_aside(h, r, "OU");
    put_aside(h, r, "ER");
}

/* "<prefix>NAME.OU" and so on, as names of the spool. */
static bool requeue_output_is_of(const char *name, const char *prefix)
{
    static const char *const suffixes[] = {".OU", ".ER", "." KEY_SUFFIX};
    size_t n = strlen(name);

    if (strncmp(name, prefix, strlen(prefix)) != 0 || n < 3)
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (n > strlen(suffixes[i]) && strcmp(name + n - strlen(suffixes[i]), suffixes[i]) == 0)
            return true;
    return false;
}

void requeue_output_remove(const struct home *h, long long seq, int index)
{
    char prefix[64];
    DIR *dir = opendir(h->spool);
    const struct dirent *d;

    if (index >= 0)
        snprintf(prefix, sizeof prefix, "%lld[%d].", seq, index);
    else
        snprintf(prefix, sizeof prefix, "%lld.", seq);
    while (dir && (d = readdir(dir)))
        if (requeue_output_is_of(d->d_name, prefix))
            unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
}

/* ---- serving */
/* Find the user to whom the files belong. -1: the key is not the right one. */
static int check_key(const struct home *h, const sis_fetch_args *a, unsigned *uid)
{
    struct strbuf path;
    char *text = NULL, *blank;
    int rc = -1;

    strbuf_init(&path, PATH_LEN_MAX);
    requeue_output_path_of(&path, h, a->id, KEY_SUFFIX);
    if (file_read(AT_FDCWD, strbuf_str(&path), KEY_TEXT_MAX, &text, NULL, NULL) == 0 &&
        (blank = strchr(text, ' '))) {
        *blank = '\0';
        *uid = (unsigned)strtoul(blank + 1, NULL, 10);
        rc = a->key[0] && strcmp(text, a->key) == 0 ? 0 : -1;
    }
    free(text);
    strbuf_fini(&path);
    return rc;
}

static int open_left(const struct home *h, const sis_fetch_args *a, unsigned uid, struct stat *st)
{
    struct strbuf path;
    int fd;

    strbuf_init(&path, PATH_LEN_MAX);
    requeue_output_path_of(&path, h, a->id, a->file);
    fd = open(strbuf_str(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    strbuf_fini(&path);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == uid && st->st_nlink == 1)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void serve_piece(const struct home *h, const sis_fetch_args *a, unsigned uid, struct rpc_request *q)
{
    struct stat st = {0};
    int fd = open_left(h, a, uid, &st);

    sis_pieces_reply(q, fd, a->offset);
    if (fd >= 0)
        close(fd);
}

/* A run that has written nothing leaves no key file: when a hundred victims end at once, making it would cost as much as
 * all the rest. */
static bool has_nothing(const struct home *h, const char *id)
{
    return size_of(h, id, KEY_SUFFIX) < 0 && !has_output(h, id);
}

void requeue_output_serve(const struct home *h, struct rpc_request *q)
{
    const sis_fetch_args *a = rpc_request_args(q);
    const struct auth_peer *p = rpc_request_peer(q);
    unsigned uid = 0;

    if (strchr(a->id, '/') || (!a->done && strcmp(a->file, "OU") != 0 && strcmp(a->file, "ER") != 0)) {
        sis_pieces_refuse(q, PBSE_IVALREQ, "there is no such file of a job");
    } else if (p->kind == AUTH_DAEMON && has_nothing(h, a->id)) {
        a->done ? sis_pieces_refuse(q, 0, "") : sis_pieces_reply(q, -1, a->offset);
    } else if (p->kind != AUTH_DAEMON || check_key(h, a, &uid) < 0) {
        log_event(LOGC_JOB, LOGE_ERROR | LOGE_SECURITY, a->id,
                  "refused its files to %s (%s): not the job's key", p->role, p->from);
        sis_pieces_refuse(q, PBSE_PERM, "no files of that job are here for you");
    } else if (a->done) {
        log_event(LOGC_JOB, LOGE_DEBUG, a->id, "%s has fetched its output", p->role);
        requeue_output_remove(h, a->job.seq, a->job.index);
        sis_pieces_refuse(q, 0, "");
    } else {
        serve_piece(h, a, uid, q);
    }
}
