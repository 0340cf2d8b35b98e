/* The shepherd that held the run is gone, so the MOM starts this to do what that one would have done on
 * request. The run's order is read from its directory; the rest comes by stdin and goes by stdout, as in the
 * call that it replaces. Errors of closing itself are in the result; the exit code tells only whether there
 * is one. */
#include "close_errand.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <shep.h>

#include "closing.h"
#include "errand.h"
#include "file.h"
#include "rpc_buf.h"
#include "rundir.h"

enum { ARGS_MAX = 4 << 20 };

static int close_with(const char *path, struct shep_order *o, const char *bytes, size_t n, struct err *e)
{
    struct shep_close_args a = {0};
    struct shep_close_result r = {0};
    struct rpc_buf out;
    int rc = -1;

    rpc_buf_init(&out);
    if (rpc_buf_decode(bytes, n, (xdrproc_t)xdr_shep_close_args, &a) < 0) {
        err_set(e, EINVAL, "the arguments on stdin are not whole");
    } else {
        closing_do(path, o, &a, &r);
        if (rpc_buf_encode(&out, (xdrproc_t)xdr_shep_close_result, &r) == 0)
            rc = file_write_all(STDOUT_FILENO, out.bytes, out.len, e);
    }
    rpc_buf_fini(&out);
    xdr_free((xdrproc_t)xdr_shep_close_args, &a);
    xdr_free((xdrproc_t)xdr_shep_close_result, &r);
    return rc;
}

int close_errand(const char *path)
{
    return errand_with_order(path, ARGS_MAX, close_with);
}
