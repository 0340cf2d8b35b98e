#ifndef HELPER_REPLY_H
#define HELPER_REPLY_H
/* Answers to requests of clients, given to the library on its own thread: version 4.2 puts an answer into the queue of its connection
 * without a lock (PMIX_SERVER_QUEUE_REPLY), while its thread takes answers out, so one that another
 * thread gives may stay there with nothing to send it.
 *
 * Each function returns before `done` is called, and calls it once. Answers leave in the order of the calls. `info` and `bytes` live
 * until `release` (NULL: static) is called, on the library's thread. Loop thread. */
#include <stddef.h>

#include <pmix.h>
#include <pmix_server.h>

void helper_reply_info(pmix_info_cbfunc_t done, void *done_arg, pmix_status_t status, pmix_info_t *info,
                       size_t n, pmix_release_cbfunc_t release, void *release_arg);
void helper_reply_modex(pmix_modex_cbfunc_t done, void *done_arg, pmix_status_t status, const char *bytes,
                        size_t n, pmix_release_cbfunc_t release, void *release_arg);

#endif
