/* Which host may serve a vnode. See vnode_owner.h.
 *
 * Names decide. The certificate of a MOM names its host ("mom:n1"), so what begins with that name is bound to it; every
 * other name is a manager's to give, by `create node NAME Mom=HOST`. Nothing is resolved here: a name service that a host could
 * influence would decide otherwise. The only address that counts is the one from which the MOM has connected. */
#include "vnode_owner.h"

#include <string.h>
#include <strings.h>

#include "pbs_error.h"
#include "resource.h"
#include "server_ctx.h"

static const char mom_prefix[] = "mom:";

/* "n1" of "mom:n1"; NULL: not a MOM. */
static const char *vnode_owner_host_of(const char *service)
{
    size_t n = sizeof mom_prefix - 1;

    return service && strncmp(service, mom_prefix, n) == 0 ? service + n : NULL;
}

static bool is_part_of(const char *host, const char *vnode)
{
    size_t n = strlen(host);

    return strncmp(host, vnode, n) == 0 && (!vnode[n] || vnode[n] == '[');
}

/* A word of n characters and a host, with a domain or without. */
static bool is_host(const char *word, size_t n, const char *host)
{
    size_t short_n = strcspn(word, "."), short_host = strcspn(host, ".");

    if (n == strlen(host) && strncasecmp(word, host, n) == 0)
        return true;
    short_n = short_n < n ? short_n : n;
    return (short_n == n || !host[short_host]) && short_n == short_host &&
           strncasecmp(word, host, short_n) == 0;
}

/* "10.1.1.7" of its address "10.1.1.7:15003", "::1" of "[::1]:15003". */
static bool is_address(const char *word, size_t n, const struct service *from)
{
    const char *address = from->address ? from->address : "";
    const char *end = strrchr(address, ':');

    if (end > address && *address == '[' && end[-1] == ']') {
        address++;
        end--;
    }
    return end && n == (size_t)(end - address) && strncasecmp(word, address, n) == 0;
}

static bool is_listed(const char *list, const char *host, const struct service *from)
{
    while (*list) {
        size_t n = strcspn(list, ", ");

        if (n && (is_host(list, n, host) || is_address(list, n, from)))
            return true;
        list += n + (list[n] != '\0');
    }
    return false;
}

int vnode_owner_check(const struct server_ctx *s, const struct service *from, const char *vnode,
                      struct err *e)
{
    const struct node *n = nodes_find(s->nodes, vnode);
    const char *said = n ? attr_list_text(&n->obj.attrs, NODE_ATTR_Mom) : NULL;
    const char *host = vnode_owner_host_of(from->name),
               *owner = n ? vnode_owner_host_of(n->service_name) : NULL;

    if (from->kind == EXEC_SERVICE_SIM)
        return 0;
    if (!host)
        return err_set(e, PBSE_PERM, "%s is not the name of a MOM", from->name);
    if (said && *said)
        return is_listed(said, host, from)
                   ? 0
                   : err_set(e, PBSE_PERM,
                             "vnode %s belongs to host %s, not to %s: set its Mom to change that", vnode,
                             said, host);
    if (owner)
        return strcmp(owner, host) == 0
                   ? 0
                   : err_set(e, PBSE_PERM,
                             "vnode %s belongs to host %s, not to %s: set its Mom to change that", vnode,
                             owner, host);
    if (is_part_of(host, vnode))
        return 0;
    return err_set(e, PBSE_PERM,
                   "vnode %s is not part of host %s (%s, %s[...]): a manager may say that it is, by "
                   "\"%s node %s Mom=%s\"",
                   vnode, host, host, host, n ? "set" : "create", vnode, host);
}

bool vnode_owner_is_natural(const struct service *from, const char *vnode)
{
    const char *host = vnode_owner_host_of(from->name);

    return host && strcmp(host, vnode) == 0;
}

bool vnode_owner_is_tied(const struct service *from, const struct node *n)
{
    const char *said = attr_list_text(&n->obj.attrs, NODE_ATTR_Mom), *host = vnode_owner_host_of(from->name);
    size_t len = strlen(n->obj.name);

    if (!host)
        return false;
    if (said && *said)
        return is_listed(said, host, from);
    if (n->service_name)
        return strcmp(n->service_name, from->name) == 0;
    return is_host(n->obj.name, len, host) || is_address(n->obj.name, len, from);
}

struct node *vnode_owner_first(const struct server_ctx *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if ((!n->service || n->service == from) && vnode_owner_is_tied(from, n))
            return n;
    return NULL;
}

int vnode_owner_check_amount(const struct server_ctx *s, const struct service *from, const struct node *n,
                             const struct resource *r, const char *value, struct err *e)
{
    const char *host = vnode_owner_host_of(from->name);
    const struct node *lender = *value == '@' ? nodes_find(s->nodes, value + 1) : NULL;

    if (from->kind == EXEC_SERVICE_SIM || !host)
        return 0;
    if (*value == '@' && (!lender || lender->service != from))
        return err_set(e, PBSE_PERM, "%s of %s cannot be lent by %s, which does not belong to host %s",
                       r->name, n->obj.name, value + 1, host);
    if (r->id == RESC_vnode && strcmp(value, n->obj.name) != 0)
        return err_set(e, PBSE_PERM, "the vnode is %s, not %s", n->obj.name, value);
    if (r->id == RESC_host && !is_part_of(host, value) && !is_host(value, strlen(value), host) &&
        strcmp(value, n->obj.name) != 0)
        return err_set(e, PBSE_PERM, "its host is %s, not %s: only a manager may change that", host, value);
    return 0;
}
