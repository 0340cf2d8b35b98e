/* `bring` writes the pack beside the job's images, an errand unpacks it as the owner; only then is there an image of this
 * name. What is left by a MOM that died in the middle is written over: the server says START again. */
#include "image_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sis_fetch.h"
#include "file.h"
#include "mom_home.h"
#include "images.h"
#include "log.h"
#include "mom.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "spawn.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192 };

struct image_in {
    struct mom *m;
    struct run *run;
    struct sis_fetch *sis_fetch;
    struct spawn *process;
    int fd;
    image_in_fn *fn;
};

static const char *const files[] = {"CK"};

bool image_in_is_wanted(const struct run *r)
{
    return images_is_from_elsewhere(r) && !r->image_came;
}

static void let_go_of_errand(struct image_in *x)
{
    if (x->process && spawn_is_running(x->process))
        spawn_signal_group(x->process, SIGKILL);
    spawn_destroy(x->process);
    x->process = NULL;
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
}

void image_in_stop(struct run *r)
{
    struct image_in *x = r->image_in;

    if (!x)
        return;
    r->image_in = NULL;
    sis_fetch_stop(x->sis_fetch);
    let_go_of_errand(x);
    free(x);
}

static void image_in_path_of(struct strbuf *out, const struct run *r, const struct home *h, const char *name)
{
    images_dir(h, r->id, out);
    strbuf_addf(out, "%s%s", name[0] ? "/" : "", name);
}

/* ---- the end */
static void over(struct image_in *x, const struct err *why)
{
    image_in_fn *fn = x->fn;
    struct mom *m = x->m;
    struct run *r = x->run;

    image_in_stop(r);
    fn(m, r, why);
}

static bool may_begin_anew(const struct run *r)
{
    const char *v = run_attr(r, "Rerunable", "");

    return !v || strcasecmp(v, "False") != 0;
}

/* Report that the image cannot be fetched, now or later. */
static void is_missing(struct image_in *x, const struct err *cause)
{
    struct run *r = x->run;
    struct strbuf b;
    struct err why = {0};
    char *old = r->start.restart_from;

    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "! its checkpoint is on %s, %s", sis_fetch_service(x->sis_fetch), cause->text);
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", b.s + 2);
    if (may_begin_anew(r) && strbuf_ok(&b)) {
        r->start.restart_from = strbuf_take(&b);
        free(old);
        over(x, NULL);
        return;
    }
    err_set(&why, PBSE_CKPSHORT, "restart of job %s failed: %s", r->id, b.s + 2);
    strbuf_fini(&b);
    over(x, &why);
}

/* ---- unpacking */
static int make_image(const struct home *h, const struct run *r, struct err *e)
{
    struct strbuf seal;

    strbuf_init(&seal, PATH_LEN_MAX);
    images_path(h, r, &seal);
    strbuf_add(&seal, ".seal");
    unlink(strbuf_str(&seal));
    strbuf_fini(&seal);
    return images_make_empty(h, r, e);
}

static void remove_incoming(const struct image_in *x)
{
    struct strbuf path;

    strbuf_init(&path, PATH_LEN_MAX);
    image_in_path_of(&path, x->run, &x->m->home, "incoming");
    unlink(strbuf_str(&path));
    strbuf_fini(&path);
}

static void image_in_on_unpacked(void *arg, int status)
{
    struct image_in *x = arg;
    struct run *r = x->run;
    struct err e = {0};

    remove_incoming(x);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        err_set(&e, PBSE_SYSTEM, "the checkpoint that has come from %s cannot be unpacked",
                sis_fetch_service(x->sis_fetch));
    else if (make_image(&x->m->home, r, &e) == 0)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "its checkpoint has come from %s",
                  sis_fetch_service(x->sis_fetch));
    if (e.code) {
        over(x, &e);
        return;
    }
    r->image_came = true;
    let_go_of_errand(x);
    sis_fetch_confirm(x->sis_fetch, &x->sis_fetch);
    x->fn(x->m, r, NULL);
}

static int unpack(struct image_in *x, struct err *e)
{
    const struct home *h = &x->m->home;
    char verb[] = "unpack";
    struct strbuf dir;
    const int fds[] = {x->fd, -1, -1};
    char *argv[] = {h->shepherd, verb, x->run->owner_uid, x->run->owner_gid, NULL, NULL};
    const struct spawn_options o = spawn_own(argv, fds, 3);

    if (x->fd < 0 || lseek(x->fd, 0, SEEK_SET) < 0)
        return err_set(e, PBSE_SYSTEM, "nothing has come from %s", sis_fetch_service(x->sis_fetch));
    strbuf_init(&dir, PATH_LEN_MAX);
    image_in_path_of(&dir, x->run, h, "");
    strbuf_str(&dir);
    argv[4] = dir.s;
    x->process = spawn_start(x->m->loop, &o, image_in_on_unpacked, x, e);
    strbuf_fini(&dir);
    return x->process ? 0 : -1;
}

/* ---- bringing */
static int image_in_make(void *arg, size_t i, struct err *e)
{
    struct image_in *x = arg;
    struct strbuf path;
    int fd = -1;

    strbuf_init(&path, PATH_LEN_MAX);
    image_in_path_of(&path, x->run, &x->m->home, "");
    if ((mkdir(strbuf_str(&path), 0711) < 0 && errno != EEXIST) || chmod(path.s, 0711) < 0) {
        err_errno(e, errno, "cannot make %s", path.s);
    } else {
        strbuf_add(&path, "/incoming");
        fd = open(strbuf_str(&path), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            err_errno(e, errno, "cannot write %s", path.s);
    }
    strbuf_fini(&path);
    if (x->fd >= 0)
        close(x->fd);
    x->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0); /* one for the fetch, one to read it again */
    return fd;
}

static void image_in_on_brought(void *arg, const struct err *why)
{
    struct image_in *x = arg;
    struct err e = {0};

    if (why && why->code != PBSE_SYSTEM)
        is_missing(x, why);
    else if (why)
        over(x, why);
    else if (unpack(x, &e) < 0)
        over(x, &e);
}

int image_in_begin(struct mom *m, struct run *r, image_in_fn *fn, struct err *e)
{
    struct image_in *x = calloc(1, sizeof *x);

    if (!x)
        return err_set(e, PBSE_SYSTEM, "no memory for the checkpoint of job %s", r->id);
    *x = (struct image_in){.m = m, .run = r, .fd = -1, .fn = fn};
    x->sis_fetch = sis_fetch_begin(m, r,
                                   &(struct sis_fetch_spec){.from = r->start.restart_from,
                                                            .files = files,
                                                            .n_files = 1,
                                                            .make = image_in_make,
                                                            .over = image_in_on_brought,
                                                            .arg = x},
                                   e);
    if (!x->sis_fetch) {
        free(x);
        return -1;
    }
    r->image_in = x;
    return 0;
}
