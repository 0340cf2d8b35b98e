/* The end of a job's files: delivered by its shepherd, or by an errand where there is none any more.
 *
 * `closing` is kept until one of the two has said how it went. A shepherd that dies in the middle leaves it unsaid whether a
 * file has arrived, so the errand does all of it again: delivering twice is harmless, losing output is not. The caller that waits is
 * told once. */
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "rpc_buf.h"
#include "rpc_conn.h"
#include "mom_run.h"
#include "shepherds_private.h"
#include "spawn.h"

/* ERRAND_AGAIN_MS: a file server that does not take the output is asked again at this pace for as long as it takes. */
enum { ERRAND_AGAIN_MS = 5000, RESULT_MAX = 1 << 20 };

static void report_closed(struct shepherd *sh, const struct shep_close_result *res)
{
    char text[] = "the errand did not say how it went";
    struct shep_close_result unknown = {.failed = 1, .text = text};

    if (!sh->has_closing)
        return;
    sh->has_closing = false;
    xdr_free((xdrproc_t)xdr_shep_close_args, &sh->closing);
    sh->closing = (struct shep_close_args){0};
    sh->closed(sh->closed_arg, sh->run, res ? res : &unknown);
}

static void shepherd_close_on_close_done(void *arg, const struct rpc_outcome *out)
{
    struct shepherd *sh = arg;

    if (out->status == RPC_ST_OK) {
        sh->leaving = true;
        report_closed(sh, out->result);
    }
    /* else it has gone in the middle: `check` runs the errand, which is harmless twice */
}

bool shepherd_say_close(struct shepherd *sh)
{
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_CLOSE},
                                       .xargs = (xdrproc_t)xdr_shep_close_args,
                                       .args = &sh->closing,
                                       .xres = (xdrproc_t)xdr_shep_close_result,
                                       .res_size = sizeof(struct shep_close_result)};

    if (sh->has_closing && !sh->close_said && sh->open && sh->run->ended)
        sh->close_said = rpc_conn_call(sh->conn, &spec, shepherd_close_on_close_done, sh, NULL) == 0;
    return sh->close_said;
}

/* ---- without it */
static void shepherd_close_on_errand_end(void *arg, int status)
{
    struct shepherd *sh = arg;
    struct shep_close_result res = {0};
    char *bytes = NULL;
    size_t n = 0;
    bool good;

    spawn_destroy(sh->errand);
    sh->errand = NULL;
    lseek(sh->errand_out, 0, SEEK_SET);
    good = file_read_fd(sh->errand_out, RESULT_MAX, &bytes, &n, NULL) == 0 &&
           rpc_buf_decode(bytes, n, (xdrproc_t)xdr_shep_close_result, &res) == 0;
    close(sh->errand_out);
    sh->errand_out = -1;
    report_closed(sh, good ? &res : NULL);
    xdr_free((xdrproc_t)xdr_shep_close_result, &res);
    free(bytes);
}

void shepherd_close_by_errand(struct shepherd *sh)
{
    char verb[] = "close";
    char *argv[] = {sh->all->home->shepherd, verb, sh->run->path, NULL};
    int fds[] = {-1, -1, -1};
    struct rpc_buf in;
    struct spawn_options o = spawn_own(argv, fds, 3);
    struct err e = {0};

    rpc_buf_init(&in);
    sh->errand_out = memfd_create("close", MFD_CLOEXEC);
    if (sh->errand_out >= 0 && rpc_buf_encode(&in, (xdrproc_t)xdr_shep_close_args, &sh->closing) == 0) {
        fds[1] = sh->errand_out;
        o.input = in.bytes;
        o.input_len = in.len;
        sh->errand = spawn_start(sh->all->loop, &o, shepherd_close_on_errand_end, sh, &e);
    }
    rpc_buf_fini(&in);
    if (sh->errand)
        return;
    log_err(LOGC_JOB, sh->run->id, &e, "cannot deliver the output, trying again");
    if (sh->errand_out >= 0)
        close(sh->errand_out);
    sh->errand_out = -1;
    loop_timer_set(sh->again, ERRAND_AGAIN_MS);
}
