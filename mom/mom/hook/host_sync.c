/* Files of hooks come to this host. See host_sync.h.
 *
 * Everything is fetched into memory first, checked against its digest, then written: a transfer that fails changes nothing. The
 * order is answered with what was done, "+h.HK -g.PY", for the server's log. A host with $reject_root_scripts takes no file, but
 * removes those that the server no longer has. */
#include "host_sync.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>

#include "exec_service.h"
#include "file.h"
#include "hook_files.h"
#include "host_files.h"
#include "host_hooks.h"
#include "log.h"
#include "mom.h"
#include "mom_config.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "strbuf.h"

enum { FILE_MODE = 0600, SAID_MAX = 60000 };

struct host_sync_file {
    exec_hook_file is; /* name owned */
    char *bytes;       /* NULL: it is here already, as it is to be */
    size_t got;
    bool fetch;
};

struct host_sync {
    struct host_hooks *x;
    struct rpc_request *request; /* NULL: nothing is under way */
    struct host_sync_file *files;
    size_t n, at; /* the one that is fetched */
    bool refused; /* a file was new, and $reject_root_scripts is set */
    unsigned turn;
    void (*over)(struct mom *m);
};

struct host_sync_call {
    struct host_sync *s;
    unsigned turn;
};

static void host_sync_next(struct host_sync *s);

static void host_sync_forget(struct host_sync *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->files[i].is.name);
        free(s->files[i].bytes);
    }
    free(s->files);
    s->files = NULL;
    s->n = s->at = 0;
}

static void host_sync_answer(struct host_sync *s, int code, const char *text)
{
    struct rpc_request *q = s->request;

    s->request = NULL;
    s->turn++;
    host_sync_forget(s);
    exec_service_taken(q, code, text);
    rpc_request_unref(q);
}

static void host_sync_end(struct host_sync *s, int code, const char *text)
{
    host_sync_answer(s, code, text);
    if (s->over)
        s->over(s->x->mom);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static void host_sync_say(struct strbuf *said, char what, const char *name)
{
    if (said->len + strlen(name) + 3 > SAID_MAX)
        return;
    if (said->len)
        strbuf_add_char(said, ' ');
    strbuf_add_char(said, what);
    strbuf_add(said, name);
}

static bool host_sync_wants(const struct host_sync *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i].is.name, name) == 0)
            return true;
    return false;
}

static void host_sync_remove_others(const struct host_sync *s, int dir, struct strbuf *said)
{
    const struct host_hooks *x = s->x;

    for (size_t i = 0; i < x->n_files; i++) {
        const char *name = x->files[i].name;

        if (host_sync_wants(s, name))
            continue;
        unlinkat(dir, name, 0);
        log_event(LOGC_HOOK, LOGE_DEBUG2, name, "delete hook-related file request received");
        host_sync_say(said, '-', name);
    }
}

static int host_sync_write(const struct host_sync *s, int dir, struct strbuf *said, struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct host_sync_file *f = &s->files[i];

        if (!f->fetch)
            continue;
        if (file_write_quick(dir, f->is.name, f->bytes ? f->bytes : "", f->got, FILE_MODE, e) < 0)
            return -1;
        host_sync_say(said, '+', f->is.name);
    }
    return 0;
}

static void host_sync_apply(struct host_sync *s)
{
    struct strbuf said;
    struct err e;
    int dir = file_open_dir(AT_FDCWD, s->x->dir, &e), rc = -1;

    strbuf_init(&said, SAID_MAX + 16);
    if (dir >= 0 && (rc = host_sync_write(s, dir, &said, &e)) == 0)
        host_sync_remove_others(s, dir, &said);
    if (dir >= 0)
        close(dir);
    host_files_load(s->x); /* also after a failure: it says what is there */
    if (rc < 0)
        log_err(LOGC_HOOK, "pbs_mom", &e, "hooks of the server cannot be kept");
    if (rc < 0)
        host_sync_end(s, PBSE_SYSTEM, e.text);
    else if (s->refused)
        host_sync_end(s, PBSE_MOMREJECT, "$reject_root_scripts is set");
    else
        host_sync_end(s, 0, strbuf_str(&said));
    strbuf_fini(&said);
}

/* ---- fetching ---------------------------------------------------------------------------------------- */

static int host_sync_check(const struct host_sync_file *f)
{
    char digest[EXEC_HOOK_DIGEST];

    hook_file_digest(f->bytes ? f->bytes : "", f->got, digest);
    return memcmp(digest, f->is.digest, sizeof digest) == 0 ? 0 : -1;
}

