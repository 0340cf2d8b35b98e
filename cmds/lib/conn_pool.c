/* A short array, searched by the name as it was written. A server that could not be reached keeps its entry with
 * the error: a command with a hundred jobs there complains once, and each job gets the same number. */
#include "conn_pool.h"

#include "pbs_error.h"
#include "pbs_ifl.h"

struct server {
    char *name;
    int c;    /* -1: cannot be reached */
    int code; /* with c -1: the PBSE_ number */
};

struct conn_pool {
    const struct cmd_args *a;
    bool silent;
    size_t n;
    struct server server[CONN_POOL_MAX];
};

struct conn_pool *conn_pool_create(const struct cmd_args *a)
{
    struct conn_pool *p = calloc(1, sizeof *p);

    if (p)
        p->a = a;
    else
        cmd_error(a, "no memory");
    return p;
}

void conn_pool_forget(struct conn_pool *p)
{
    size_t i;

    for (i = 0; i < p->n; i++) {
        if (p->server[i].c >= 0)
            pbs_disconnect(p->server[i].c);
        free(p->server[i].name);
    }
    p->n = 0;
}

void conn_pool_destroy(struct conn_pool *p)
{
    if (p)
        conn_pool_forget(p);
    free(p);
}

void conn_pool_silence(struct conn_pool *p)
{
    p->silent = true;
}

static const char *reason_text(int code)
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

static void print_reason(const struct conn_pool *p, const char *server)
{
    int code = pbs_errno;
    const char *name = *server ? server : pbs_server, *text = pbs_geterrmsg(-1);

    if (p->silent)
        return;
    fputs(reason_text(code), stderr);
    if (text && *text)
        cmd_error(p->a, "%s", text);
    if (p->a->cmd->admin)
        cmd_error(p->a, "could not connect to server %s (%d)", name ? name : "", code);
    else
        cmd_error(p->a, "cannot connect to server %s (errno=%d)", name ? name : "", code);
}

int conn_pool_connect(struct conn_pool *p, const char *server)
{
    struct server *v;
    size_t i;

    server = server ? server : "";
    for (i = 0; i < p->n; i++)
        if (!strcmp(p->server[i].name, server)) {
            pbs_errno = p->server[i].code;
            return p->server[i].c;
        }
    v = &p->server[p->n];
    if (p->n == CONN_POOL_MAX || !(v->name = strdup(server))) {
        pbs_errno = PBSE_NOCONNECTS;
        return cmd_error(p->a, "too many servers named");
    }
    p->n++;
    v->c = pbs_connect(*server ? server : NULL);
    v->code = v->c < 0 ? pbs_errno : 0;
    if (v->c < 0)
        print_reason(p, server);
    pbs_errno = v->code;
    return v->c;
}
