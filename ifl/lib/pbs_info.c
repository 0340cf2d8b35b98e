/* Which server is meant, and how to reach it. See pbs_info.h.
 *
 * pbs.conf is read at the first question, once for the process. A name from the caller means one server, unless it is
 * PBS_SERVER's; that one, or none, means the failover pair where there is one. The local socket is offered only where
 * the name and port are those that the file gives to the server of its PBS_HOME, even if the environment names
 * another: a request for another server must not reach this one. Everything is copied out under the lock: a target
 * stays valid when the file is loaded again. */
#include "pbs_info.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf.h"
#include "pbs_error.h"
#include "report.h"

/* One pbs.conf a process: conf_shared's, borrowed. Guarded by `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct conf *conf;

static int pbs_info_load(bool again, struct err *e)
{
    const struct conf *c = conf_shared(again, e);

    if (!c)
        return -1;
    conf = c;
    return 0;
}

int pbs_loadconf(int reload)
{
    struct err e;
    int rc;

    report_clear(-1);
    (void)pthread_mutex_lock(&lock);
    rc = pbs_info_load(reload != 0, &e);
    (void)pthread_mutex_unlock(&lock);
    if (rc < 0)
        (void)report_err(-1, &e);
    return rc == 0;
}

char *pbs_default(void)
{
    static char name[PBS_INFO_SERVER_MAX]; /* PBS promises a static text */
    struct err e;
    bool found = false;

    (void)pthread_mutex_lock(&lock);
    if (pbs_info_load(false, &e) == 0 && conf_server(conf)) {
        (void)snprintf(name, sizeof name, "%s", conf_server(conf));
        found = *name;
    }
    (void)pthread_mutex_unlock(&lock);
    return found ? name : NULL;
}

static bool is_this_host(const char *host)
{
    char own[PBS_MAXHOSTNAME + 1] = "";

    if (!strcasecmp(host, "localhost") || !strcmp(host, "127.0.0.1") || !strcmp(host, "::1"))
        return true;
    if (gethostname(own, sizeof own - 1) < 0)
        return false;
    if (!strcasecmp(host, own))
        return true;
    own[strcspn(own, ".")] = '\0';
    return !strcasecmp(host, own);
}

/* Whether the server of this pbs.conf is meant: only that one is behind the socket of PBS_HOME. */
static bool pbs_info_is_ours(const struct pbs_info_target *t)
{
    if (t->port != conf_own_port(conf))
        return false;
    if (is_this_host(t->host) || !strcasecmp(t->host, conf_own_host(conf)))
        return true;
    return !conf_is_elsewhere(conf) && !strcasecmp(t->host, conf_server_host(conf));
}

/* A certificate where there is one that we may use, unless MUNGE is asked for. */
static void fill_identity(struct pbs_info_target *t)
{
    const char *method = conf_text(conf, CONF_PBS_AUTH_METHOD),
               *socket = conf_text(conf, CONF_PBS_MUNGE_SOCKET);
    char key[PATH_MAX + 16];

    (void)snprintf(key, sizeof key, "%s/peers.crt", t->certs);
    t->other = !*t->socket && !t->of_pair && access(key, R_OK) == 0;
    (void)snprintf(key, sizeof key, "%s/sched.key", t->certs);
    if (!t->other && strcasecmp(method ? method : "", "munge") != 0 && access(key, R_OK) == 0)
        (void)snprintf(t->role, sizeof t->role, "sched");
    (void)snprintf(t->munge_socket, sizeof t->munge_socket, "%s", socket ? socket : "");
}

/* `host` and `port` are set. */
static void fill_ways(struct pbs_info_target *t)
{
    const char *home = conf_text(conf, CONF_PBS_HOME);

    if (pbs_info_is_ours(t))
        (void)snprintf(t->socket, sizeof t->socket, "%s/pbs_server.sock", home);
    (void)snprintf(t->certs, sizeof t->certs, "%s/certs", home);
    fill_identity(t);
}

/* The texts are empty. Zeros everywhere would cost every command a fault for each page of the struct. */
static void pbs_info_clear(struct pbs_info_target *t)
{
    t->name[0] = t->host[0] = t->role[0] = t->socket[0] = t->certs[0] = t->munge_socket[0] = '\0';
    t->port = 0;
    t->other = t->of_pair = false;
}

static int pbs_info_fill(struct pbs_info_target *t, const char *name, struct err *e)
{
    pbs_info_clear(t);
    if (snprintf(t->name, sizeof t->name, "%s", name) >= (int)sizeof t->name)
        return err_set(e, PBSE_BADHOST, "the name of the server is too long: %.100s...", name);
    if (conf_split_host(name, t->host, sizeof t->host, &t->port,
                        (uint16_t)conf_int(conf, CONF_PBS_BATCH_SERVICE_PORT), e) < 0)
        return -1;
    if (!strcasecmp(name, conf_server(conf)))
        (void)snprintf(t->host, sizeof t->host, "%s", conf_server_host(conf));
    fill_ways(t);
    return 0;
}

/* PBS_SERVER is the name of the pair; its hosts have keys of their own. */
static int fill_pair(struct pbs_info_target out[static PBS_INFO_TARGETS])
{
    static const enum conf_key keys[CONF_PAIR] = {CONF_PBS_PRIMARY, CONF_PBS_SECONDARY};
    const struct conf_host *pair = conf_pair(conf);

    for (int i = 0; i < CONF_PAIR; i++) {
        pbs_info_clear(&out[i]);
        out[i].port = pair[i].port;
        out[i].of_pair = true;
        (void)snprintf(out[i].name, sizeof out[i].name, "%s", conf_text(conf, keys[i]));
        (void)snprintf(out[i].host, sizeof out[i].host, "%s", pair[i].host);
        fill_ways(&out[i]);
    }
    return CONF_PAIR;
}

static int pbs_info_find(const char *server, struct pbs_info_target out[static PBS_INFO_TARGETS],
                         struct err *e)
{
    bool ours;

    if (pbs_info_load(false, e) < 0)
        return -1;
    ours = !server || !*server || !strcasecmp(server, conf_server(conf));
    if (ours && conf_pair(conf) && !conf_is_elsewhere(conf))
        return fill_pair(out);
    if (!ours)
        return pbs_info_fill(&out[0], server, e) < 0 ? -1 : 1;
    if (!conf_server(conf) || !*conf_server(conf))
        return err_set(e, PBSE_NOSERVER, "No server specified: set PBS_SERVER in pbs.conf");
    return pbs_info_fill(&out[0], conf_server(conf), e) < 0 ? -1 : 1;
}

int pbs_info_targets(const char *server, struct pbs_info_target out[static PBS_INFO_TARGETS], struct err *e)
{
    int n;

    (void)pthread_mutex_lock(&lock);
    n = pbs_info_find(server, out, e);
    (void)pthread_mutex_unlock(&lock);
    return n;
}
