#ifndef VNODE_OWNER_H
#define VNODE_OWNER_H
/* Which host may serve a vnode, and what it may say of it. Root of an execution host can make its MOM say anything: what
 * it says of the vnodes of another host, or of a vnode that is not part of it, is not taken.
 *
 * The simulator is not asked: it is this server's own user, or root of this host. Loop thread only. */
#include <stdbool.h>

#include <exec.h>

#include "err.h"
#include "services.h"

struct resource;
struct server_ctx;

/* May `from` serve a vnode of this name?
 *
 *   Mom is set             the hosts that it names, and no other: a manager's word
 *   a MOM has served it    that MOM, whether it is here or away
 *   neither, or unknown    the host HOST may have HOST itself and HOST[...]
 *
 * 0, or -1 with PBSE_PERM; the text names the remedy. */
int vnode_owner_check(const struct server_ctx *s, const struct service *from, const char *vnode,
                      struct err *e);

/* Is this entry of a service's report about its host as a whole, not about a part of it? */
bool vnode_owner_is_natural(const struct service *from, const char *vnode);

/* Is `n` a node of the host of `from` by its word Mom, by its name, or since that host has served it? A name is that of
 * the host with a domain or without, or its address. */
bool vnode_owner_is_tied(const struct service *from, const struct node *n);

/* The first node, in order of creation, that is tied to `from` and that no other service serves, or NULL. */
struct node *vnode_owner_first(const struct server_ctx *s, const struct service *from);

/* May it say this of `n`, which is its own? `host` and `vnode` name the host and the vnode themselves; an amount that is
 * lent ("@vnode") is lent by a vnode of the same host. 0, or -1 with PBSE_PERM. */
int vnode_owner_check_amount(const struct server_ctx *s, const struct service *from, const struct node *n,
                             const struct resource *r, const char *value, struct err *e);

#endif
