/* A return of PMIX_SUCCESS promises a callback, PMIX_OPERATION_SUCCEEDED says that it is done and none will come, an error that none
 * will come either. */
#include "helper_upcalls.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "helper_fence.h"
#include "helper_modex.h"
#include "helper_queue.h"

static struct helper_queue *upcalls_queue; /* the library's upcalls have no argument of ours */

static pmix_status_t upcall_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                      size_t n_info, pmix_op_cbfunc_t done, void *done_arg)
{
    (void)proc;
    (void)object;
    (void)info;
    (void)n_info;
    (void)done;
    (void)done_arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                      void *done_arg)
{
    (void)proc;
    (void)object;
    (void)done;
    (void)done_arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* It ends with its status next; pbs_launch sees that and ends the others. */
static pmix_status_t upcall_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                                  pmix_proc_t procs[], size_t n_procs, pmix_op_cbfunc_t done, void *done_arg)
{
    (void)proc;
    (void)object;
    (void)status;
    (void)msg;
    (void)procs;
    (void)n_procs;
    (void)done;
    (void)done_arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_fence(const pmix_proc_t procs[], size_t n_procs, const pmix_info_t info[],
                                  size_t n_info, char *data, size_t n_data, pmix_modex_cbfunc_t done,
                                  void *done_arg)
{
    struct helper_fence_wish *w = calloc(1, sizeof *w);

    (void)info;
    (void)n_info;
    if (w) {
        w->procs = calloc(n_procs + 1, sizeof *procs);
        w->data = malloc(n_data + 1);
    }
    if (!w || !w->procs || !w->data) {
        if (w) {
            free(w->procs);
            free(w->data);
        }
        free(w);
        return PMIX_ERR_NOMEM;
    }
    memcpy(w->procs, procs, n_procs * sizeof *procs);
    if (n_data)
        memcpy(w->data, data, n_data);
    w->n_procs = n_procs;
    w->n_data = n_data;
    w->done = done;
    w->done_arg = done_arg;
    w->event.take = helper_fence_begin;
    helper_queue_add(upcalls_queue, &w->event);
    return PMIX_SUCCESS;
}

static pmix_status_t upcall_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t n_info,
                                  pmix_modex_cbfunc_t done, void *done_arg)
{
    struct helper_modex_wish *w = calloc(1, sizeof *w);

    (void)info;
    (void)n_info;
    if (!w)
        return PMIX_ERR_NOMEM;
    w->proc = *proc;
    w->done = done;
    w->done_arg = done_arg;
    w->event.take = helper_modex_begin;
    if (helper_queue_offer(upcalls_queue, &w->event))
        return PMIX_SUCCESS;
    free(w);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* Version 4.2 frees what it has given to the callback when this returns, and reads it again in the callback: so none is ever
 * promised. What the server itself has to hear of it comes to its own handler. */
static pmix_status_t upcall_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                                   pmix_info_t info[], size_t n_info, pmix_op_cbfunc_t done, void *done_arg)
{
    (void)code;
    (void)source;
    (void)range;
    (void)info;
    (void)n_info;
    (void)done;
    (void)done_arg;
    return PMIX_OPERATION_SUCCEEDED;
}

struct pmix_server_module_4_0_0_t *helper_upcalls_table(struct helper_queue *q)
{
    static pmix_server_module_t table = {
        .client_connected2 = upcall_connected,
        .client_finalized = upcall_finalized,
        .abort = upcall_abort,
        .fence_nb = upcall_fence,
        .direct_modex = upcall_modex,
        .notify_event = upcall_notify,
    };

    upcalls_queue = q;
    return &table;
}
