#ifndef HOST_HOOKS_H
#define HOST_HOOKS_H
/* The hooks of this host: read from mom_priv/hooks, where the server's files are; and the workers that run them. Here is what their
 * parts share; host_hooks_life.h begins and ends it.
 *
 * No worker is started before an event has a hook. While no hook wants an event, asking costs a comparison. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hook_chain.h"
#include "hook_pool.h"
#include "hooks.h"

struct exec_hook_file;
struct host_periodic;
struct host_report;
struct host_sync;
struct mom;

struct host_hooks {
    struct mom *mom;
    struct hooks *hooks;
    struct hook_pool *pool;
    struct hook_chains chains;
    const uint32_t *active;    /* enum hook_event_bit: some hook runs at it */
    char *dir, *tmp, *program; /* mom_priv/hooks, .../tmp, the worker */
    char **env;
    uint64_t last; /* serial given out last */
    unsigned resources_known;
    char *resources; /* text of resourcedef; NULL: none */
    size_t n_files;  /* what is in the directory, with digests: in order of names; owned */
    struct exec_hook_file *files;
    json_t *vnodes;                            /* host_data: what this host offers; NULL: to be looked up */
    json_t *named;                             /* host_changes: the vnodes that hooks have spoken of */
    struct host_report *reports, *last_report; /* the same: what waits for a server, in order */
    struct host_report *unsent;                /* the same: those before it were sent; NULL: all were */
    size_t n_reports, n_report_bytes;
    struct host_sync *sync;
    struct host_periodic *periodic;
};

/* Return true if some hook wants this event; false also where x is NULL. */
static inline bool host_hooks_want(const struct host_hooks *x, uint32_t event)
{
    return x && *x->active & event;
}

#endif
