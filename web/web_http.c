/* A pool of threads, each with its part of the connections. A request is taken apart by libmicrohttpd; web_http_begin checks head and
 * route before a byte of the body is kept, web_http_serve calls the handler when the body is whole.
 *
 * What a client can cost: a connection's memory is bounded (POOL), so is their number, a body, and the sum of answers that wait to be
 * read (WAITING_MAX). libmicrohttpd's own time limit begins again with each byte, so a client that sends one now and then could hold a
 * connection for ever: web_http_reap, once a second, ends those whose head or body takes too long. */
#include "web_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "strbuf.h"
#include "web_call.h"
#include "web_events.h"
#include "web_metrics.h"
#include "web_route.h"

enum { THREADS = 4, POOL = 32 << 10, PEM_MAX = 1 << 20, ALLOW_MAX = 64, PARAM_MAX = 64 };
enum { WAITING_MAX = 512 << 20, TICK_US = 500000 };

/* A connection, from accept to close. */
struct web_http_peer {
    struct web_http_peer *next, **at;
    int fd;
    int64_t until_mono_ms; /* when it is ended; 0: its request is being served */
};

struct web_http {
    struct MHD_Daemon *daemon;
    struct web_door *door;
    struct web_watch *watch;
    char *cert, *key;
    uint16_t port;
    int fd;               /* the socket, until the daemon has it */
    pthread_mutex_t lock; /* of peers and waiting */
    struct web_http_peer *peers;
    size_t waiting; /* bytes of answers that were not sent yet */
    pthread_t reaper;
    bool reaping, stopping;
};

/* A request, from its head to the end of its answer. */
struct web_http_request {
    struct web_http *h;
    struct web_http_peer *peer;
    struct web_call call;
    char *body;
    size_t room;
    char allow[ALLOW_MAX];
    int64_t begun_us;
    bool refused, too_long;
};

/* --- time ---------------------------------------------------------------------------------------------------------- */

static void web_http_allow(struct web_http *h, struct web_http_peer *p, int seconds)
{
    pthread_mutex_lock(&h->lock);
    p->until_mono_ms = seconds ? clock_real_mono_ms() + seconds * 1000LL : 0;
    pthread_mutex_unlock(&h->lock);
}

/* The descriptor stays open until libmicrohttpd closes it: it sees the end of the stream. */
static void *web_http_reap(void *arg)
{
    struct web_http *h = arg;
    bool stopping = false;

    while (!stopping) {
        int64_t now = clock_real_mono_ms();

        pthread_mutex_lock(&h->lock);
        for (struct web_http_peer *p = h->peers; p; p = p->next)
            if (p->until_mono_ms && p->until_mono_ms < now)
                shutdown(p->fd, SHUT_RDWR);
        stopping = h->stopping;
        pthread_mutex_unlock(&h->lock);
        web_events_tick();
        usleep(TICK_US);
    }
    return NULL;
}

static void web_http_peer_cb(void *arg, struct MHD_Connection *c, void **context,
                             enum MHD_ConnectionNotificationCode what)
{
    struct web_http *h = arg;
    struct web_http_peer *p = *context;
    int yes = 1;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        p = calloc(1, sizeof *p);
        if (!p)
            return; /* the first request finds none, and ends the connection */
        p->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        /* An answer is sent in two pieces: without this the second waits for the client's acknowledgement of the first. */
        setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        p->until_mono_ms = clock_real_mono_ms() + WEB_HEAD_S * 1000LL;
        pthread_mutex_lock(&h->lock);
        p->next = h->peers;
        p->at = &h->peers;
        if (p->next)
            p->next->at = &p->next;
        h->peers = p;
        pthread_mutex_unlock(&h->lock);
        *context = p;
    } else if (p) {
        pthread_mutex_lock(&h->lock);
        *p->at = p->next;
        if (p->next)
            p->next->at = p->at;
        pthread_mutex_unlock(&h->lock);
        free(p);
        *context = NULL;
    }
}

