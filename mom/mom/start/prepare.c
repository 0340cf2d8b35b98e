/* From START to the order. See prepare.h.
 *
 *   prepare_take     the run is in the table and has a directory; START is answered after this
 *   prepare_begin    the owner is known, or asked of a worker
 *     ^image         START names an image on another host; prepare_image_over comes back to prepare_begin
 *     make_order     and what START holds of the script is written
 *     ^fetch         once for each piece that is missing; prepare_piece writes it
 *   complete         the order is written: from now on a MOM that is started again finds the run
 *   ^ready           or, from any step, ^failed with r->failure filled
 *
 * The owner is asked of a worker, a long script comes in pieces; meanwhile the run
 * is there, so that every order about it finds it. An answer (of the worker, or a piece) carries the run's
 * numbers and not its address, and looks it up again.
 *
 * The order is written last, when the script is whole: a directory without a whole order is not taken for a run after a
 * crash. The script's file may be that of an earlier run, used again if it is plainly the same owner's. While
 * r->fetch is set it has the order, made but not written. */
#include "prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "cgroup_limits.h"
#include "exit_status.h"
#include "mom_config.h"
#include "file.h"
#include "mom_home.h"
#include "image_in.h"
#include "log.h"
#include "names.h"
#include "order_make.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "rundir.h"
#include "rundir_pool.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192 };

struct prepare {
    const struct home *home;
    struct runs *runs;
    struct names *names;
    struct rundir_pool *rundir_pool;
    struct prepare_hooks hooks;
    struct prepare_waiting *first; /* for destroy */
};

/* A look-up of the owner of this run is under way. */
struct prepare_waiting {
    struct prepare *p;
    struct prepare_waiting *next;
    wire_job job;
    unsigned run;
};

struct prepare_fetch {
    int fd;       /* of the script; -1: not open */
    uint64_t got; /* bytes of it that are written: where the next piece begins */
    struct shep_order order;
};

struct prepare *prepare_create(const struct home *h, struct runs *runs, struct names *names,
                               struct rundir_pool *pool, const struct prepare_hooks *hooks)
{
    struct prepare *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct prepare){.home = h, .runs = runs, .names = names, .rundir_pool = pool, .hooks = *hooks};
    return p;
}

