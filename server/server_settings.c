/* The server's options, and what follows from them and pbs.conf. See server_settings.h.
 *
 * Options are rows with one function; a few exist only so that old start scripts do not fail, and
 * those that would change what the server does are refused, not ignored. An option outweighs pbs.conf. */
#include "server_settings.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_address.h"
#include "options.h"
#include "units.h"

/* TAKEOVER_S: PBS's delay of a secondary server. */
enum { TAKEOVER_S = 30, TAKEOVER_MAX_S = 7 * 24 * 3600 };
static const char *const start_names[] = {[SERVER_START_HOT] = "hot",
                                          [SERVER_START_WARM] = "warm",
                                          [SERVER_START_COLD] = "cold",
                                          [SERVER_START_CREATE] = "create",
                                          [SERVER_START_UPDATEDB] = "updatedb"};

/* A flag: `id` of its row is the offset of a bool. */
static int take_flag(void *context, const struct option_row *row, const char *value, struct err *e)
{
    *(bool *)((char *)context + row->id) = true;
    return 0;
}

static int take_begin(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;

    return units_parse_int(value, 1, UINT32_MAX, &s->begin_s, e);
}

static int take_home(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;

    snprintf(s->home, sizeof s->home, "%s", value);
    return 0;
}

static int take_log(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;

    s->log_file = value;
    return 0;
}

static int server_settings_take_start(void *context, const struct option_row *row, const char *value,
                                      struct err *e)
{
    struct server_settings *s = context;

    for (size_t i = 0; i < sizeof start_names / sizeof start_names[0]; i++)
        if (strcmp(value, start_names[i]) == 0) {
            s->start = (enum server_start)i;
            return 0;
        }
    return err_set(e, EINVAL, "bad recovery type: %s (hot, warm, cold, create or updatedb)", value);
}

static int take_active(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;
    bool on;

    if (units_parse_bool(value, &on, e) < 0)
        return err_set(e, EINVAL, "%s is neither true nor false", value);
    s->scheduling = on;
    return 0;
}

/* "port" or "host:port" */
static int server_settings_parse_port(const char *value, uint16_t *port)
{
    const char *number = strrchr(value, ':') ? strrchr(value, ':') + 1 : value;
    char *end;
    unsigned long n = strtoul(number, &end, 10);

    if (*end || end == number || n == 0 || n > UINT16_MAX)
        return -1;
    *port = (uint16_t)n;
    return 0;
}

static int take_events(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;
    char *end;

    s->log_events = strtoll(value, &end, 0);
    return *end || end == value || s->log_events < 0 ? err_set(e, EINVAL, "%s is not a mask of events", value)
                                                     : 0;
}

static int take_takeover(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;
    char *end;
    long seconds = strtol(value, &end, 10);

    if (*end || end == value || seconds < -1 || seconds > TAKEOVER_MAX_S)
        return err_set(e, EINVAL, "-F invalid delay time: %s (seconds, or -1 for none)", value);
    s->takeover_ms = seconds * 1000;
    return 0;
}

static int take_port(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;

    return server_settings_parse_port(value, &s->port) < 0
               ? err_set(e, EINVAL, "host:port invalid: %s", value)
               : 0;
}

/* Of another daemon: it must be a port, and is not used. */
static int take_mom_port(void *context, const struct option_row *row, const char *value, struct err *e)
{
    uint16_t unused;

    return server_settings_parse_port(value, &unused) < 0 ? err_set(e, EINVAL, "host:port invalid: %s", value)
                                                          : 0;
}

static int take_nothing(void *context, const struct option_row *row, const char *value, struct err *e)
{
    return 0;
}

static int server_settings_refuse(void *context, const struct option_row *row, const char *value,
                                  struct err *e)
{
    return err_set(e, EINVAL, "not supported by this version");
}

#define FLAG(name) take_flag, offsetof(struct server_settings, name)

