/* Submission: SUBMIT with a random token, the script inside, or behind it in pieces before COMMIT.
 *
 * When the connection is lost before the answer, the client cannot know whether the job exists. Then the same token
 * is sent again to the same server, once it is back: the server answers with the identifier it has stored with the
 * token, or makes the job now. So a job is made once, however often it is asked for.
 *
 * The script is read from an open file, not from memory: a large one goes piece by piece, and must not
 * become shorter meanwhile. The split form takes small scripts only, as its one message is all it has. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

/* A server that is restarted is back within AGAIN_LIMIT_MS; a submission is sent again with the same token. */
enum { AGAIN_LIMIT_MS = 15000, TRIES = 3, FOREVER = -1 };

struct submission {
    ifl_submit_args args;
    int fd;       /* of the script, -1: none */
    char *script; /* IFL_SCRIPT_INLINE bytes, or IFL_SCRIPT_PIECE where it goes in pieces */
    bool pieces;
};

/* --- reading the script */
static ssize_t read_at(int fd, char *to, size_t n, off_t at)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = pread(fd, to + got, n - got, at + (off_t)got);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

static int bad_script(struct err *e, const char *path)
{
    return err_set(e, PBSE_BADSCRIPT, "cannot read the job script %s: %s", path, strerror(errno));
}

static int pbs_submit_open_script(struct submission *s, const char *path, struct err *e)
{
    struct stat st;
    ssize_t n;

    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return bad_script(e, path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, PBSE_BADSCRIPT, "the job script %s is not a regular file", path);
    s->args.script_length = (u_quad_t)st.st_size;
    s->pieces = st.st_size > IFL_SCRIPT_INLINE;
    s->script = malloc(s->pieces ? IFL_SCRIPT_PIECE : IFL_SCRIPT_INLINE);
    if (!s->script)
        return err_set(e, PBSE_SYSTEM, "no memory for the job script");
    if (s->pieces)
        return 0;
    n = read_at(s->fd, s->script, IFL_SCRIPT_INLINE, 0);
    if (n < 0)
        return bad_script(e, path);
    s->args.script.script_val = s->script;
    s->args.script.script_len = (u_int)n;
    s->args.script_length = (u_quad_t)n;
    return 0;
}

static void close_submission(struct submission *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s->script);
    free(s->args.attrs.wire_attrops_val);
}

/* 0, or -1 reported. */
static int pbs_submit_prepare(int c, struct submission *s, const struct attropl *attrib, const char *script,
                              const char *destination, const char *extend)
{
    struct err e;

    report_clear(c);
    *s = (struct submission){
        .args = {.destination = call_text(destination), .extend = call_text(extend)},
        .fd = -1,
    };
    if (call_attrops(c, attrib, &s->args.attrs) < 0)
        return -1;
    if (getrandom(s->args.token, sizeof s->args.token, 0) != (ssize_t)sizeof s->args.token) {
        (void)report_set(c, PBSE_SYSTEM, "no random token: %s", strerror(errno));
        return -1;
    }
    if (script && *script && pbs_submit_open_script(s, script, &e) < 0) {
        (void)report_err(c, &e);
        return -1;
    }
    return 0;
}

/* --- one attempt on one link. 0 answered (*r says how), -1 the connection failed. */
static int rpc(struct connection_link *l, uint32_t proc, xdrproc_t xargs, const void *args, xdrproc_t xres,
               void *res, struct err *e)
{
    struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = proc};

    return rpc_sync_call(connection_rpc(l), &id, xargs, args, xres, res, FOREVER, e);
}

static int send_piece(struct connection_link *l, const char *job, u_quad_t offset, char *bytes, size_t n,
                      ifl_result *r, struct err *e)
{
    ifl_script_args a = {
        .job = call_text(job),
        .offset = offset,
        .data = {.data_len = (u_int)n, .data_val = bytes},
    };

    xdr_free((xdrproc_t)xdr_ifl_result, (char *)r);
    *r = (ifl_result){0};
    return rpc(l, IFL_SCRIPT, (xdrproc_t)xdr_ifl_script_args, &a, (xdrproc_t)xdr_ifl_result, r, e);
}

static int send_pieces(struct connection_link *l, const struct submission *s, const char *job, ifl_result *r,
                       struct err *e)
{
    u_quad_t at = 0;

    while (at < s->args.script_length && r->code == 0) {
        u_quad_t left = s->args.script_length - at;
        size_t n = left < IFL_SCRIPT_PIECE ? (size_t)left : IFL_SCRIPT_PIECE;

        if (read_at(s->fd, s->script, n, (off_t)at) != (ssize_t)n)
            return err_set(e, PBSE_BADSCRIPT, "the job script became shorter while it was sent");
        if (send_piece(l, job, at, s->script, n, r, e) < 0)
            return -1;
        at += n;
    }
    return 0;
}

