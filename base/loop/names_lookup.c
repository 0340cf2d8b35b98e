/* Asking the system for users, groups and hosts, blocking: see names_lookup.h. Reentrant calls only, since a worker
 * and the loop's own thread may both be here. */
#include "names_lookup.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdint.h>

#include "host_address.h"

/* GROUPS_MAX: the kernel's own bound of a process (NGROUPS_MAX). ADDRESSES_MAX: a choice; further ones are not tried. */
enum { GROUPS_MAX = 65536, ADDRESSES_MAX = 64 };

/* With more and more room, until getgrouplist(3) finds it enough. */
static int look_up_groups(struct names_user *u, const char *name, gid_t gid, struct err *e)
{
    int n = 64;
    gid_t *gids = NULL, *more;

    for (;; n *= 2) {
        int have = n;

        more = realloc(gids, (size_t)n * sizeof *gids);
        if (!more || n > GROUPS_MAX) {
            free(more ? more : gids);
            return err_set(e, more ? E2BIG : ENOMEM, "too many groups of user %.100s", name);
        }
        gids = more;
        if (getgrouplist(name, gid, gids, &have) >= 0) {
            u->gids = gids;
            u->n_groups = (size_t)have;
            return 0;
        }
    }
}

/* The name of a group, or its number as text; heap. */
static char *group_name(gid_t gid)
{
    char number[16], *name = NULL;
    size_t size = 1024;
    struct group group, *found = NULL;
    char *buffer = NULL, *more;
    int rc;

    do {
        more = realloc(buffer, size *= 2);
        if (!more)
            break;
        buffer = more;
        rc = getgrgid_r(gid, &group, buffer, size, &found);
    } while (rc == ERANGE && size < 1 << 22);
    snprintf(number, sizeof number, "%lu", (unsigned long)gid);
    name = strdup(found ? found->gr_name : number);
    free(buffer);
    return name;
}

/* A group without a name has its number as text, so that ACLs can name it. */
static int name_groups(struct names_user *u, gid_t gid, struct err *e)
{
    char **groups = calloc(u->n_groups ? u->n_groups : 1, sizeof *groups);

    u->groups = (const char *const *)groups;
    u->group = group_name(gid);
    if (!groups || !u->group)
        return err_set(e, ENOMEM, "no memory for groups");
    for (size_t i = 0; i < u->n_groups; i++)
        if (!(groups[i] = group_name(u->gids[i])))
            return err_set(e, ENOMEM, "no memory for groups");
    return 0;
}

void names_user_free(struct names_user *u)
{
    if (!u)
        return;
    for (size_t i = 0; u->groups && i < u->n_groups; i++)
        free((char *)(uintptr_t)u->groups[i]);
    free((void *)(uintptr_t)u->groups);
    free((void *)(uintptr_t)u->gids);
    free((char *)(uintptr_t)u->name);
    free((char *)(uintptr_t)u->home);
    free((char *)(uintptr_t)u->shell);
    free((char *)(uintptr_t)u->group);
    free(u);
}

/* A copy of what points into the buffer of the look-up. */
static int fill_user(const struct passwd *p, struct names_user **out, struct err *e)
{
    struct names_user *u = calloc(1, sizeof *u);

    if (!u)
        return err_set(e, ENOMEM, "no memory for a user");
    u->name = strdup(p->pw_name);
    u->home = strdup(p->pw_dir);
    u->shell = strdup(p->pw_shell);
    u->uid = p->pw_uid;
    u->gid = p->pw_gid;
    if (!u->name || !u->home || !u->shell)
        err_set(e, ENOMEM, "no memory for a user");
    else if (look_up_groups(u, u->name, u->gid, e) == 0 && name_groups(u, u->gid, e) == 0) {
        *out = u;
        return 0;
    }
    names_user_free(u);
    return -1;
}

/* By name, or by uid when `name` is NULL. */
static int look_up_user(const char *name, uid_t uid, struct names_user **out, struct err *e)
{
    size_t size = 1024;
    struct passwd passwd, *found = NULL;
    char *buffer = NULL, *more;
    int rc;

    do {
        more = realloc(buffer, size *= 2);
        if (!more) {
            rc = ENOMEM;
            break;
        }
        buffer = more;
        rc = name ? getpwnam_r(name, &passwd, buffer, size, &found)
                  : getpwuid_r(uid, &passwd, buffer, size, &found);
    } while (rc == ERANGE && size < 1 << 20);
    if (found)
        rc = fill_user(found, out, e);
    else if (rc && rc != ENOENT && rc != ESRCH && rc != EBADF && rc != EPERM)
        rc = err_errno(e, rc, "cannot look up a user");
    else if (name)
        rc = err_set(e, ENOENT, "there is no user %.100s on this host", name);
    else
        rc = err_set(e, ENOENT, "there is no user with uid %lu on this host", (unsigned long)uid);
    free(buffer);
    return rc;
}

