#ifndef LEASE_H
#define LEASE_H
/* Taking a store over: schema, identity, secret, lease, epoch.
 *
 * The active server's writer holds the lease (SQLite: a lock file beside the database; PostgreSQL: an advisory
 * lock of its session). Each activation raises the epoch, and every batch begins by checking it, so a server
 * that has lost its lease can write nothing more.
 */
#include <stdint.h>

#include "store.h"

enum { LEASE_IDENTITY_SIZE = 33 };

struct lease {
    char identity[LEASE_IDENTITY_SIZE]; /* of the store: 32 hex digits, random, made with it */
    char secret[LEASE_IDENTITY_SIZE];   /* made with it as well, and never shown */
    uint64_t epoch;                     /* 1 of a new store */
    bool is_new;                        /* the store was made by this call */
};

/* Make or migrate the tables, take the lease, raise the epoch. Blocks; at start, before the loop runs. -1:
 *   EWOULDBLOCK  another server is active (a standby waits and tries again)
 *   PBSE_SYSTEM  it cannot be reached, or was made by a newer version (the text says which) */
int lease_take(struct store *writer, struct lease *out, struct err *e);

/* Take the lease and make the tables only, to fill a store: no identity, no epoch. Errors as above. */
int lease_hold(struct store *writer, struct err *e);

#endif
