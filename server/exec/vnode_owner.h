#ifndef VNODE_OWNER_H
#define VNODE_OWNER_H
/* Which host may serve a vnode, and what it may say of it. Root of an execution host can make its MOM say anything: what
 * it says of the vnodes of another host, or of a vnode that is no part of it, is not taken.
 *
 * The simulator is not asked: it is this server's own user, or root of this host. Loop thread only. */
#include <stdbool.h>

#include <exec.h>

#include "err.h"
#include "services.h"

struct resource;
struct site;

/* May `from` serve a vnode of this name?
 *
 *   Mom is set             the hosts that it names, and no other: a manager's word
 *   a MOM has served it    that MOM, whether it is here or away
 *   neither, or unknown    the host HOST may have HOST itself and HOST[...]
 *
 * 0, or -1 with PBSE_PERM; the text names the remedy. */
int vnode_owner_check(const struct site *s, const struct service *from, const char *vnode, struct err *e);

/* May it say this of `n`, which is its own? `host` and `vnode` name the host and the vnode themselves; an amount that is
 * lent ("@vnode") is lent by a vnode of the same host. 0, or -1 with PBSE_PERM. */
int vnode_owner_check_amount(const struct site *s, const struct service *from, const struct node *n,
                             const struct resource *r, const char *value, struct err *e);

#endif
