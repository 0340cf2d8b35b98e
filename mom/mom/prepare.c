/* From START to the order. The owner is asked of a worker, a long script comes in pieces: so a START waits in a small
 * object of its own until it is known whether it is taken. */
#include "prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "home.h"
#include "names.h"
#include "order_make.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "run.h"
#include "rundir.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, EXIT_SETUP = -1 };

struct prepare {
    const struct home *home;
    struct runs *runs;
    struct names *names;
    struct prepare_hooks hooks;
    struct waiting *first; /* for destroy */
};

/* A START whose owner is being asked for. */
struct waiting {
    struct prepare *p;
    struct waiting *next;
    struct exec_start_args start;
    prepare_fn *fn;
    void *arg;
};

struct prepare_fetch {
    int fd;
    uint64_t got;
    struct shep_order order;
};

struct prepare *prepare_create(const struct home *h, struct runs *runs, struct names *names,
                               const struct prepare_hooks *hooks)
{
    struct prepare *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct prepare){.home = h, .runs = runs, .names = names, .hooks = *hooks};
    return p;
}

static void waiting_free(struct waiting *w)
{
    for (struct waiting **at = &w->p->first; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    xdr_free((xdrproc_t)xdr_exec_start_args, &w->start);
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
    struct rpc_buf b;
    int rc;

    rpc_buf_init(&b);
    rc = rpc_buf_encode(&b, (xdrproc_t)xdr_exec_start_args, from);
    if (rc == 0)
        rc = rpc_buf_decode(b.bytes, b.len, (xdrproc_t)xdr_exec_start_args, to);
    rpc_buf_fini(&b);
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

static int open_script(const struct shep_order *o, struct err *e)
{
    int fd = open(o->script, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);

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

/* The script is whole: from the moment the order is there, the run is. */
static int complete(struct run *r, struct err *e)
{
    int rc = rundir_write_order(r->path, &r->fetch->order, e);

    if (rc == 0) {
        r->owner_home = r->fetch->order.home; /* ownership moves */
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
    f->fd = open_script(&f->order, e);
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
    if (order_make(p->home, r, u, &r->fetch->order, e) < 0)
        return -1;
    if (rundir_create(r->path, e) < 0 || write_script(r, e) < 0) {
        e->code = PBSE_SYSTEM;
        return -1;
    }
    return 0;
}

static struct run *add_run(struct prepare *p, struct waiting *w, struct err *e)
{
    struct run_key key = {.seq = w->start.job.seq, .index = w->start.job.index, .run = w->start.run};
    struct strbuf path;
    struct run *r;

    strbuf_init(&path, PATH_LEN_MAX);
    rundir_path(&path, p->home->jobs, w->start.id, w->start.run);
    r = run_add(p->runs, &key, w->start.id, path.s);
    strbuf_fini(&path);
    if (!r) {
        err_set(e, PBSE_SYSTEM, "no memory for job %s", w->start.id);
        return NULL;
    }
    r->start = w->start; /* ownership moves */
    r->has_start = true;
    w->start = (struct exec_start_args){0};
    r->ncpus = count_cpus(&r->start);
    return r;
}

static void go_on(struct prepare *p, struct run *r)
{
    free(r->start.script.script_val);
    r->start.script.script_val = NULL;
    r->start.script.script_len = 0;
    if (r->fetch)
        p->hooks.fetch(p->hooks.arg, r, r->fetch->got);
    else
        p->hooks.ready(p->hooks.arg, r);
}

static void with_user(struct waiting *w, const struct names_user *u)
{
    struct prepare *p = w->p;
    prepare_fn *fn = w->fn;
    void *arg = w->arg;
    struct err e = {0};
    struct run *r = run_find(p->runs, &w->start.job, w->start.run);

    if (r) { /* said twice, over two connections, before we knew its owner */
        waiting_free(w);
        fn(arg, r, NULL);
        return;
    }
    r = add_run(p, w, &e);
    waiting_free(w);
    if (r && make_order(p, r, u, &e) < 0) {
        fetch_free(r);
        rundir_remove(r->path, NULL);
        run_drop(p->runs, r);
        r = NULL;
    }
    fn(arg, r, r ? NULL : &e);
    if (r)
        go_on(p, r);
}

static void on_user(void *arg, const struct names_user *u, const struct err *why)
{
    struct waiting *w = arg;
    struct err e = {0};

    if (!u && why && why->code == ENOENT)
        err_set(&e, PBSE_BADUSER, "No Password Entry for User %s", w->start.user);
    else if (!u)
        err_set(&e, PBSE_SYSTEM, "user %s cannot be looked up: %s", w->start.user, why ? why->text : "");
    else if (geteuid() != 0 && u->uid != geteuid())
        err_set(&e, PBSE_BADUSER, "this MOM is not root and runs jobs of its own user only, not of %s",
                w->start.user);
    if (!e.code) {
        with_user(w, u);
        return;
    }
    w->fn(w->arg, NULL, &e);
    waiting_free(w);
}

void prepare_take(struct prepare *p, const struct exec_start_args *a, prepare_fn *fn, void *arg)
{
    struct waiting *w = calloc(1, sizeof *w);
    const struct names_user *known;
    struct err e = {0};

    if (!w || copy_start(a, &w->start) < 0) {
        free(w);
        err_set(&e, PBSE_SYSTEM, "no memory for job %s", a->id);
        fn(arg, NULL, &e);
        return;
    }
    w->p = p;
    w->fn = fn;
    w->arg = arg;
    w->next = p->first;
    p->first = w;
    known = names_find_user(p->names, w->start.user);
    if (known)
        on_user(w, known, NULL);
    else
        names_ask_user(p->names, w->start.user, on_user, w);
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
        go_on(p, r);
        return;
    }
    fetch_free(r);
    r->failure = (struct run_failure){.status = EXIT_SETUP, .reason = EXEC_END_SETUP};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", e.text);
    p->hooks.failed(p->hooks.arg, r);
}