static int commit(struct connection_link *l, const char *job, ifl_result *r, struct err *e)
{
    ifl_job_args a = {.job = call_text(job), .extend = call_text(NULL)};

    xdr_free((xdrproc_t)xdr_ifl_result, (char *)r);
    *r = (ifl_result){0};
    return rpc(l, IFL_COMMIT, (xdrproc_t)xdr_ifl_job_args, &a, (xdrproc_t)xdr_ifl_result, r, e);
}

static int pbs_submit_attempt(struct connection_link *l, const struct submission *s, ifl_submit_result *r,
                              struct err *e)
{
    xdr_free((xdrproc_t)xdr_ifl_submit_result, (char *)r);
    *r = (ifl_submit_result){0};
    if (rpc(l, IFL_SUBMIT, (xdrproc_t)xdr_ifl_submit_args, &s->args, (xdrproc_t)xdr_ifl_submit_result, r, e) <
        0)
        return -1;
    if (!s->pieces || r->result.code != 0)
        return 0;
    if (send_pieces(l, s, r->job, &r->result, e) < 0)
        return -1;
    return r->result.code != 0 ? 0 : commit(l, r->job, &r->result, e);
}

static bool is_lost(const struct err *e)
{
    return e->code == ECONNRESET || e->code == EPIPE;
}

/* Attempts until one is answered. */
static int persist(int c, const struct submission *s, ifl_submit_result *r, struct err *e)
{
    struct connection_link *l = connection_hold(c, e);
    int rc = -1;

    for (int i = 0; l && i < TRIES; i++) {
        struct connection_link *next;

        rc = pbs_submit_attempt(l, s, r, e);
        if (rc == 0 || !is_lost(e))
            break;
        next = connection_again(c, l, AGAIN_LIMIT_MS, e);
        connection_release(l);
        l = next;
        if (!l)
            e->code =
                PBSE_PROTOCOL; /* as of each call whose connection is lost; the text says why it cannot be made again */
    }
    connection_release(l);
    return rc;
}

static char *pbs_submit_job_of(int c, const ifl_submit_result *r)
{
    char *job = strdup(r->job);

    if (!job)
        (void)report_set(c, PBSE_SYSTEM, "no memory for the identifier of job %s", r->job);
    return job;
}

char *pbs_submit(int c, struct attropl *attrib, const char *script, const char *destination,
                 const char *extend)
{
    ifl_submit_result r = {0};
    struct submission s;
    char *job = NULL;
    struct err e;

    if (pbs_submit_prepare(c, &s, attrib, script, destination, extend) == 0) {
        if (persist(c, &s, &r, &e) < 0)
            (void)report_err(c, &e);
        else if (report_result(c, &r.result) == 0)
            job = pbs_submit_job_of(c, &r);
    }
    close_submission(&s);
    xdr_free((xdrproc_t)xdr_ifl_submit_result, (char *)&r);
    return job;
}

/* --- in two halves */
int pbs_submit_send(int c, struct attropl *attrib, const char *script, const char *destination,
                    const char *extend)
{
    struct submission s;
    int ticket = -1;

    if (pbs_submit_prepare(c, &s, attrib, script, destination, extend) == 0) {
        if (s.pieces)
            (void)report_set(c, PBSE_BADSCRIPT, "the job script %s is longer than %d bytes: use pbs_submit()",
                             script, IFL_SCRIPT_INLINE);
        else
            ticket = call_send(c, IFL_SUBMIT, (xdrproc_t)xdr_ifl_submit_args, &s.args,
                               (xdrproc_t)xdr_ifl_submit_result);
    }
    close_submission(&s);
    return ticket;
}

char *pbs_submit_recv(int c, int ticket)
{
    ifl_submit_result r = {0};
    char *job = NULL;

    if (call_recv(c, ticket, (xdrproc_t)xdr_ifl_submit_result, &r) == 0)
        job = pbs_submit_job_of(c, &r);
    xdr_free((xdrproc_t)xdr_ifl_submit_result, (char *)&r);
    return job;
}

char *pbs_submit_with_cred(int c, struct attropl *attrib, const char *script, const char *destination,
                           const char *extend, int cred_type, size_t cred_len, char *cred)
{
    (void)cred_type, (void)cred;
    if (cred_len == 0)
        return pbs_submit(c, attrib, script, destination, extend);
    (void)call_unsupported(c, "a job with a credential");
    return NULL;
}
