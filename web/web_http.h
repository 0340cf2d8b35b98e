#ifndef WEB_HTTP_H
#define WEB_HTTP_H
/* HTTP on a socket: connections and their bounds, requests from their first byte to the last of their answer. Only this part, web_call,
 * web_door and web_events know libmicrohttpd. */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "web_door.h"

struct web_watch;

enum {
    WEB_CONNECTIONS_MAX = 1024, /* of all clients together */
    WEB_HEAD_S = 10,  /* for the head of a request, from the connection or the end of the request before */
    WEB_BODY_S = 30,  /* for its body */
    WEB_QUIET_S = 60, /* without a byte in either direction */
};

struct web_http_settings {
    const char *address;    /* an address of this host, v4 or v6 */
    uint16_t port;          /* 0: any that is free */
    const char *cert, *key; /* PEM files; NULL: no TLS */
    struct web_door *door;
    struct web_watch *watch;
};

struct web_http;

/* Bind the socket, and read certificate and key. */
struct web_http *web_http_open(const struct web_http_settings *s, struct err *e);
uint16_t web_http_port(const struct web_http *h);
/* Begin to serve, on threads of its own; the door does not change from here on. */
int web_http_start(struct web_http *h, struct err *e);
void web_http_stop(struct web_http *h);

#endif
