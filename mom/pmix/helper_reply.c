/* The library has no call that does nothing but run a function on its thread. The removal of an event handler that is not there is the
 * cheapest that does: its completion is called there, for all versions from 3 on. */
#include "helper_reply.h"

#include <stdint.h>
#include <stdlib.h>

struct reply {
    pmix_info_cbfunc_t info_done;
    pmix_modex_cbfunc_t modex_done; /* one of the two */
    void *done_arg;
    pmix_status_t status;
    pmix_info_t *info;
    const char *bytes;
    size_t n;
    pmix_release_cbfunc_t release;
    void *release_arg;
};

static void reply_give(const struct reply *r)
{
    if (r->info_done)
        r->info_done(r->status, r->info, r->n, r->done_arg, r->release, r->release_arg);
    else
        r->modex_done(r->status, r->bytes, r->n, r->done_arg, r->release, r->release_arg);
}

/* In the library's thread. The status is that of the removal, which fails. */
static void reply_on_thread(pmix_status_t status, void *arg)
{
    reply_give(arg);
    free(arg);
}

static void reply_send(const struct reply *r)
{
    struct reply *copy = malloc(sizeof *copy);

    if (!copy) {
        reply_give(r); /* it may be lost; it would be for certain otherwise */
        return;
    }
    *copy = *r;
    if (PMIx_Deregister_event_handler(SIZE_MAX, reply_on_thread, copy) != PMIX_SUCCESS)
        reply_on_thread(PMIX_SUCCESS, copy);
}

void helper_reply_info(pmix_info_cbfunc_t done, void *done_arg, pmix_status_t status, pmix_info_t *info,
                       size_t n, pmix_release_cbfunc_t release, void *release_arg)
{
    reply_send(&(struct reply){.info_done = done,
                               .done_arg = done_arg,
                               .status = status,
                               .info = info,
                               .n = n,
                               .release = release,
                               .release_arg = release_arg});
}

void helper_reply_modex(pmix_modex_cbfunc_t done, void *done_arg, pmix_status_t status, const char *bytes,
                        size_t n, pmix_release_cbfunc_t release, void *release_arg)
{
    reply_send(&(struct reply){.modex_done = done,
                               .done_arg = done_arg,
                               .status = status,
                               .bytes = bytes,
                               .n = n,
                               .release = release,
                               .release_arg = release_arg});
}