static const struct option_row rows[] = {
    {'N', "foreground", OPTION_ALONE, NULL, "stay in the foreground", FLAG(foreground)},
    {'d', "home", OPTION_VALUE, "dir", "PBS_HOME", take_home, 0},
    {'L', "log", OPTION_VALUE, "file", "log file", take_log, 0},
    {'e', "events", OPTION_VALUE, "mask", "events to log", take_events, 0},
    {'p', "port", OPTION_VALUE, "[host:]port", "port to listen on", take_port, 0},
    {'a', "active", OPTION_VALUE, "true|false", "set the attribute scheduling", take_active, 0},
    {'t', "type", OPTION_VALUE, "type", "hot, warm, cold (drop jobs), create (drop everything)",
     server_settings_take_start, 0},
    {'l', "lock-memory", OPTION_ALONE, NULL, "keep the server's memory from being swapped",
     FLAG(lock_memory)},
    {'M', NULL, OPTION_VALUE, "[host:]port", "kept for old scripts: MOMs connect to the server",
     take_mom_port, 0},
    {'R', NULL, OPTION_VALUE, "[host:]port", "kept for old scripts: MOMs connect to the server",
     take_mom_port, 0},
    {'A', NULL, OPTION_VALUE, "file", "another accounting file: not supported", server_settings_refuse, 0},
    {'C', NULL, OPTION_ALONE, NULL, "stop the data service: not supported", server_settings_refuse, 0},
    {'F', NULL, OPTION_VALUE, "seconds",
     "of a pair: how long to leave a free store to the other; -1: not at all", take_takeover, 0},
    {'G', NULL, OPTION_VALUE, "text", "kept for old scripts", take_nothing, 0},
    {'P', NULL, OPTION_VALUE, "text", "kept for old scripts", take_nothing, 0},
    {'g', NULL, OPTION_VALUE, "text", "kept for old scripts", take_nothing, 0},
    {'s', NULL, OPTION_VALUE, "text", "kept for old scripts", take_nothing, 0},
    {0, "virtual", OPTION_ALONE, NULL, "let a simulator drive the time; no MOM may register",
     FLAG(is_virtual)},
    {0, "begin", OPTION_VALUE, "seconds", "with --virtual: when simulated time begins, since the epoch (now)",
     take_begin, 0},
    {0, "local", OPTION_ALONE, NULL, "listen on the socket of this host alone, on no port", FLAG(is_local)},
    {0, "version", OPTION_ALONE, NULL, "print the version", FLAG(show_version)},
};

static const struct options options = {
    .program = "pbs_server", .operands = "", .rows = rows, .n_rows = sizeof rows / sizeof rows[0]};

/* --- the pair */
static const void *address_of(const struct sockaddr *a)
{
    return a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr
                                   : (const void *)&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
}

/* Of one of this host's interfaces; all of 127.0.0.0/8 is. (Where hosts take over addresses, any can be bound to.) */
static bool is_own_address(const struct ifaddrs *own, const struct sockaddr *a)
{
    size_t n = a->sa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);

    if (a->sa_family != AF_INET && a->sa_family != AF_INET6)
        return false;
    if (a->sa_family == AF_INET && *(const unsigned char *)address_of(a) == 127)
        return true;
    for (; own; own = own->ifa_next)
        if (own->ifa_addr && own->ifa_addr->sa_family == a->sa_family &&
            memcmp(address_of(own->ifa_addr), address_of(a), n) == 0)
            return true;
    return false;
}

static bool is_this_host(const char *host)
{
    struct addrinfo *list = NULL;
    struct ifaddrs *interfaces = NULL;
    bool ours = false;

    if (host_address_is_own_name(host))
        return true;
    if (getifaddrs(&interfaces) < 0 || host_address_find(host, NULL, 0, &list) != 0)
        list = NULL;
    for (const struct addrinfo *a = list; a && !ours; a = a->ai_next)
        ours = is_own_address(interfaces, a->ai_addr);
    freeaddrinfo(list);
    freeifaddrs(interfaces);
    return ours;
}

