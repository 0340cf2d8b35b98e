/* The host itself: names, accounts, room, processes. See doctor.h.
 *
 * Names are asked of the host's own resolver, since that is what daemons do: an own name on the loopback, or an address
 * that does not lead back to its name, works on one host and fails with two. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor.h"
#include "file.h"

/* ---- names --------------------------------------------------------------------------------------------- */

/* Return the addresses of a name as the resolver alone gives them; NULL: it knows none. */
static struct addrinfo *resolve(const char *name, int *why)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;

    *why = getaddrinfo(name, NULL, &hints, &list);
    return *why ? NULL : list;
}

static bool is_loopback(const struct sockaddr *a)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (a->sa_family == AF_INET) {
        memcpy(&in, a, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    memcpy(&in6, a, sizeof in6);
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

static void address_text(const struct addrinfo *a, char out[static NI_MAXHOST])
{
    if (getnameinfo(a->ai_addr, a->ai_addrlen, out, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(out, NI_MAXHOST, "?");
}

/* A complex on one host works by loopback, but no other host can be added then. */
void doctor_own_name(struct doctor *d)
{
    char text[NI_MAXHOST];
    struct addrinfo *list;
    int why;

    if (!d->host[0]) {
        doctor_fail(d, "this host has no name");
        return;
    }
    list = resolve(d->host, &why);
    if (!list)
        doctor_warn(d, "the name of this host, %s, is not known to the resolver: %s", d->host,
                    gai_strerror(why));
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        if (is_loopback(a->ai_addr)) {
            address_text(a, text);
            doctor_warn(
                d, "the name of this host, %s, leads to %s: other hosts that are told it cannot come here",
                d->host, text);
            break;
        }
    freeaddrinfo(list);
}

void doctor_server_name(struct doctor *d)
{
    const char *name = conf_server_host(d->conf);
    int why;
    struct addrinfo *list = resolve(name, &why);

    if (!list && strcasecmp(name, d->host) != 0)
        doctor_fail(d, "the name of the server, %s, is not known to the resolver: %s", name,
                    gai_strerror(why));
    freeaddrinfo(list);
}

static bool is_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    return n == strcspn(b, ".") && strncasecmp(a, b, n) == 0;
}

/* Check only addresses that other hosts see; a host of several names has its first name here. */
void doctor_reverse(struct doctor *d)
{
    char back[NI_MAXHOST], text[NI_MAXHOST];
    int why;
    struct addrinfo *list = resolve(d->host, &why);

    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        if (is_loopback(a->ai_addr))
            continue;
        address_text(a, text);
        if (getnameinfo(a->ai_addr, a->ai_addrlen, back, sizeof back, NULL, 0, NI_NAMEREQD) != 0)
            doctor_warn(d, "the address %s of %s leads to no name", text, d->host);
        else if (!is_same_host(back, d->host))
            doctor_warn(d, "the address %s of %s leads to the name %s", text, d->host, back);
    }
    freeaddrinfo(list);
}

/* ---- accounts ------------------------------------------------------------------------------------------ */

void doctor_users(struct doctor *d)
{
    const char *user = conf_text(d->conf, CONF_PBS_DAEMON_SERVICE_USER);

    if (user && !getpwnam(user))
        doctor_fail(d, "PBS_DAEMON_SERVICE_USER names %s, and there is no such user", user);
}

/* ---- room ---------------------------------------------------------------------------------------------- */

/* A choice: what a busy server writes in an hour, and the share at which file systems become slow. */
enum { WARN_PERCENT = 5, FAIL_PERCENT = 1, WARN_MB = 500, FAIL_MB = 50 };

static void each_folder(struct doctor *d,
                        void (*look)(struct doctor *d, const char *path, const struct statvfs *s))
{
    const struct {
        const char *root, *path;
        unsigned where;
    } folders[] = {{d->home, "", ON_SERVER | ON_SCHED},
                   {d->home, "/server_priv", ON_SERVER},
                   {d->home, "/server_logs", ON_SERVER},
                   {d->mom_home, "/mom_priv", ON_MOM},
                   {d->mom_home, "/spool", ON_MOM},
                   {d->mom_home, "/undelivered", ON_MOM},
                   {"/tmp", "", ON_ANY}};
    unsigned long seen[sizeof folders / sizeof folders[0]];
    size_t n = 0, k;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char path[4400];
        struct statvfs s;

        if (folders[i].where != ON_ANY && !(folders[i].where & d->here))
            continue;
        snprintf(path, sizeof path, "%s%s", folders[i].root, folders[i].path);
        if (statvfs(path, &s) < 0) {
            if (errno == EACCES)
                doctor_skip(d, "%s may not be read", path);
            continue; /* the check `files` reports a missing folder */
        }
        for (k = 0; k < n && seen[k] != s.f_fsid; k++)
            continue;
        if (k < n)
            continue; /* another folder of the same file system */
        seen[n++] = s.f_fsid;
        look(d, path, &s);
    }
}

static void doctor_host_check_space(struct doctor *d, const char *path, const struct statvfs *s)
{
    unsigned long long mb = (unsigned long long)s->f_bavail * s->f_frsize >> 20;
    unsigned long long percent = s->f_blocks ? (unsigned long long)s->f_bavail * 100 / s->f_blocks : 100;

    if (!s->f_blocks)
        return;
    if (mb < FAIL_MB)
        doctor_fail(d, "%s has %llu MB left (%llu %%)", path, mb, percent);
    else if (mb < WARN_MB || percent < FAIL_PERCENT || (percent < WARN_PERCENT && mb < 20ULL * WARN_MB))
        doctor_warn(d, "%s has %llu MB left (%llu %%)", path, mb, percent);
}

static void doctor_host_check_inodes(struct doctor *d, const char *path, const struct statvfs *s)
{
    unsigned long long percent = s->f_files ? (unsigned long long)s->f_favail * 100 / s->f_files : 100;

    if (percent < FAIL_PERCENT)
        doctor_fail(d, "%s has %llu inodes left (%llu %%)", path, (unsigned long long)s->f_favail, percent);
    else if (percent < WARN_PERCENT)
        doctor_warn(d, "%s has %llu inodes left (%llu %%)", path, (unsigned long long)s->f_favail, percent);
}

void doctor_space(struct doctor *d)
{
    each_folder(d, doctor_host_check_space);
}

void doctor_inodes(struct doctor *d)
{
    each_folder(d, doctor_host_check_inodes);
}

/* ---- processes ----------------------------------------------------------------------------------------- */

void doctor_daemons(struct doctor *d)
{
    const struct {
        unsigned where;
        const char *name, *root, *lock;
    } daemons[] = {{ON_SERVER, "pbs_server", d->home, "server_priv/server.lock"},
                   {ON_SCHED, "pbs_sched", d->home, "sched_priv/sched.lock"},
                   {ON_MOM, "pbs_mom", d->mom_home, "mom_priv/mom.lock"}};

    for (size_t i = 0; i < sizeof daemons / sizeof daemons[0]; i++) {
        char path[4400];
        struct err e = {0};
        pid_t holder;

        if (!(daemons[i].where & d->here))
            continue;
        snprintf(path, sizeof path, "%s/%s", daemons[i].root, daemons[i].lock);
        if (access(path, F_OK) < 0 && errno == ENOENT) {
            doctor_fail(d, "%s has never run here: there is no %s", daemons[i].name, path);
            continue;
        }
        holder = file_lock_holder(path, &e);
        if (holder < 0)
            doctor_skip(d, "whether %s runs: %s", daemons[i].name, e.text);
        else if (holder == 0)
            doctor_fail(d, "%s does not run, though pbs.conf starts it here", daemons[i].name);
    }
}
