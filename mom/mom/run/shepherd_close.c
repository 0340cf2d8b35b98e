/* The end of a job's files: its shepherd delivers them, or an errand (`pbs_shepherd close`) where there is none any more.
 *
 * act_leave asks once, after the epilogue. The shepherd is told when it listens and has recorded the end; it answers and leaves.
 * If it is gone, or goes before it has answered, shepherds_check starts the errand, with the arguments on its standard input and
 * the result in a memfd. A shepherd that dies in the middle leaves it open whether a file has arrived, so the errand does all of
 * it again: delivering twice is harmless, losing output is not.
 *
 * `closing` is kept until one of the two has answered; sh->closed is called once. An errand that cannot be started is tried again
 * without an end, since the output is nowhere else. */
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

/* ERRAND_AGAIN_MS: the pause after an errand that could not be started (no memory, no process); a choice, since such a shortage
 * lasts for seconds. RESULT_MAX bounds its answer, which has a line for each file that could not be delivered. */
enum { ERRAND_AGAIN_MS = 5000, RESULT_MAX = 1 << 20 };

static void report_closed(struct shepherd *sh, const struct shep_close_result *res)
{
    char text[] = "pbs_shepherd close ended without a result";
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
    /* Else it is gone: shepherds_check starts the errand. */
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
    struct byte_buf in;
    struct spawn_options o = spawn_own(argv, fds, 3);
    struct err e = {0};

    byte_buf_init(&in);
    sh->errand_out = memfd_create("close", MFD_CLOEXEC);
    if (sh->errand_out >= 0 && rpc_buf_encode(&in, (xdrproc_t)xdr_shep_close_args, &sh->closing) == 0) {
        fds[1] = sh->errand_out;
        o.input = in.bytes;
        o.input_len = in.len;
        sh->errand = spawn_start(sh->all->loop, &o, shepherd_close_on_errand_end, sh, &e);
    }
    byte_buf_fini(&in);
    if (sh->errand)
        return;
    log_err(LOGC_JOB, sh->run->id, &e,
            "pbs_shepherd close cannot be started to deliver the files; tried again in %d s",
            ERRAND_AGAIN_MS / 1000);
    if (sh->errand_out >= 0)
        close(sh->errand_out);
    sh->errand_out = -1;
    loop_timer_set(sh->again, ERRAND_AGAIN_MS);
}