/* --- answers -------------------------------------------------------------------------------------------------------- */

struct web_http_bytes {
    struct web_http *h;
    size_t n;
    char *bytes;
};

static void web_http_sent_cb(void *arg)
{
    struct web_http_bytes *b = arg;

    pthread_mutex_lock(&b->h->lock);
    b->h->waiting -= b->n;
    pthread_mutex_unlock(&b->h->lock);
    free(b->bytes);
    free(b);
}

/* The answer of the call as a response that owns it. NULL: no memory, or too much waits to be sent already. */
static struct MHD_Response *web_http_response(struct web_http *h, struct web_call *w)
{
    struct MHD_Response *r;
    struct web_http_bytes *b;
    bool room;

    if (w->answer_is_constant)
        return MHD_create_response_from_buffer(w->n_answer, w->answer, MHD_RESPMEM_PERSISTENT);
    pthread_mutex_lock(&h->lock);
    room = h->waiting + w->n_answer <= WAITING_MAX;
    h->waiting += room ? w->n_answer : 0;
    pthread_mutex_unlock(&h->lock);
    b = room ? malloc(sizeof *b) : NULL;
    if (b)
        *b = (struct web_http_bytes){h, w->n_answer, w->answer};
    r = b ? MHD_create_response_from_buffer_with_free_callback_cls(w->n_answer, w->answer, web_http_sent_cb,
                                                                   b)
          : NULL;
    if (r) {
        w->answer = NULL;
    } else if (room) {
        pthread_mutex_lock(&h->lock);
        h->waiting -= w->n_answer;
        pthread_mutex_unlock(&h->lock);
        free(b);
    }
    return r;
}

/* Every answer says what a browser may do with it; a problem also with a page. */
static void web_http_headers(const struct web_http_request *q, struct MHD_Response *r)
{
    static const char policy[] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    const struct web_call *w = &q->call;

    MHD_add_response_header(r, "Content-Type", w->type);
    MHD_add_response_header(r, "Content-Security-Policy", policy);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Cache-Control", w->etag ? "no-cache" : "no-store");
    if (w->etag)
        MHD_add_response_header(r, "ETag", w->etag);
    if (w->status == 401)
        MHD_add_response_header(r, "WWW-Authenticate", "Bearer realm=\"pbs\"");
    if (w->status == 405)
        MHD_add_response_header(r, "Allow", q->allow);
    if (w->status == 503 || w->status == 429)
        MHD_add_response_header(r, "Retry-After", "5");
}

static enum MHD_Result web_http_send(struct web_http_request *q)
{
    struct web_call *w = &q->call;
    struct MHD_Response *r = w->stream ? w->stream : web_http_response(q->h, w);
    enum MHD_Result rc;

    if (!r)
        return MHD_NO;
    web_http_headers(q, r);
    web_metrics_answered(w->status, clock_real_mono_us() - q->begun_us);
    rc = MHD_queue_response(w->http, w->status, r);
    MHD_destroy_response(r);
    w->stream = NULL;
    return rc;
}

/* --- requests ------------------------------------------------------------------------------------------------------- */

static bool web_http_is_number(const char *text, const struct web_param *p)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    return *text && !*end && !errno && n >= p->least && n <= p->most;
}