/* Two servers of one host (to try it) differ in their ports. */
static int find_role(struct server_settings *s, uint16_t said_port, struct err *e)
{
    const struct conf_host *pair = conf_pair(s->conf);
    bool here[CONF_PAIR];
    int i;

    if (!pair)
        return 0;
    if (!conf_is_set(s->conf, CONF_PBS_DATA_SERVICE_HOST))
        return err_set(
            e, EINVAL,
            "PBS_PRIMARY and PBS_SECONDARY need a store that both reach: set PBS_DATA_SERVICE_HOST");
    for (i = 0; i < CONF_PAIR; i++)
        here[i] = is_this_host(pair[i].host);
    for (i = 0; i < CONF_PAIR; i++)
        if (here[i] && (!here[!i] || pair[i].port == s->port))
            break;
    if (i == CONF_PAIR)
        return err_set(e, EINVAL, "this host is neither PBS_PRIMARY (%s) nor PBS_SECONDARY (%s)%s",
                       conf_text(s->conf, CONF_PBS_PRIMARY), conf_text(s->conf, CONF_PBS_SECONDARY),
                       here[0] ? ": both are here, but with other ports" : "");
    s->role = i == 0 ? SERVER_PRIMARY : SERVER_SECONDARY;
    s->role_host = conf_text(s->conf, i == 0 ? CONF_PBS_PRIMARY : CONF_PBS_SECONDARY);
    s->port = said_port ? said_port : pair[i].port;
    return 0;
}

static void name_files(struct server_settings *s)
{
    const char *name = conf_server(s->conf);

    snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(name, ".:"), name);
    snprintf(s->lock, sizeof s->lock, "%s/server_priv/server.lock%s", s->home,
             s->role == SERVER_SECONDARY ? ".secondary" : "");
    snprintf(s->active_note, sizeof s->active_note, "%s/server_priv/secondary_active", s->home);
    snprintf(s->socket, sizeof s->socket, "%s/pbs_server.sock", s->home);
    snprintf(s->logs, sizeof s->logs, "%s/server_logs", s->home);
    snprintf(s->certs, sizeof s->certs, "%s/certs", s->home);
    store_files_name(&s->store, s->home);
}

int server_settings_read(struct server_settings *s, int argc, char *argv[], struct err *e)
{
    uint16_t said_port;
    int first;

    *s = (struct server_settings){.scheduling = -1,
                                  .log_events = -1,
                                  .serves_all = geteuid() == 0,
                                  .start = SERVER_START_WARM,
                                  .takeover_ms = (int64_t)TAKEOVER_S * 1000};
    if (options_parse(&options, argc, argv, &first, s, e) < 0)
        return -1;
    if (s->show_version)
        return 0;
    if (first < argc)
        return err_set(e, EINVAL, "invalid operand: %s", argv[first]);
    s->conf = conf_load(e);
    if (!s->conf)
        return -1;
    if (!*s->home)
        snprintf(s->home, sizeof s->home, "%s", conf_text(s->conf, CONF_PBS_HOME));
    said_port = s->port;
    if (!s->port)
        s->port = conf_server_port(s->conf);
    if (find_role(s, said_port, e) < 0)
        return -1;
    name_files(s);
    return 0;
}

bool server_settings_confirm(const struct server_settings *s)
{
    const char *effect = s->start == SERVER_START_CREATE
                             ? "all jobs and the whole configuration are discarded"
                             : "all jobs are discarded";
    int answer;

    if ((s->start != SERVER_START_COLD && s->start != SERVER_START_CREATE) || !isatty(STDIN_FILENO))
        return true;
    printf("pbs_server start: %s mode and %s, \ndo you wish to continue y/(n)?", start_names[s->start],
           effect);
    fflush(stdout);
    answer = getchar();
    return answer == 'y' || answer == 'Y';
}

void server_settings_free(struct server_settings *s)
{
    conf_destroy(s->conf);
}

struct store_where server_settings_store(const struct server_settings *s)
{
    struct store_where where = store_files_where(&s->store, s->conf);

    where.is_fleeting = s->is_virtual && s->is_local; /* a simulation: it is made again, not recovered */
    return where;
}
