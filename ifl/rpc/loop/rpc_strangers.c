/* Who gives way when too many have not said who they are. See rpc_strangers.h.
 *
 * An array in the order of arrival: there are a few hundred at most. Each address counts its places, so the one that
 * gives way is found in one pass: a flood asks at each connection. Without memory for an address its connection counts
 * as the only one from there, which makes it less likely to be closed, never more. */
#include "rpc_strangers.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
    OF_A_DAEMON =
        8, /* places of a host's daemons that do not count: MOM and scheduler, each beginning a few times */
    TRUSTED_MAX =
        65536 /* addresses of daemons: more hosts than a complex has; beyond, new ones are as others */
};

/* Kept while it has places, and for ever once it is trusted. */
struct address {
    rpc_address_key from;
    size_t n;
    bool trusted;
    UT_hash_handle hh;
};

struct stranger {
    struct rpc_conn *conn;
    struct address *from; /* NULL: there was no memory for it; it has one place */
};

struct rpc_strangers {
    size_t max, n, n_trusted;
    struct address *addresses;
    struct stranger all[];
};

struct rpc_strangers *rpc_strangers_create(size_t max)
{
    struct rpc_strangers *s = calloc(1, sizeof *s + max * sizeof s->all[0]);

    if (s)
        s->max = max;
    return s;
}

void rpc_strangers_destroy(struct rpc_strangers *s)
{
    struct address *a, *next;

    if (!s)
        return;
    HASH_ITER(hh, s->addresses, a, next)
    {
        HASH_DEL(s->addresses, a);
        free(a);
    }
    free(s);
}

static rpc_address_key key_of_v4(uint32_t address)
{
    if (address >> 24 == IN_LOOPBACKNET)
        address = INADDR_LOOPBACK;
    return ((uint64_t)1 << 32) | address;
}

static rpc_address_key key_of_v6(const struct in6_addr *a)
{
    rpc_address_key key = 0;

    if (IN6_IS_ADDR_LOOPBACK(a))
        return key_of_v4(INADDR_LOOPBACK);
    if (IN6_IS_ADDR_V4MAPPED(a))
        return key_of_v4((uint32_t)a->s6_addr[12] << 24 | (uint32_t)a->s6_addr[13] << 16 |
                         (uint32_t)a->s6_addr[14] << 8 | a->s6_addr[15]);
    for (int i = 0; i < 8; i++)
        key = key << 8 | a->s6_addr[i];
    return key;
}

rpc_address_key rpc_strangers_key(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;

    if (getpeername(fd, (struct sockaddr *)&a, &n) < 0)
        return 0;
    if (a.ss_family == AF_INET)
        return key_of_v4(ntohl(((const struct sockaddr_in *)(const void *)&a)->sin_addr.s_addr));
    if (a.ss_family == AF_INET6)
        return key_of_v6(&((const struct sockaddr_in6 *)(const void *)&a)->sin6_addr);
    return 0;
}

static struct address *address_get(struct rpc_strangers *s, rpc_address_key from)
{
    struct address *a;

    HASH_FIND(hh, s->addresses, &from, sizeof from, a);
    if (a || !(a = calloc(1, sizeof *a)))
        return a;
    a->from = from;
    HASH_ADD(hh, s->addresses, from, sizeof a->from, a);
    if (a->hh.tbl)
        return a;
    free(a);
    return NULL;
}

static void address_leave(struct rpc_strangers *s, struct address *a)
{
    if (!a || --a->n || a->trusted)
        return;
    HASH_DEL(s->addresses, a);
    free(a);
}

/* How many places it has that count. */
static size_t address_weight(const struct address *a)
{
    if (!a)
        return 1;
    if (!a->trusted)
        return a->n;
    return a->n > OF_A_DAEMON ? a->n - OF_A_DAEMON : 0;
}

struct rpc_conn *rpc_strangers_victim(const struct rpc_strangers *s)
{
    size_t most = 0, at = 0;

    if (s->n < s->max)
        return NULL;
    for (size_t i = 0; i < s->n; i++) { /* from the oldest: it is the first of its address */
        size_t w = address_weight(s->all[i].from);

        if (w > most) {
            most = w;
            at = i;
        }
    }
    return s->all[at].conn;
}

void rpc_strangers_add(struct rpc_strangers *s, struct rpc_conn *c, rpc_address_key from)
{
    struct address *a = address_get(s, from);

    if (a)
        a->n++;
    s->all[s->n++] = (struct stranger){c, a};
}

static size_t rpc_strangers_find(const struct rpc_strangers *s, const struct rpc_conn *c)
{
    size_t i = 0;

    while (i < s->n && s->all[i].conn != c)
        i++;
    return i;
}

void rpc_strangers_remove(struct rpc_strangers *s, const struct rpc_conn *c)
{
    size_t i = rpc_strangers_find(s, c);

    if (i == s->n)
        return;
    address_leave(s, s->all[i].from);
    memmove(&s->all[i], &s->all[i + 1], (s->n - i - 1) * sizeof s->all[0]);
    s->n--;
}

size_t rpc_strangers_count(const struct rpc_strangers *s)
{
    return s->n;
}

void rpc_strangers_trust(struct rpc_strangers *s, const struct rpc_conn *c)
{
    size_t i = rpc_strangers_find(s, c);
    struct address *a = i < s->n ? s->all[i].from : NULL;

    if (!a || a->trusted || s->n_trusted >= TRUSTED_MAX)
        return;
    a->trusted = true;
    s->n_trusted++;
}
