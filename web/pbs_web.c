/* pbs_web: HTTP for people and programs, and the tokens by which they come in. doc/man/pbs_web.8.
 *
 * Serving: options are checked, the user's tokens are opened, the thread that follows the server starts, the socket is bound, and a
 * line says where. It ends with SIGTERM or SIGINT. It has no rights but those of the user who runs it, and no state but the file of
 * tokens: ended and started again it shows the same. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd.h"
#include "conf.h"
#include "systemd.h"
#include "web_door.h"
#include "web_http.h"
#include "web_token.h"
#include "web_watch.h"

enum { DAYS = 90, DAYS_MAX = 3653, PORT = 8080, NAMES_MAX = 8 };

struct pbs_web {
    struct cmd_args a;
    char address[64];
    uint16_t port;
    const char *cert, *key, *tokens;
    const char *names[NAMES_MAX];
    int n_names;
    int days;
    bool read_only, port_is_set;
    char path[PATH_MAX]; /* of the tokens */
};

static int pbs_web_take_listen(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct pbs_web *s = settings;

    if (strncmp(value, "0:", 2) == 0 ||
        conf_split_host(value, s->address, sizeof s->address, &s->port, PORT, NULL) < 0) {
        const char *colon = strrchr(value, ':');

        /* conf_split_host knows no port 0, which is any that is free. */
        if (!colon || strcmp(colon, ":0") != 0 || (size_t)(colon - value) >= sizeof s->address ||
            colon == value)
            return err_set(e, EINVAL, "--listen is ADDRESS:PORT, as 127.0.0.1:8080");
        snprintf(s->address, sizeof s->address, "%.*s", (int)(colon - value), value);
        s->port = 0;
    }
    s->port_is_set = true;
    return 0;
}

static int pbs_web_take_host(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct pbs_web *s = settings;

    if (s->n_names == NAMES_MAX)
        return err_set(e, EINVAL, "--host may be given %d times", NAMES_MAX);
    s->names[s->n_names++] = value;
    return 0;
}

static int pbs_web_take_days(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct pbs_web *s = settings;
    char *end;
    long days = strtol(value, &end, 10);

    if (*end || end == value || days < 1 || days > DAYS_MAX)
        return err_set(e, EINVAL, "\"%s\" is not a number of days: 1 to %d", value, DAYS_MAX);
    s->days = (int)days;
    return 0;
}

static int pbs_web_take_identity(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    if (strcmp(value, "token") == 0)
        return 0;
    if (strcmp(value, "pam") == 0 || strcmp(value, "header") == 0)
        return err_set(
            e, ENOSYS,
            "%s is not supported: a service that acts as any user would be as powerful as all of them together (the manual, "
            "security.md, says what was weighed). Each user can run a pbs_web of their own, with tokens; a proxy may choose "
            "which one a request reaches",
            value);
    return err_set(e, EINVAL, "\"%s\" is not a way to say who asks: token", value);
}

static const struct option_row rows[] = {
    {0, "listen", OPTION_VALUE, "address:port", "where to listen (127.0.0.1:8080); port 0: any that is free",
     pbs_web_take_listen, 0},
    {0, "host", OPTION_VALUE, "name",
     "a name by which browsers reach the service, beside localhost and the address; name:port where a proxy has another port",
     pbs_web_take_host, 0},
    {0, "cert", OPTION_VALUE, "file", "certificate chain in PEM form: TLS", cmd_take_text,
     (int)offsetof(struct pbs_web, cert)},
    {0, "key", OPTION_VALUE, "file", "its key", cmd_take_text, (int)offsetof(struct pbs_web, key)},
    {0, "tokens", OPTION_VALUE, "file", "the file of tokens, instead of ~/.config/cede/web_tokens",
     cmd_take_text, (int)offsetof(struct pbs_web, tokens)},
    {0, "identity", OPTION_VALUE, "token", "how a client says who asks", pbs_web_take_identity, 0},
    {0, "days", OPTION_VALUE, "number", "how long a token is to be good (90)", pbs_web_take_days, 0},
    {0, "read-only", OPTION_ALONE, NULL, "a token that can change nothing", cmd_take_flag,
     (int)offsetof(struct pbs_web, read_only)},
};

/* --- token -------------------------------------------------------------------------------------------------------- */