int names_lookup_user(const char *name, struct names_user **out, struct err *e)
{
    return look_up_user(name, 0, out, e);
}

int names_lookup_uid(uid_t uid, struct names_user **out, struct err *e)
{
    return look_up_user(NULL, uid, out, e);
}

void names_host_free(struct names_host *h)
{
    if (!h)
        return;
    free((void *)(uintptr_t)h->addresses);
    free((char *)(uintptr_t)h->name);
    free((char *)(uintptr_t)h->other);
    free(h);
}

static struct names_host *fill_host(const char *name, const struct addrinfo *list)
{
    struct names_host *h = calloc(1, sizeof *h);
    struct sockaddr_storage *addresses = calloc(ADDRESSES_MAX, sizeof *addresses);

    if (h)
        h->name = strdup(name);
    if (!h || !h->name || !addresses) {
        free(addresses);
        names_host_free(h);
        return NULL;
    }
    h->addresses = addresses;
    for (; list && h->n_addresses < ADDRESSES_MAX; list = list->ai_next)
        if (list->ai_addrlen <= sizeof *addresses)
            memcpy(&addresses[h->n_addresses++], list->ai_addr, list->ai_addrlen);
    return h;
}

int names_lookup_host(const char *name, struct names_host **out, struct err *e)
{
    struct addrinfo *list = NULL;
    int rc = host_address_find(name, NULL, AI_ADDRCONFIG | AI_CANONNAME, &list);

    if (rc == EAI_NONAME || rc == EAI_NODATA || rc == EAI_ADDRFAMILY)
        return err_set(e, ENOENT, "there is no host %.200s", name);
    if (rc)
        return err_set(e, rc == EAI_SYSTEM ? errno : EHOSTUNREACH, "cannot look up host %.200s: %s", name,
                       gai_strerror(rc));
    *out = fill_host(name, list);
    if (*out && list->ai_canonname && strcasecmp(list->ai_canonname, name) != 0)
        (*out)->other = strdup(list->ai_canonname); /* without memory it has one name */
    freeaddrinfo(list);
    return *out ? 0 : err_set(e, ENOMEM, "no memory for a host");
}

/* By the resolver's parser, which knows scopes of IPv6; no look-up is made. */
static bool parse_address(const char *text, struct sockaddr_storage *out, socklen_t *len)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *list = NULL;

    if (getaddrinfo(text, NULL, &hints, &list) != 0)
        return false;
    *out = (struct sockaddr_storage){0};
    memcpy(out, list->ai_addr, list->ai_addrlen);
    *len = list->ai_addrlen;
    freeaddrinfo(list);
    return true;
}

/* Does the host have this address? */
static bool is_at(const struct names_host *h, const struct sockaddr_storage *a)
{
    for (size_t i = 0; i < h->n_addresses; i++)
        if (host_address_is_same((const struct sockaddr *)a, (const struct sockaddr *)&h->addresses[i]))
            return true;
    return false;
}

/* "n2" of "n2.site.example", where the resolver knows it as a name of this address; or NULL. */
static char *short_name(const char *name, const struct sockaddr_storage *a)
{
    size_t n = strcspn(name, ".");
    char *first = name[n] ? strndup(name, n) : NULL;
    struct names_host *h;
    struct err ignored;
    bool leads_back;

    if (!first)
        return NULL;
    if (names_lookup_host(first, &h, &ignored) < 0) {
        free(first);
        return NULL;
    }
    leads_back = is_at(h, a);
    names_host_free(h);
    if (leads_back)
        return first;
    free(first);
    return NULL;
}

int names_lookup_address(const char *address, struct names_host **out, struct err *e)
{
    struct sockaddr_storage a;
    socklen_t len;
    char name[NI_MAXHOST];
    struct names_host *h;

    if (!parse_address(address, &a, &len))
        return err_set(e, EINVAL, "%.64s is not an address", address);
    if (getnameinfo((struct sockaddr *)&a, len, name, sizeof name, NULL, 0, NI_NAMEREQD) != 0)
        return err_set(e, ENOENT, "address %.64s has no name", address);
    if (names_lookup_host(name, &h, e) < 0)
        return -1;
    if (is_at(h, &a)) {
        free((char *)(uintptr_t)h->other);
        h->other = short_name(name, &a);
        *out = h;
        return 0;
    }
    names_host_free(h);
    return err_set(e, ENOENT, "address %.64s says that it is %.200s, which has other addresses", address,
                   name);
}