static enum MHD_Result web_http_param_cb(void *arg, enum MHD_ValueKind kind, const char *name,
                                         const char *value)
{
    struct web_http_request *q = arg;
    const struct web_param *p = q->call.route->query;

    while (p && p->name && strcmp(p->name, name) != 0)
        p++;
    if (!p || !p->name)
        web_call_problem(&q->call, 400, 0, "%.*s is not a parameter of this request", PARAM_MAX, name);
    else if (!value)
        web_call_problem(&q->call, 400, 0, "%s needs a value", name);
    else if (p->type == WEB_NUMBER && !web_http_is_number(value, p))
        web_call_problem(&q->call, 400, 0, "%s is a number from %ld to %ld", name, p->least, p->most);
    else if (p->type == WEB_FLAG && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        web_call_problem(&q->call, 400, 0, "%s is true or false", name);
    else
        return MHD_YES;
    q->refused = true;
    return MHD_NO;
}

/* Head, route, who asks, parameters. */
static void web_http_begin(struct web_http_request *q, const char *method, const char *path)
{
    static const struct web_route any = {
        .right = WEB_OPEN}; /* so that a stranger does not learn by 404 and 405 more than the page */
    struct web_call *w = &q->call;
    unsigned status = 404;

    q->begun_us = clock_real_mono_us();
    w->route = web_route_find(method, path, w->id, sizeof w->id, &status, q->allow, sizeof q->allow);
    if (!w->route) {
        w->route = &any;
        if (web_door_admits(q->h->door, w))
            web_call_problem(w, status, 0,
                             status == 405 ? "this path takes other methods"
                                           : "there is nothing at this path");
        q->refused = true;
        return;
    }
    if (!web_door_admits(q->h->door, w))
        q->refused = true;
    else
        MHD_get_connection_values(w->http, MHD_GET_ARGUMENT_KIND, web_http_param_cb, q);
}

/* Keep a piece of the body; what a refused request sends is thrown away. */
static void web_http_take(struct web_http_request *q, const char *data, size_t n)
{
    if (q->refused || q->too_long)
        return;
    if (!q->call.route->body || q->call.n_body + n > WEB_BODY_MAX) {
        q->too_long = true;
        return;
    }
    if (q->call.n_body + n + 1 > q->room) {
        size_t room = 2 * (q->call.n_body + n + 1);
        char *more = realloc(q->body, room);

        if (!more) {
            q->too_long = true;
            return;
        }
        q->body = more;
        q->room = room;
    }
    memcpy(q->body + q->call.n_body, data, n);
    q->call.n_body += n;
    q->body[q->call.n_body] = '\0';
}

static void web_http_serve(struct web_http_request *q)
{
    struct web_call *w = &q->call;
    const char *seen = MHD_lookup_connection_value(w->http, MHD_HEADER_KIND, "If-None-Match");

    if (q->refused)
        return;
    if (q->too_long) {
        web_call_problem(w, 413, 0,
                         w->route->body ? "a body has at most %d bytes" : "this request has no body",
                         WEB_BODY_MAX);
        return;
    }
    w->body = q->body ? q->body : "";
    w->route->handler(w);
    if (seen && w->etag && strcmp(seen, w->etag) == 0) {
        w->status = 304;
        w->n_answer = 0;
    }
}

static struct web_http_request *web_http_create(struct web_http *h, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct web_http_request *q = info && info->socket_context ? calloc(1, sizeof *q) : NULL;

    if (!q)
        return NULL;
    q->h = h;
    q->peer = info->socket_context;
    q->call.http = c;
    q->call.watch = h->watch;
    return q;
}

/* Called first with the head, then with each piece of the body, at last with none. */
static enum MHD_Result web_http_request_cb(void *arg, struct MHD_Connection *c, const char *path,
                                           const char *method, const char *version, const char *data,
                                           size_t *n_data, void **context)
{
    struct web_http *h = arg;
    struct web_http_request *q = *context;

    if (!q) {
        q = web_http_create(h, c);
        if (!q)
            return MHD_NO;
        *context = q;
        web_http_allow(h, q->peer, WEB_BODY_S);
        web_http_begin(q, method, path);
        return MHD_YES;
    }
    if (*n_data) {
        web_http_take(q, data, *n_data);
        *n_data = 0;
        return MHD_YES;
    }
    web_http_allow(h, q->peer, 0);
    web_http_serve(q);
    return web_http_send(q);
}

static void web_http_done_cb(void *arg, struct MHD_Connection *c, void **context,
                             enum MHD_RequestTerminationCode why)
{
    struct web_http_request *q = *context;

    if (!q)
        return;
    web_http_allow(q->h, q->peer, WEB_HEAD_S);
    web_call_fini(&q->call);
    free(q->body);
    free(q);
    *context = NULL;
}

/* A null byte in a path or parameter would end the text that comes behind it: it becomes a character that no name has. */
static size_t web_http_unescape_cb(void *arg, struct MHD_Connection *c, char *text)
{
    size_t n = MHD_http_unescape(text);

    for (size_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = '\1';
    return n;
}

/* --- the beginning and the end ---------------------------------------------------------------------------------------- */

static int web_http_socket(const struct web_http_settings *s, uint16_t *port, struct err *e)
{
    union {
        struct sockaddr sa;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at = {.v4 = {.sin_family = AF_INET, .sin_port = htons(s->port)}};
    socklen_t n = sizeof at.v4;
    int fd, yes = 1;

    if (inet_pton(AF_INET, s->address, &at.v4.sin_addr) != 1) {
        at.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(s->port)};
        n = sizeof at.v6;
        if (inet_pton(AF_INET6, s->address, &at.v6.sin6_addr) != 1)
            return err_set(e, EINVAL, "%s is not an address of this host", s->address);
    }
    fd = socket(at.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(e, errno, "no socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, &at.sa, n) < 0 || listen(fd, WEB_CONNECTIONS_MAX) < 0 || getsockname(fd, &at.sa, &n) < 0) {
        err_errno(e, errno, "cannot listen on %s port %u", s->address, s->port);
        close(fd);
        return -1;
    }
    *port = ntohs(at.sa.sa_family == AF_INET ? at.v4.sin_port : at.v6.sin6_port);
    return fd;
}

static int web_http_daemon(struct web_http *h, int fd, struct err *e)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (h->cert ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, h->cert},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, h->key},
                                   {MHD_OPTION_END, 0, NULL}};

    if (!h->cert)
        tls[0].option = MHD_OPTION_END;
    h->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, web_http_request_cb, h, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)WEB_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WEB_QUIET_S, MHD_OPTION_NOTIFY_COMPLETED, web_http_done_cb,
        h, MHD_OPTION_NOTIFY_CONNECTION, web_http_peer_cb, h, MHD_OPTION_UNESCAPE_CALLBACK,
        web_http_unescape_cb, NULL, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    return h->daemon ? 0
                     : err_set(e, EINVAL,
                               h->cert ? "cannot serve: are certificate and key a pair?" : "cannot serve");
}

