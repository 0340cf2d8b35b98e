#ifndef WEB_DOOR_H
#define WEB_DOOR_H
/* Who may ask what: the name by which the service was reached, the page that asks, and the token.
 *
 * A page of another host that a browser of this user shows must not reach the service: its requests have the browser's
 * access to 127.0.0.1. So Host must be a name of the service (a foreign name that resolves to 127.0.0.1 is refused: DNS rebinding),
 * Origin, where there is one, must be the service itself, and no answer permits another origin (CORS). There are no cookies: a
 * request without a token in its Authorization is a stranger's. */
#include <stdbool.h>
#include <stdint.h>

struct MHD_Connection;
struct web_call;
struct web_tokens;

enum { WEB_HOSTS_MAX = 16, WEB_HOST_MAX = 256 };

struct web_door {
    char hosts[WEB_HOSTS_MAX][WEB_HOST_MAX]; /* "127.0.0.1:8080", "localhost:8080", ... in small letters */
    int n_hosts;
    bool tls;
    struct web_tokens *tokens;
};

/* Add a name with this port, and without it where it is the scheme's own. False: there are too many, or it is too long. */
bool web_door_add(struct web_door *d, const char *host, uint16_t port);

/* May this request be served? False: the call has the problem. Of the route only its right is looked at. */
bool web_door_admits(struct web_door *d, struct web_call *w);

#endif
