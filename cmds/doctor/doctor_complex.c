/* The server and the other hosts, as this one sees them. See doctor.h.
 *
 * doctor_ports tries TCP without a word of the protocol. The other checks ask the server as any command does, by the one
 * connection of doctor_server; where there is none, doctor_reach says why and the others are reported as skipped. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

#include "clock.h"
#include "doctor.h"
#include "file.h"
#include "resource.h"

/* A call may take a second; a MUNGE credential may be five minutes old. */
enum { CLOCK_WARN_S = 5, CLOCK_FAIL_S = 300, CONNECT_MS = 5000, FILE_MAX = 1 << 20 };

/* ---- ports --------------------------------------------------------------------------------------------- */

static int try_address(const struct sockaddr *to, socklen_t size)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t n = sizeof error;
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    if (fd < 0)
        return errno;
    if (connect(fd, to, size) < 0 && errno != EINPROGRESS)
        error = errno;
    else if (poll(&p, 1, CONNECT_MS) != 1)
        error = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
    close(fd);
    return error;
}

/* Return 0 if a program listens on this port of this host, else an errno. A host may have one of the families only. */
static int try_port(int port)
{
    const struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int error = try_address((const struct sockaddr *)&v4, sizeof v4);

    return error && try_address((const struct sockaddr *)&v6, sizeof v6) == 0 ? 0 : error;
}

void doctor_ports(struct doctor *d)
{
    const struct {
        unsigned where;
        const char *name;
        int port;
    } ports[] = {{ON_SERVER, "pbs_server", conf_server_port(d->conf)},
                 {ON_MOM, "pbs_mom", (int)conf_int(d->conf, CONF_PBS_MANAGER_SERVICE_PORT)}};

    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        int error = ports[i].where & d->here ? try_port(ports[i].port) : 0;

        if (error)
            doctor_fail(d, "%s cannot be reached on port %d of this host: %s", ports[i].name, ports[i].port,
                        strerror(error));
    }
}

/* ---- the server ---------------------------------------------------------------------------------------- */

void doctor_reach(struct doctor *d)
{
    const char *text = doctor_server(d) < 0 ? pbs_geterrmsg(-1) : NULL;

    if (doctor_server(d) < 0)
        doctor_fail(d, "no connection to the server at %s:%d (%s)", conf_server_host(d->conf),
                    conf_server_port(d->conf),
                    text && *text                    ? text
                    : pbs_errno && pbs_errno < PBSE_ ? strerror(pbs_errno)
                                                     : "refused");
}

/* Ask for one attribute of the server. */
static struct batch_status *server_attr(struct doctor *d, char *name)
{
    char nothing[1] = "";
    struct attrl want = {.name = name, .resource = nothing, .value = nothing};

    return doctor_server(d) < 0 ? NULL : pbs_statserver(d->server, &want, NULL);
}

void doctor_closed(struct doctor *d)
{
    char name[] = "closed";
    struct batch_status *s = server_attr(d, name);
    const char *why = doctor_attr(s, name);

    if (doctor_server(d) < 0)
        doctor_skip(d, "whether the server is closed");
    else if (why)
        doctor_fail(d, "the server is closed to all but root: %s", why);
    pbs_statfree(s);
}

void doctor_clock(struct doctor *d)
{
    char name[] = "current_time";
    int64_t before = clock_wall_s(clock_real());
    struct batch_status *s = server_attr(d, name);
    const char *said = doctor_attr(s, name);
    long long off, after = clock_wall_s(clock_real()), theirs = said ? atoll(said) : 0;

    if (doctor_server(d) < 0)
        doctor_skip(d, "the server's clock");
    else if (!said)
        doctor_skip(d, "the server does not send its time: it is of an older version");
    off = !said ? 0 : theirs < before ? theirs - before : theirs > after ? theirs - after : 0;
    if (llabs(off) >= CLOCK_FAIL_S)
        doctor_fail(d, "the server's clock is %lld seconds %s this host's", llabs(off),
                    off < 0 ? "behind" : "ahead of");
    else if (llabs(off) >= CLOCK_WARN_S)
        doctor_warn(d, "the server's clock is %lld seconds %s this host's", llabs(off),
                    off < 0 ? "behind" : "ahead of");
    pbs_statfree(s);
}