static void host_sync_take_piece(struct host_sync *s, const exec_hook_piece_result *p)
{
    struct host_sync_file *f = &s->files[s->at];
    size_t n = p->data.data_len;

    if (p->code || n > f->is.size - f->got || (n == 0 && f->got < f->is.size)) {
        host_sync_end(s, PBSE_HOOKERROR, p->code ? p->text : "a piece of a hook file does not fit");
        return;
    }
    memcpy(f->bytes + f->got, p->data.data_val, n);
    f->got += n;
    if (f->got < f->is.size) {
        host_sync_next(s);
        return;
    }
    if (host_sync_check(f) < 0) {
        host_sync_end(s, PBSE_HOOKERROR, "a hook file is not what its digest says");
        return;
    }
    s->at++;
    host_sync_next(s);
}

static void host_sync_on_piece(void *arg, const struct rpc_outcome *out)
{
    struct host_sync_call c = *(struct host_sync_call *)arg;

    free(arg);
    if (c.turn != c.s->turn || !c.s->request)
        return;
    if (out->status == RPC_ST_OK)
        host_sync_take_piece(c.s, out->result);
    else
        host_sync_end(c.s, PBSE_NORELYMOM, "a piece of a hook file has not come");
}

static int host_sync_ask(struct host_sync *s, struct err *e)
{
    const struct host_sync_file *f = &s->files[s->at];
    struct rpc_conn *conn = exec_service_conn(s->x->mom->service);
    exec_hook_piece_args a = {.file = f->is.name, .offset = f->got};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_GET_HOOK},
                                       .xargs = (xdrproc_t)xdr_exec_hook_piece_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_hook_piece_result,
                                       .res_size = sizeof(exec_hook_piece_result)};
    struct host_sync_call *c = malloc(sizeof *c);

    memcpy(a.digest, f->is.digest, sizeof a.digest);
    if (!c || !conn) {
        free(c);
        return err_set(e, PBSE_NORELYMOM, "there is no server to ask for hook files");
    }
    *c = (struct host_sync_call){s, s->turn};
    if (rpc_conn_call(conn, &spec, host_sync_on_piece, c, e) == 0)
        return 0;
    free(c);
    return -1;
}

static void host_sync_next(struct host_sync *s)
{
    struct err e;

    while (s->at < s->n && (!s->files[s->at].fetch || !s->files[s->at].is.size))
        s->at++;
    if (s->at == s->n) {
        host_sync_apply(s);
        return;
    }
    if (!s->files[s->at].bytes && !(s->files[s->at].bytes = malloc(s->files[s->at].is.size)))
        host_sync_end(s, PBSE_SYSTEM, "no memory for hook files");
    else if (host_sync_ask(s, &e) < 0)
        host_sync_end(s, e.code, e.text);
}

/* ---- the order --------------------------------------------------------------------------------------- */

static int host_sync_plan(struct host_sync *s, const exec_hooks_args *a, struct err *e)
{
    const struct host_hooks *x = s->x;
    bool refuses = x->mom->home.config->reject_root_scripts;

    s->refused = false;
    s->files = calloc(a->files.files_len + 1, sizeof *s->files);
    if (!s->files)
        return err_set(e, PBSE_SYSTEM, "no memory for hook files");
    for (u_int i = 0; i < a->files.files_len; i++) {
        const exec_hook_file *want = &a->files.files_val[i],
                             *have = hook_files_find(x->files, x->n_files, want->name);
        struct host_sync_file *f = &s->files[s->n];

        if (!hook_file_is_name(want->name) || want->size > HOOK_CONTENT_MAX)
            return err_set(e, PBSE_IVALREQ, "%s is not a hook file", want->name);
        f->is = *want;
        f->is.name = strdup(want->name);
        if (!f->is.name)
            return err_set(e, PBSE_SYSTEM, "no memory for hook files");
        s->n++;
        bool is_new = !have || memcmp(have->digest, want->digest, EXEC_HOOK_DIGEST) != 0;

        s->refused |= is_new && refuses;
        f->fetch = is_new && !refuses;
        if (f->fetch)
            log_event(LOGC_HOOK, LOGE_DEBUG2, want->name, "copy hook-related file request received");
    }
    return 0;
}

void host_sync_take(void *mom, const void *args, struct rpc_request *q)
{
    struct mom *m = mom;
    struct host_sync *s = m->hooks->sync;
    struct err e;

    if (s->request) /* runs wait on, for this one */
        host_sync_answer(s, PBSE_HOOKERROR, "another list of hooks has come");
    s->request = rpc_request_ref(q);
    if (host_sync_plan(s, args, &e) < 0)
        host_sync_end(s, e.code, e.text);
    else
        host_sync_next(s);
}

bool host_sync_is_busy(const struct mom *m)
{
    return m->hooks && m->hooks->sync->request;
}

void host_sync_on_over(struct mom *m, void (*fn)(struct mom *m))
{
    m->hooks->sync->over = fn;
}

struct host_sync *host_sync_create(struct host_hooks *x)
{
    struct host_sync *s = calloc(1, sizeof *s);

    if (s)
        s->x = x;
    return s;
}

void host_sync_destroy(struct host_sync *s)
{
    if (!s)
        return;
    if (s->request)
        rpc_request_unref(s->request);
    host_sync_forget(s);
    free(s);
}
