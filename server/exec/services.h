#ifndef SERVICES_H
#define SERVICES_H
/* The execution services that have said HELLO, and which nodes each serves.
 *
 * A service is known by its name ("mom:n1") through all its connections; it stays in the table while a node
 * names it, connected or not. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>

#include "call_list.h"
#include "err.h"
#include "node.h"
#include "uthash.h"

struct rpc_conn;
struct services;
struct server_ctx;

struct service {
    const char *name; /* interned */
    UT_hash_handle hh;
    int kind;                 /* enum exec_service_kind */
    struct rpc_conn *conn;    /* NULL: away */
    bool accepted;            /* its HELLO was */
    struct call_list waiters; /* service_wait */
    bool leaving;             /* said good-bye for good */
    uint64_t generation;
    const char *host, *address, *boot, *instance, *version; /* interned, or NULL */
    const char *last_address; /* the same, from before our start: a HELLO to come may say another one */
    unsigned capabilities;
    /* What a MOM has said of its vnodes: those of its last HELLO as XDR (exec_hello_args.nodes), and which of NODE_DOWN
     * and NODE_BUSY hold. A node that is created later is filled from it. exec/node_report.c */
    char *said;
    size_t n_said;
    unsigned said_state;
    bool counted;            /* scratch of services_count() */
    size_t unanswered_bytes; /* of orders: exec_orders.c alone */
    int64_t lost_mono_ms;    /* since when it is away; 0: it is here */
    int64_t
        renewed_real_ms; /* when its certificate was renewed, by clock_real_mono_ms; 0: not since we started */
};

struct services *services_create(struct server_ctx *s);
void services_destroy(struct services *sv);

struct service *services_find(const struct services *sv, const char *name); /* or NULL */
struct service *services_get(struct services *sv, const char *name); /* made when new; NULL no memory */
struct service *services_first(const struct services *sv);
struct service *services_next(const struct service *s);

void services_bind(struct services *sv, struct service *s, struct node *n);

/* Write down on its vnode which service of this name it is (instance, boot, host, address): a restarted server must tell it from
 * a namesake although neither has said HELLO yet. And read it there. */
void services_note(struct services *sv, const struct service *s, struct node *n);
void services_recall(struct service *s, const struct node *n);

/* Services that are connected, and those that are not although a vnode names them; a vnode that no service has ever served counts as
 * one more of these. O(services + vnodes). */
void services_count(const struct services *sv, const struct nodes *ns, size_t *up, size_t *down);

bool service_is_here(const struct service *s);
/* The same, or it has connected and its HELLO is being answered: what it is asked is a matter of a moment. A MOM says HELLO again
 * on its connection whenever what it reports has changed. */
bool service_is_connected(const struct service *s);

/* Call fn(arg) when the HELLO under way has been answered or the connection has ended; the callee looks which. In the order
 * of these calls. For a service that is connected and not here. -1: no memory. */
int service_wait(struct service *s, loop_fn *fn, void *arg);
/* Make these calls now: once behind each answer to a HELLO, and at the end of the connection. */
void service_wake(struct service *s);

/* Where it can be asked for what it has of earlier runs, also before its HELLO after our start; NULL: not known. */
const char *service_address(const struct service *s);

#endif
