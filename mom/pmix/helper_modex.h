#ifndef HELPER_MODEX_H
#define HELPER_MODEX_H
/* Direct modex: what one rank of another host has published, fetched from the helper there when a rank here asks for it. */
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

#include <launch.h>

#include "helper_queue.h"

struct helper;

struct helper_modex_wish {     /* made in the library's thread, owned by the queue */
    struct helper_event event; /* .take is helper_modex_begin */
    pmix_proc_t proc;
    pmix_modex_cbfunc_t done;
    void *done_arg;
};
void helper_modex_begin(struct helper *h, struct helper_event *ev);

void helper_modex_serve(struct helper *h, uint32_t xid,
                        const struct launch_modex_args *a); /* for another host */

#endif
