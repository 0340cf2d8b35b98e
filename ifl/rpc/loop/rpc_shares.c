/* See rpc_shares.h. A user is forgotten with his last connection. */
#include "rpc_shares.h"

#include <stdlib.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct user {
    uid_t uid;
    size_t n;
    UT_hash_handle hh;
};

struct rpc_shares {
    size_t each;
    struct user *users;
};

struct rpc_shares *rpc_shares_create(size_t each)
{
    struct rpc_shares *s = calloc(1, sizeof *s);

    if (s)
        s->each = each;
    return s;
}

static void forget(struct rpc_shares *s, struct user *u)
{
    HASH_DEL(s->users, u);
    free(u);
}

void rpc_shares_destroy(struct rpc_shares *s)
{
    struct user *u, *next;

    if (!s)
        return;
    HASH_ITER(hh, s->users, u, next)
    forget(s, u);
    free(s);
}

static struct user *find(const struct rpc_shares *s, uid_t uid)
{
    struct user *u;

    HASH_FIND(hh, s->users, &uid, sizeof uid, u);
    return u;
}

static struct user *add(struct rpc_shares *s, uid_t uid)
{
    struct user *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->uid = uid;
    HASH_ADD(hh, s->users, uid, sizeof u->uid, u);
    if (u->hh.tbl)
        return u;
    free(u);
    return NULL;
}

bool rpc_shares_take(struct rpc_shares *s, uid_t uid)
{
    struct user *u = find(s, uid);

    if (!u)
        u = add(s, uid);
    if (!u)
        return false;
    u->n++;
    return u->n <= s->each || uid == 0 || uid == geteuid();
}

void rpc_shares_give_back(struct rpc_shares *s, uid_t uid)
{
    struct user *u = find(s, uid);

    if (u && --u->n == 0)
        forget(s, u);
}