static int pbs_web_token(struct pbs_web *s, char *operands[], struct err *e)
{
    char text[WEB_TOKEN_TEXT + 1];
    struct web_token t;

    if (!operands[0]) {
        if (web_token_make(s->path, s->read_only, s->days ? s->days : DAYS, text, &t, e) < 0)
            return -1;
        printf("%s\n", text);
        fprintf(stderr,
                "Token %s, good for %d days%s. It is shown this once; \"pbs_web token revoke %s\" ends it.\n",
                t.name, s->days ? s->days : DAYS, s->read_only ? ", read-only" : "", t.name);
        return 0;
    }
    if (strcmp(operands[0], "list") == 0 && !operands[1])
        return web_token_list(s->path, stdout, e);
    if (strcmp(operands[0], "revoke") == 0 && operands[1] && !operands[2])
        return web_token_revoke(s->path, operands[1], e);
    return err_set(e, EINVAL, "token, token list, or token revoke NAME");
}

/* --- service -------------------------------------------------------------------------------------------------------- */

static bool pbs_web_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int pbs_web_check(const struct pbs_web *s, struct err *e)
{
    if (!s->cert != !s->key)
        return err_set(e, EINVAL, "--cert and --key go together");
    if (!s->cert && !pbs_web_is_loopback(s->address))
        return err_set(
            e, EINVAL,
            "%s can be reached from other hosts, and tokens would travel in the clear: give --cert and --key, or listen on 127.0.0.1 behind a proxy that has TLS",
            s->address);
    return 0;
}

/* The names in a Host header that are this service. */
static int pbs_web_names(const struct pbs_web *s, struct web_door *d, uint16_t port, struct err *e)
{
    bool ok = web_door_add(d, s->address, port) && web_door_add(d, "localhost", port);

    for (int i = 0; ok && i < s->n_names; i++) {
        char name[WEB_HOST_MAX];
        uint16_t other = port;

        if (conf_split_host(s->names[i], name, sizeof name, &other, port, e) < 0)
            return -1;
        ok = web_door_add(d, name, other);
    }
    return ok ? 0 : err_set(e, EINVAL, "the names of --host are too many or too long");
}

/* Descriptors for all connections; where the limit of the account is lower, connections beyond it wait. */
static void pbs_web_raise_limit(void)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max < 2 * WEB_CONNECTIONS_MAX ? l.rlim_max : 2 * WEB_CONNECTIONS_MAX;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static int pbs_web_serve(struct pbs_web *s, struct err *e)
{
    static struct web_door door; /* of the process: threads that end with it look at it */
    struct web_http_settings settings = {
        .address = s->address, .port = s->port, .cert = s->cert, .key = s->key, .door = &door};
    struct systemd_socket systemd;
    struct web_http *http;
    sigset_t ends;
    int which;

    if (pbs_web_check(s, e) < 0)
        return -1;
    systemd_take_socket(&systemd);
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    pbs_web_raise_limit();
    door.tls = s->cert != NULL;
    door.tokens = web_tokens_open(s->path);
    if (!door.tokens)
        return err_no_memory(e);
    settings.watch = web_watch_start(e);
    http = settings.watch ? web_http_open(&settings, e) : NULL;
    if (!http || pbs_web_names(s, &door, web_http_port(http), e) < 0 || web_http_start(http, e) < 0) {
        web_http_stop(http);
        return -1;
    }
    printf("pbs_web: listening on %s://%s%s%s:%u/\n", s->cert ? "https" : "http",
           strchr(s->address, ':') ? "[" : "", s->address, strchr(s->address, ':') ? "]" : "",
           web_http_port(http));
    fflush(stdout);
    systemd_tell_ready(&systemd);
    sigwait(&ends, &which);
    web_http_stop(http);
    return 0;
}

static int pbs_web_run(void *settings, int n, char *operands[])
{
    struct pbs_web *s = settings;
    struct err e;
    int rc;

    if (!s->port_is_set) {
        snprintf(s->address, sizeof s->address, "127.0.0.1");
        s->port = PORT;
    }
    if (s->tokens && strlen(s->tokens) < sizeof s->path) {
        snprintf(s->path, sizeof s->path, "%s", s->tokens);
    } else if (web_token_default(s->path, sizeof s->path, &e) < 0) {
        cmd_error(&s->a, "%s", e.text);
        return 1;
    }
    if (n && strcmp(operands[0], "token") != 0)
        return cmd_usage(&s->a);
    rc = n ? pbs_web_token(s, operands + 1, &e) : pbs_web_serve(s, &e);
    if (rc < 0)
        cmd_error(&s->a, "%s", e.text);
    return rc < 0 ? 1 : 0;
}

const struct cmd command = {
    .options = {.program = "pbs_web", .operands = "[token [list | revoke name]]", CMD_ROWS(rows)},
    .usage =
        "usage: pbs_web [--listen address:port] [--host name]... [--cert file --key file] [--tokens file]\n"
        "       pbs_web token [--read-only] [--days number] [--tokens file]\n"
        "       pbs_web token list | token revoke name [--tokens file]\n",
    .usage_exit = 2,
    .size = sizeof(struct pbs_web),
    .run = pbs_web_run,
};
