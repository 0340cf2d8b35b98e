#ifndef SERVER_CTX_H
#define SERVER_CTX_H
/* The objects of one server together: the context that handlers and modules get.
 *
 * It owns the tables (server_ctx_life.h); all other code borrows. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "change.h"
#include "clock.h"
#include "earmark.h"
#include "jobs.h"
#include "node.h"
#include "queue.h"
#include "resource.h"
#include "resv.h"
#include "sched_obj.h"
#include "server_obj.h"

struct server_events;

struct server_ctx {
    struct clock *clock;
    struct server_events *events;
    struct change *change;
    struct resource_table *resources;
    struct server_obj *server;
    struct queues *queues;
    struct nodes *nodes;
    struct scheds *scheds;
    struct earmarks *earmarks;
    struct resvs *resvs;
    struct jobs *jobs;
    struct assign *assign;
    struct limit_counts *limit_counts;
    const char *name; /* of the server, as in job identifiers */
    const char
        *full_name;   /* its host's canonical name where that is another, interned; NULL: not known (yet) */
    const char *home; /* PBS_HOME; NULL: it has none (tests) */
    const char *store_id; /* identity of the store */
    uint64_t epoch;
    uid_t daemon_uid; /* of the scheduler where it is not root's (PBS_DAEMON_SERVICE_USER), else ours */
    const char *pbs_version;  /* PBS_VERSION of pbs.conf: what clients are shown */
    bool hosts_join;          /* PBS_HOSTS_JOIN: a MOM whose node was not created gets one */
    bool serves_all;          /* started as root: serves jobs of any user; else of its own user only */
    unsigned char secret[32]; /* of the store: job cookies are made from it */
    /* ^ The identifier here of a job that came from another server, or NULL. */
    const char *(*alias)(void *arg, const char *id);
    void *alias_arg;
    uint64_t resources_changed; /* number of the change at which a resource was made, altered or removed */
};

/* Return true if a job identifier or destination names this server: "", "default", or the same host with more
 * or fewer domains. */
bool server_ctx_is_named(const struct server_ctx *s, const char *server);
/* Return true if the identifier means a job of this server. "41.svr1@other" was meant for another server, even
 * if it was sent here. */
bool server_ctx_is_asked(const struct server_ctx *s, const struct jobid *id);

/* Find a job by its identifier, or by the one it had before it came here or came back; NULL: there is none. */
struct job *server_ctx_find_job(const struct server_ctx *s, const struct jobid *id);

/* pbs_version of the server and its nodes: reported_version, else PBS_VERSION of pbs.conf. Borrowed until the attribute changes. */
const char *server_ctx_pbs_version(const struct server_ctx *s);

static inline int64_t server_ctx_now_s(const struct server_ctx *s)
{
    return clock_wall_s(s->clock);
}

#endif
