#ifndef NAMES_LOOKUP_H
#define NAMES_LOOKUP_H
/* Look users, groups and host addresses up in the system. Each call may block for seconds, as long as name
 * services take. For the worker of `names`, and for programs without an event loop. Any thread. Results are
 * heap objects of their own: nothing points into buffers of the system. */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "err.h"

struct names_user {
    const char *name;
    uid_t uid;
    gid_t gid;
    const char *home, *shell;
    const char *group;         /* name of gid, or its number as text */
    const gid_t *gids;         /* all groups, gid among them */
    const char *const *groups; /* their names, same order */
    size_t n_groups;
};

struct names_host {
    const char *name;
    const char *
        other; /* a second name, or NULL: of a host, its canonical one; of an address, the first part of its name where
                        * that leads back to the address as well */
    const struct sockaddr_storage *addresses; /* port 0 */
    size_t n_addresses;
};

/* 0 with *out, which the caller frees; -1: ENOENT no such user or host, else what the system said. */
int names_lookup_user(const char *name, struct names_user **out, struct err *e);
int names_lookup_uid(uid_t uid, struct names_user **out, struct err *e);
int names_lookup_host(const char *name, struct names_host **out, struct err *e);
/* The host with this numeric address. Its name counts only if looking that up leads back to the address: the owner of an
 * address writes its reverse entry and could name any host. ENOENT: it has no such name. */
int names_lookup_address(const char *address, struct names_host **out, struct err *e);
void names_user_free(struct names_user *u);
void names_host_free(struct names_host *h);

#endif