struct web_http *web_http_open(const struct web_http_settings *s, struct err *e)
{
    struct web_http *h = calloc(1, sizeof *h);

    if (!h) {
        err_no_memory(e);
        return NULL;
    }
    pthread_mutex_init(&h->lock, NULL);
    h->door = s->door;
    h->watch = s->watch;
    h->fd = -1;
    if (s->cert && (file_read(AT_FDCWD, s->cert, PEM_MAX, &h->cert, NULL, e) < 0 ||
                    file_read(AT_FDCWD, s->key, PEM_MAX, &h->key, NULL, e) < 0))
        goto failed;
    h->fd = web_http_socket(s, &h->port, e);
    if (h->fd < 0)
        goto failed;
    return h;
failed:
    web_http_stop(h);
    return NULL;
}

int web_http_start(struct web_http *h, struct err *e)
{
    if (web_http_daemon(h, h->fd, e) < 0)
        return -1;
    h->fd = -1; /* the daemon closes it */
    if (pthread_create(&h->reaper, NULL, web_http_reap, h) != 0)
        return err_set(e, EAGAIN, "cannot start a thread");
    h->reaping = true;
    return 0;
}

uint16_t web_http_port(const struct web_http *h)
{
    return h->port;
}

void web_http_stop(struct web_http *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_mutex_unlock(&h->lock);
    if (h->reaping)
        pthread_join(h->reaper, NULL);
    web_events_stop();
    if (h->daemon)
        MHD_stop_daemon(h->daemon);
    if (h->fd >= 0)
        close(h->fd);
    pthread_mutex_destroy(&h->lock);
    free(h->cert);
    free(h->key);
    free(h);
}