static void waiting_free(struct prepare_waiting *w)
{
    for (struct prepare_waiting **at = &w->p->first; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    free(w);
}

void prepare_destroy(struct prepare *p)
{
    if (!p)
        return;
    while (p->first)
        waiting_free(p->first);
    free(p);
}

static int copy_start(const struct exec_start_args *from, struct exec_start_args *to)
{
    struct byte_buf b;
    int rc;

    byte_buf_init(&b);
    rc = rpc_buf_encode(&b, (xdrproc_t)xdr_exec_start_args, from);
    if (rc == 0)
        rc = rpc_buf_decode(b.bytes, b.len, (xdrproc_t)xdr_exec_start_args, to);
    byte_buf_fini(&b);
    return rc;
}

static unsigned count_cpus(const struct exec_start_args *a)
{
    const struct exec_job_host *h = &a->hosts.hosts_val[a->my_host];
    unsigned n = 0;

    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        for (u_int k = 0; k < h->chunks.chunks_val[i].resources.resources_len; k++)
            if (strcmp(h->chunks.chunks_val[i].resources.resources_val[k].name, "ncpus") == 0)
                n += (unsigned)strtoul(h->chunks.chunks_val[i].resources.resources_val[k].value, NULL, 10);
    return n;
}

/* The file of an earlier run, if it is the same owner's and has no other name. -1: there is none that we could use, or a
 * process of the owner's still runs it. */
static int open_old_script(const struct shep_order *o, uint64_t length)
{
    int fd = open(o->script, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == o->uid && st.st_gid == o->gid &&
        st.st_nlink == 1 && (st.st_mode & 07777) == 0700 && ftruncate(fd, (off_t)length) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_script(const struct shep_order *o, uint64_t length, struct err *e)
{
    int fd = open_old_script(o, length);

    if (fd >= 0)
        return fd;
    unlink(o->script);
    fd = open(o->script, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        return err_errno(e, errno, "cannot write the script of job %s", o->id);
    if (fchmod(fd, 0700) < 0 || (o->change_user && fchown(fd, o->uid, o->gid) < 0)) {
        close(fd);
        return err_errno(e, errno, "cannot give the script of job %s to %s", o->id, o->user);
    }
    return fd;
}

static void fetch_free(struct run *r)
{
    struct prepare_fetch *f = r->fetch;

    if (!f)
        return;
    r->fetch = NULL;
    if (f->fd >= 0)
        close(f->fd);
    xdr_free((xdrproc_t)xdr_shep_order, &f->order);
    free(f);
}

void prepare_forget(struct run *r)
{
    fetch_free(r);
}

/* The script is complete. The run exists from the moment its order is on disk. */
static int complete(struct run *r, struct err *e)
{
    int rc = rundir_write_order(r->path, &r->fetch->order, e);

    if (rc == 0) {
        r->jobdir = r->fetch->order.cwd[0] ? strdup(r->fetch->order.cwd) : NULL;
        r->owner_home = r->fetch->order.home; /* ownership moves; with it there is something to close */
        r->fetch->order.home = NULL;
    }
    fetch_free(r);
    return rc;
}

static int write_script(struct run *r, struct err *e)
{
    struct prepare_fetch *f = r->fetch;
    const struct exec_start_args *a = &r->start;

    if (!f->order.script[0])
        return complete(r, e);
    f->fd = open_script(&f->order, a->script_length, e);
    if (f->fd < 0 || file_write_all(f->fd, a->script.script_val, a->script.script_len, e) < 0)
        return -1;
    f->got = a->script.script_len;
    return f->got >= a->script_length ? complete(r, e) : 0;
}

static int make_order(struct prepare *p, struct run *r, const struct names_user *u, struct err *e)
{
    r->fetch = calloc(1, sizeof *r->fetch);
    if (!r->fetch)
        return err_set(e, PBSE_SYSTEM, "no memory for job %s", r->id);
    r->fetch->fd = -1;
    run_set_owner(r, u->uid, u->gid);
    cgroup_limits_choose_cpus(p->home, p->runs, r);
    if (order_make(p->home, r, u, &r->fetch->order, e) < 0)
        return -1;
    return write_script(r, e);
}

static void prepare_continue(struct prepare *p, struct run *r)
{
    free(r->start.script.script_val);
    r->start.script.script_val = NULL;
    r->start.script.script_len = 0;
    if (r->fetch)
        p->hooks.fetch(p->hooks.arg, r, r->fetch->got);
    else
        p->hooks.ready(p->hooks.arg, r);
}

/* The end of a job that cannot be prepared. What is missing here may be present on another host, so it is tried again. */
static const struct {
    int code, status;
} failures[] = {{PBSE_BADUSER, EXIT_STATUS_BAD_USER},
                {PBSE_BADGRP, EXIT_STATUS_BAD_USER},
                {PBSE_BADATVAL, EXIT_STATUS_SETUP},
                {PBSE_CKPSHORT, EXIT_STATUS_BAD_RESTART},
                {EBADMSG, EXIT_STATUS_SETUP}};

static void prepare_fail(struct prepare *p, struct run *r, const struct err *why)
{
    fetch_free(r);
    r->failure = (struct run_failure){.status = EXIT_STATUS_RETRY, .reason = EXEC_END_SETUP};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].code == why->code)
            r->failure.status = failures[i].status;
    snprintf(r->failure.text, sizeof r->failure.text, "%s", why->text);
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", why->text);
    p->hooks.failed(p->hooks.arg, r);
}

/* The server has checked the user root against acl_roots. It cannot know which other names have the number 0 on this
 * host. */
static int check_root(const struct home *h, const struct names_user *u, struct err *e)
{
    if (u->uid != 0 || geteuid() != 0)
        return 0;
    if (h->config->reject_root_scripts)
        return err_set(e, PBSE_BADUSER,
                       "Bad UID for job execution: %s is root, and this host has $reject_root_scripts",
                       u->name);
    if (strcmp(u->name, "root") != 0)
        return err_set(
            e, PBSE_BADUSER,
            "Bad UID for job execution: %s has the number 0 on this host; jobs of root run as root alone",
            u->name);
    return 0;
}

static int check_user(const struct home *h, const char *name, const struct names_user *u,
                      const struct err *why, struct err *e)
{
    if (!u && why && why->code == ENOENT)
        return err_set(e, PBSE_BADUSER, "No Password Entry for User %s", name);
    if (!u)
        return err_set(e, PBSE_SYSTEM, "user %s cannot be looked up: %s", name, why ? why->text : "");
    if (geteuid() != 0 && u->uid != geteuid())
        return err_set(e, PBSE_BADUSER, "this MOM is not root and runs jobs of its own user only, not of %s",
                       name);
    return check_root(h, u, e);
}

static void prepare_with_user(struct prepare *p, struct run *r, const struct names_user *u,
                              const struct err *why)
{
    struct err e = {0};

    if (check_user(p->home, r->start.user, u, why, &e) < 0) {
        prepare_fail(p, r, &e);
    } else if (image_in_is_wanted(r)) {
        run_set_owner(r, u->uid, u->gid);
        p->hooks.image(p->hooks.arg, r);
    } else if (make_order(p, r, u, &e) < 0) {
        prepare_fail(p, r, &e);
    } else {
        prepare_continue(p, r);
    }
}

void prepare_image_over(struct prepare *p, struct run *r, const struct err *why)
{
    if (r->slot.state != RUN_PREPARING)
        return;
    if (why)
        prepare_fail(p, r, why);
    else
        prepare_begin(p, r);
}

/* The run may have been told to end meanwhile, or be forgotten. */
static void prepare_on_user(void *arg, const struct names_user *u, const struct err *why)
{
    struct prepare_waiting *w = arg;
    struct prepare *p = w->p;
    struct run *r = run_find(p->runs, &w->job, w->run);

    waiting_free(w);
    if (r && r->slot.state == RUN_PREPARING)
        prepare_with_user(p, r, u, why);
}

void prepare_begin(struct prepare *p, struct run *r)
{
    const struct names_user *known = names_find_user(p->names, r->start.user);
    struct prepare_waiting *w;
    struct err e = {0};

    if (known) {
        prepare_with_user(p, r, known, NULL);
        return;
    }
    w = calloc(1, sizeof *w);
    if (!w) {
        err_set(&e, PBSE_SYSTEM, "no memory for job %s", r->id);
        prepare_fail(p, r, &e);
        return;
    }
    *w = (struct prepare_waiting){.p = p, .next = p->first, .job = run_job(r), .run = r->key.run};
    p->first = w;
    names_ask_user(p->names, r->start.user, prepare_on_user, w);
}

static int make_directory(const struct prepare *p, const struct run *r, struct err *e)
{
    struct strbuf script;
    int rc;

    strbuf_init(&script, PATH_LEN_MAX);
    strbuf_addf(&script, "%s.SC", r->id);
    rc = rundir_pool_take(p->rundir_pool, r->path, r->start.user, script.s, e);
    strbuf_fini(&script);
    return rc;
}

struct run *prepare_take(struct prepare *p, const struct exec_start_args *a, struct err *e)
{
    struct run_key key = {.seq = a->job.seq, .index = a->job.index, .run = a->run};
    struct strbuf path;
    struct run *r;

    strbuf_init(&path, PATH_LEN_MAX);
    rundir_path(&path, p->home->jobs, a->id, a->run);
    r = run_add(p->runs, &key, a->id, path.s);
    strbuf_fini(&path);
    if (!r) {
        err_set(e, PBSE_SYSTEM, "no memory for job %s", a->id);
        return NULL;
    }
    r->has_start = true;
    if (copy_start(a, &r->start) == 0 && make_directory(p, r, e) == 0) {
        r->ncpus = count_cpus(&r->start);
        return r;
    }
    if (!e->code)
        err_set(e, PBSE_SYSTEM, "no memory for job %s", a->id);
    e->code = PBSE_SYSTEM;
    run_drop(p->runs, r);
    return NULL;
}

void prepare_again(struct prepare *p, struct run *r)
{
    if (r->slot.state == RUN_PREPARING && r->fetch)
        p->hooks.fetch(p->hooks.arg, r, r->fetch->got);
}

void prepare_piece(struct prepare *p, struct run *r, const void *bytes, size_t n)
{
    struct prepare_fetch *f = r->fetch;
    struct err e = {0};
    int rc = 0;

    if (!f)
        return;
    if (n == 0 || f->got + n > r->start.script_length)
        rc = err_set(&e, EBADMSG, "the script of job %s came with %llu of %llu bytes", r->id,
                     (unsigned long long)(f->got + n), (unsigned long long)r->start.script_length);
    else
        rc = file_write_all(f->fd, bytes, n, &e);
    f->got += n;
    if (rc == 0 && f->got == r->start.script_length)
        rc = complete(r, &e);
    if (rc == 0) {
        prepare_continue(p, r);
        return;
    }
    prepare_fail(p, r, &e);
}
