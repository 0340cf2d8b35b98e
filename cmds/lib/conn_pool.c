/* A short array, searched by the name as it was written. A server that could not be reached keeps its place
 * with the error, so a command with a hundred jobs there complains once, and the number of the error is there
 * again for each of them. */
#include "conn_pool.h"

#include "pbs_error.h"
#include "pbs_ifl.h"

struct server {
    char *name;
    int c;    /* -1: cannot be reached */
    int code; /* then: why */
};

struct session {
    const struct cmd_args *a;
    size_t n;
    struct server server[SESSION_SERVERS_MAX];
};

struct session *session_create(const struct cmd_args *a)
{
    struct session *s = calloc(1, sizeof *s);

    if (s)
        s->a = a;
    else
        cmd_say(a, "no memory");
    return s;
}

void session_destroy(struct session *s)
{
    size_t i;

    if (!s)
        return;
    for (i = 0; i < s->n; i++) {
        if (s->server[i].c >= 0)
            pbs_disconnect(s->server[i].c);
        free(s->server[i].name);
    }
    free(s);
}

static const char *reason(int code)
{
    switch (code) {
    case PBSE_BADHOST:
        return "Unknown Host.\n";
    case PBSE_NOCONNECTS:
        return "Too many open connections.\n";
    case PBSE_NOSERVER:
        return "No default server name.\n";
    case PBSE_SYSTEM:
        return "System call failure.\n";
    case PBSE_PERM:
        return "No Permission.\n";
    case PBSE_PROTOCOL:
        return "Communication failure.\n";
    case PBSE_NOSUP:
        return "No support for requested service.\n";
    }
    return "";
}

static void say_why(const struct session *s, const char *server)
{
    int code = pbs_errno;
    const char *name = *server ? server : pbs_server, *text = pbs_geterrmsg(-1);

    fputs(reason(code), stderr);
    if (text && *text)
        cmd_say(s->a, "%s", text);
    if (s->a->cmd->admin)
        cmd_say(s->a, "could not connect to server %s (%d)", name ? name : "", code);
    else
        cmd_say(s->a, "cannot connect to server %s (errno=%d)", name ? name : "", code);
}

int session_connect(struct session *s, const char *server)
{
    struct server *v;
    size_t i;

    server = server ? server : "";
    for (i = 0; i < s->n; i++)
        if (!strcmp(s->server[i].name, server)) {
            pbs_errno = s->server[i].code;
            return s->server[i].c;
        }
    v = &s->server[s->n];
    if (s->n == SESSION_SERVERS_MAX || !(v->name = strdup(server))) {
        pbs_errno = PBSE_NOCONNECTS;
        return cmd_say(s->a, "too many servers named");
    }
    s->n++;
    v->c = pbs_connect(*server ? server : NULL);
    v->code = v->c < 0 ? pbs_errno : 0;
    if (v->c < 0)
        say_why(s, server);
    pbs_errno = v->code;
    return v->c;
}

/* "TEXT WHAT", once: a server may have named the thing already, and without its own name ("41" of
 * "41.svr1"). */
static void say_about(const struct cmd_args *a, const char *text, const char *what)
{
    const char *blank = strrchr(text, ' '), *last = blank ? blank + 1 : text;
    size_t n = strlen(last);

    if (n && !strncmp(what, last, n) && (!what[n] || strchr(".@", what[n])))
        cmd_say(a, "%.*s%s", (int)(last - text), text, what);
    else if (!*what || strstr(text, what))
        cmd_say(a, "%s", text);
    else
        cmd_say(a, "%s %s", text, what);
}

void session_report_others(const struct cmd_args *a, int c, const char *what)
{
    const struct ecl_attribute_errors *wrong = pbs_get_attributes_in_error(c);

    for (int i = 1; wrong && i < wrong->ecl_numerrors; i++) /* the first is the one of the whole */
        if (wrong->ecl_attrerr[i].ecl_errmsg)
            say_about(a, wrong->ecl_attrerr[i].ecl_errmsg, what);
}

int session_report(const struct cmd_args *a, int c, const char *what)
{
    int code = session_report_text(a, pbs_geterrmsg(c), what);

    session_report_others(a, c, what);
    return code;
}

int session_report_text(const struct cmd_args *a, const char *text, const char *what)
{
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;

    if (text && *text)
        say_about(a, text, what);
    else if (*what)
        cmd_say(a, "Server returned error %d for job %s", code, what);
    else
        cmd_say(a, "Error (%d) returned from server", code);
    return code;
}
