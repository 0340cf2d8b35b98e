/* A return of PMIX_SUCCESS promises a callback, PMIX_OPERATION_SUCCEEDED says that it is done and none will come, an error that none
 * will come either. */
#include "helper_upcalls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "helper_fence.h"
#include "helper_modex.h"
#include "helper_queue.h"
#include "helper_talk.h"

static struct helper_queue *upcalls_queue; /* the library's upcalls have no argument of ours */

/* false: it was not queued, and no answer will come. */
static bool upcall_talk(enum helper_talk_what what, const pmix_proc_t *proc, const pmix_info_t info[],
                        size_t n, pmix_info_cbfunc_t done, void *done_arg)
{
    struct helper_talk_wish *w = calloc(1, sizeof *w);

    if (!w)
        return false;
    w->event.take = helper_talk_take;
    w->what = what;
    w->proc = *proc;
    w->done = done;
    w->done_arg = done_arg;
    helper_talk_read(w, info, n);
    if (what == TALK_CONNECTED || what == TALK_LEFT) /* as many as there are programs */
        helper_queue_add(upcalls_queue, &w->event);
    else if (!helper_queue_offer(upcalls_queue, &w->event)) {
        free(w);
        return false;
    }
    return true;
}

static pmix_status_t upcall_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                      size_t n_info, pmix_op_cbfunc_t done, void *done_arg)
{
    (void)upcall_talk(TALK_CONNECTED, proc, NULL, 0, NULL, NULL);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                      void *done_arg)
{
    (void)upcall_talk(TALK_LEFT, proc, NULL, 0, NULL, NULL);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_control(const pmix_proc_t *proc, const pmix_proc_t targets[], size_t n_targets,
                                    const pmix_info_t info[], size_t n, pmix_info_cbfunc_t done,
                                    void *done_arg)
{
    return upcall_talk(TALK_CONTROL, proc, info, n, done, done_arg) ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t upcall_allocate(const pmix_proc_t *proc, pmix_alloc_directive_t what,
                                     const pmix_info_t info[], size_t n, pmix_info_cbfunc_t done,
                                     void *done_arg)
{
    if (what != PMIX_ALLOC_RELEASE)
        return PMIX_ERR_NOT_SUPPORTED;
    return upcall_talk(TALK_RELEASE, proc, info, n, done, done_arg) ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t upcall_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t done,
                                  void *done_arg)
{
    const char *key =
        n == 1 && queries->keys && queries->keys[0] && !queries->keys[1] ? queries->keys[0] : "";
    enum helper_talk_what what = strcmp(key, "pbs.preempt.deadline") == 0 ? TALK_DEADLINE : TALK_POLICY;

    if (what == TALK_POLICY && strcmp(key, "pbs.preempt.policy") != 0)
        return PMIX_ERR_NOT_SUPPORTED; /* one key a query */
    return upcall_talk(what, proc, NULL, 0, done, done_arg) ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* The server's own handler: reports of programs come here, and so does the end of one that has not said goodbye. */
static void upcall_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                         size_t n, pmix_info_t *results, size_t n_results,
                         pmix_event_notification_cbfunc_fn_t done, void *done_arg)
{
    (void)upcall_talk(status == PMIX_JCTRL_CHECKPOINT_COMPLETE ? TALK_SAVED : TALK_LEFT, source, info, n,
                      NULL, NULL);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_arg);
}

void helper_upcalls_listen(void)
{
    static pmix_status_t codes[] = {PMIX_JCTRL_CHECKPOINT_COMPLETE, PMIX_ERR_LOST_CONNECTION};

    PMIx_Register_event_handler(codes, sizeof codes / sizeof codes[0], NULL, 0, upcall_event, NULL, NULL);
}

/* It ends with its status next; pbs_launch sees that and ends the others. */
static pmix_status_t upcall_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                                  pmix_proc_t procs[], size_t n_procs, pmix_op_cbfunc_t done, void *done_arg)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_fence(const pmix_proc_t procs[], size_t n_procs, const pmix_info_t info[],
                                  size_t n_info, char *data, size_t n_data, pmix_modex_cbfunc_t done,
                                  void *done_arg)
{
    struct helper_fence_wish *w = calloc(1, sizeof *w);

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
        .query = upcall_query,
        .job_control = upcall_control,
        .allocate = upcall_allocate,
    };

    upcalls_queue = q;
    return &table;
}
