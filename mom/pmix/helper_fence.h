#ifndef HELPER_FENCE_H
#define HELPER_FENCE_H
/* Fences over several hosts: what each host's ranks have published is put together by the helper of the first host that takes part,
 * and fetched from there (launch.x). On one host the data go straight back. Loop thread only. */
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

#include <launch.h>

#include "helper_queue.h"

struct helper;
struct helper_launch;

/* What the library wants done; made in its thread, owned by the queue. */
struct helper_fence_wish {
    struct helper_event event; /* .take is helper_fence_begin */
    pmix_proc_t *procs;        /* heap */
    size_t n_procs;
    char *data; /* heap */
    size_t n_data;
    pmix_modex_cbfunc_t done;
    void *done_arg;
};
void helper_fence_begin(struct helper *h, struct helper_event *ev);

/* Of other hosts. */
void helper_fence_put(struct helper *h, uint32_t xid, const struct launch_put_args *a);
void helper_fence_get(struct helper *h, uint32_t xid, const struct launch_get_args *a);

void helper_fence_forget(struct helper_launch *l); /* its launch is over; what waits is not told any more */

#endif
