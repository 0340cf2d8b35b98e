/* The order matters. Files are staged out first, while everything is there; what was brought in goes next;
 * the private directory goes only when all of it has been copied. Output is delivered last. Each step
 * may have been done already by a shepherd that died in the middle. */
#include "closing.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <shep.h>

#include "job_dirs.h"
#include "copies.h"
#include "deliver.h"
#include "errand.h"
#include "file.h"
#include "rpc_buf.h"
#include "stage.h"

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r)
{
    struct copies all;

    copies_init(&all);
    stage_out(o, &a->out, &all);
    stage_remove(o, &a->brought);
    if (!all.failed && !a->keep_jobdir)
        stage_remove_jobdir(o);
    job_dirs_put_away(path, o);
    deliver_all(o, a, &all);
    copies_result(&all, r);
}

/* ---- as an errand ------------------------------------------------------------------------------------ */

enum { ARGS_MAX = 4 << 20 };

static int closing_with(const char *path, struct shep_order *o, const char *bytes, size_t n, struct err *e)
{
    struct shep_close_args a = {0};
    struct shep_close_result r = {0};
    struct byte_buf out;
    int rc = -1;

    byte_buf_init(&out);
    if (rpc_buf_decode(bytes, n, (xdrproc_t)xdr_shep_close_args, &a) < 0) {
        err_set(e, EINVAL, "the arguments on stdin are not whole");
    } else {
        closing_do(path, o, &a, &r);
        if (rpc_buf_encode(&out, (xdrproc_t)xdr_shep_close_result, &r) == 0)
            rc = file_write_all(STDOUT_FILENO, out.bytes, out.len, e);
    }
    byte_buf_fini(&out);
    xdr_free((xdrproc_t)xdr_shep_close_args, &a);
    xdr_free((xdrproc_t)xdr_shep_close_result, &r);
    return rc;
}

int closing_errand(const char *path)
{
    return errand_with_order(path, ARGS_MAX, closing_with);
}
