#ifndef ACCESS_H
#define ACCESS_H
/* The identity of a connection, and what its user may do.
 *
 * Identity comes from the kernel for a unix socket, from a certificate or MUNGE for TLS; the user's name is
 * looked up once per connection by a worker. Roles: root and the server's own user are manager and operator;
 * others as the server attributes managers and operators say. ACLs are those of PBS: first match wins, "+name"
 * "-name", lone "+" or "-" is the default for names not matched. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "auth.h"
#include "err.h"
#include "level.h"

struct client;
struct rpc_conn;
struct server_ctx;

/* The user of one connection. Reference counted, since requests outlive connections. */
struct client *client_create(const struct server_ctx *s, const struct auth_peer *peer, const char *user,
                             const char *host);
struct client *client_ref(struct client *c);
void client_unref(struct client *c);
const char *client_user(const struct client *c); /* "anna" */
const char *client_who(const struct client *c);  /* "anna@login2" */
const char *client_host(const struct client *c);
/* Set another name of its host with the same address: lists may use either. */
void client_set_other_host(struct client *c, const char *host);
const char *client_other(const struct client *c); /* "anna@login2" by that name, or NULL */
uid_t client_uid(const struct client *c);         /* (uid_t)-1 for a daemon */
bool client_is_root(const struct client *c);      /* of this host, by the word of its kernel */
/* Return true for root by MUNGE, or for the account of the daemons. Root of each host of the realm can claim
 * that, so it is the user of that host alone: it owns what its host's name owns, and lists must name it with
 * its host. */
bool client_is_distant(const struct client *c);
bool access_is_distant(const struct server_ctx *s,
                       const struct auth_peer *p); /* the same of a connection that has no client yet */
bool client_is_foreign_server(
    const struct client *c); /* of another complex: may send jobs and ask about them, and nothing else */
enum level client_level(const struct client *c);
/* Recomputed at each request, since managers and operators may change. */
void client_set_level(struct client *c, enum level level);
/* The connection itself, for dispatch.c; NULL when it has ended. */
void client_set_conn(struct client *c, struct rpc_conn *conn);
struct rpc_conn *client_conn(const struct client *c);
/* Requests of this connection that have no answer yet, except those that wait for changes (watch.h). */
void client_count_request(struct client *c, int change); /* request.c */
bool client_is_waiting(const void *client);              /* there is at least one; schedulers_waits_fn */
/* The scheduler object that this connection has registered for; interned, or NULL. */
const char *client_sched(const struct client *c);
void client_set_sched(struct client *c, const char *name);

/* Of a server that is closed (server_obj_close): root and the user of the daemons only, whatever the lists say. */
enum level access_level_of(const struct server_ctx *s, const struct client *c);
/* The same of a user that is not a client, by the lists alone: "anna@n1". */
enum level access_level_of_name(const struct server_ctx *s, const char *who);

/* Return true if this ACL text allows `who` (user@host, or a host, or a group). A NULL or empty list allows all
 * if `empty_allows`. Entries may have wildcards in the host part. O(entries). */
enum acl_form {
    ACL_USER,
    ACL_USER_OF_HOST,
    ACL_HOST,
    ACL_GROUP
}; /* OF_HOST: entries without a host do not count */
bool access_acl_allows_either(
    const char *acl, enum acl_form form, const char *who, const char *other,
    bool empty_allows); /* the same of one that has two names; other: NULL for none */
bool access_acl_allows(const char *acl, enum acl_form form, const char *who, bool empty_allows);

#endif