void doctor_versions(struct doctor *d)
{
    char version[] = "cede_version";
    struct batch_status *s = server_attr(d, version), *nodes;
    const char *theirs = doctor_attr(s, version);

    if (!theirs)
        doctor_skip(d, "the versions of the other daemons");
    else if (strcmp(theirs, CEDE_VERSION) != 0)
        doctor_warn(d, "the server is of version %s, this host has %s", theirs, CEDE_VERSION);
    nodes = theirs ? pbs_statvnode(d->server, NULL, NULL, NULL) : NULL;
    for (const struct batch_status *n = nodes; n; n = n->next) {
        const char *of = doctor_attr(n, version);

        if (of && strcmp(of, CEDE_VERSION) != 0)
            doctor_warn(d, "the MOM of %s is of version %s, this host has %s", n->name, of, CEDE_VERSION);
    }
    pbs_statfree(nodes);
    pbs_statfree(s);
}

void doctor_nodes(struct doctor *d)
{
    struct batch_status *nodes = doctor_server(d) < 0 ? NULL : pbs_statvnode(d->server, NULL, NULL, NULL);

    if (d->server < 0)
        doctor_skip(d, "the nodes");
    for (const struct batch_status *n = nodes; n; n = n->next) {
        const char *state = doctor_attr(n, "state");

        if (state && (strstr(state, "down") || strstr(state, "unknown")))
            doctor_warn(d, "node %s is %s", n->name, state);
    }
    pbs_statfree(nodes);
}

/* ---- this host's jobs ---------------------------------------------------------------------------------- */

static void report_confinement(struct doctor *d, const char *text)
{
    char *copy = strdup(text), *at = copy, *part;

    while (copy && (part = strsep(&at, ","))) {
        char *how = strchr(part, ':');

        if (!how || strncmp(part, "cpuset", 6) == 0 || strncmp(part, "devices", 7) == 0)
            continue; /* off unless mom_priv/config says otherwise */
        *how++ = '\0';
        if (strcmp(how, "off") == 0 || strstr(how, "signals") || strstr(how, "none"))
            doctor_warn(d, "%s of jobs is not confined by cgroups on this host (%s)", part, how);
    }
    free(copy);
}

void doctor_confinement(struct doctor *d)
{
    const char *name = conf_text(d->conf, CONF_PBS_MOM_NODE_NAME);
    char own[sizeof d->host];
    struct batch_status *s;

    snprintf(own, sizeof own, "%.*s", (int)strcspn(d->host, "."), d->host);
    s = doctor_server(d) < 0 ? NULL : pbs_statvnode(d->server, name ? name : own, NULL, NULL);
    if (doctor_attr(s, "confinement"))
        report_confinement(d, doctor_attr(s, "confinement"));
    else
        doctor_skip(d,
                    "what confines jobs: the server does not know the node %s, or its MOM has not reported",
                    name ? name : own);
    pbs_statfree(s);
}

/* ---- the scheduler's resources --------------------------------------------------------------------------- */

/* Return true if the line "resources:" names it. A comment begins with #. */
static bool line_has(const char *config, const char *name)
{
    size_t n = strlen(name);

    for (const char *line = config; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        line += strspn(line, " \t");
        if (strncmp(line, "resources", 9) != 0 || !strchr(": \t", line[9]))
            continue;
        for (const char *at = line + 9; *at && *at != '\n';) {
            size_t word;

            at += strspn(at, ": \t,\"");
            word = strcspn(at, ": \t,\"\n");
            if (word == n && strncasecmp(at, name, n) == 0)
                return true;
            at += word;
            if (!word)
                break;
        }
    }
    return false;
}

static void check_resource(struct doctor *d, const struct batch_status *r, const char *config)
{
    const char *flag = doctor_attr(r, "flag");
    unsigned long flags = flag ? strtoul(flag, NULL, 0) : 0;

    if (flags & (RESC_HOST | RESC_SUM | RESC_PER_NODE | RESC_FIRST_NODE) && !line_has(config, r->name))
        doctor_warn(d, "the scheduler does not look at the resource %s", r->name);
}

void doctor_resources(struct doctor *d)
{
    char path[4400], *config = NULL;
    struct resource_table *builtin = resource_table_create();
    struct batch_status *all;
    struct err e;

    snprintf(path, sizeof path, "%s/sched_priv/sched_config", d->home);
    all = doctor_server(d) < 0 ? NULL : pbs_statrsc(d->server, NULL, NULL, NULL);
    if (file_read(-100, path, FILE_MAX, &config, NULL, &e) < 0)
        doctor_skip(d, "%s", e.text);
    else if (!all)
        doctor_skip(d, "the resources of the server");
    for (const struct batch_status *r = config ? all : NULL; r && builtin; r = r->next)
        if (!resource_find(builtin, r->name))
            check_resource(d, r, config);
    pbs_statfree(all);
    resource_table_destroy(builtin);
    free(config);
}
