/* Three checks, in the order of the header. Wrong tokens are counted over all clients: 256 random bits cannot be guessed, but a
 * client that tries is answered 429 so that it costs little and is seen. A good token is never held up. */
#include "web_door.h"

#include <ctype.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "clock.h"
#include "web_call.h"
#include "web_route.h"
#include "web_token.h"

enum { WRONG_MAX = 20, WRONG_WINDOW_MS = 10000 }; /* a choice: a person who types wrong does it less often */

bool web_door_add(struct web_door *d, const char *host, uint16_t port)
{
    bool v6 = strchr(host, ':') && *host != '[';
    int n = 0;

    if (d->n_hosts + 2 > WEB_HOSTS_MAX || strlen(host) + 9 > WEB_HOST_MAX)
        return false;
    n = snprintf(d->hosts[d->n_hosts], WEB_HOST_MAX, "%s%s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "", port);
    for (int i = 0; i < n; i++)
        d->hosts[d->n_hosts][i] = (char)tolower((unsigned char)d->hosts[d->n_hosts][i]);
    d->n_hosts++;
    if (port == (d->tls ? 443 : 80)) {
        memcpy(d->hosts[d->n_hosts], d->hosts[d->n_hosts - 1], WEB_HOST_MAX);
        *strrchr(d->hosts[d->n_hosts], ':') = '\0';
        d->n_hosts++;
    }
    return true;
}

static bool web_door_is_host(const struct web_door *d, const char *host)
{
    for (int i = 0; i < d->n_hosts; i++)
        if (strcasecmp(d->hosts[i], host) == 0)
            return true;
    return false;
}

static bool web_door_is_origin(const struct web_door *d, const char *origin)
{
    const char *scheme = d->tls ? "https://" : "http://";

    return strncasecmp(origin, scheme, strlen(scheme)) == 0 && web_door_is_host(d, origin + strlen(scheme));
}

static const char *web_door_header(const struct web_call *w, const char *name)
{
    return MHD_lookup_connection_value(w->http, MHD_HEADER_KIND, name);
}

/* Count a wrong token. True: there were too many. */
static bool web_door_is_guessing(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int64_t since_mono_ms; /* of the whole service: clients may come from any address */
    static int wrong;
    int64_t now = clock_real_mono_ms();
    bool many;

    pthread_mutex_lock(&lock);
    if (now - since_mono_ms > WRONG_WINDOW_MS) {
        since_mono_ms = now;
        wrong = 0;
    }
    many = ++wrong > WRONG_MAX;
    pthread_mutex_unlock(&lock);
    return many;
}

static bool web_door_token(struct web_door *d, struct web_call *w)
{
    const char *given = web_door_header(w, "Authorization");
    struct web_token t;

    if (!given || strncasecmp(given, "Bearer ", 7) != 0) {
        web_call_problem(
            w, 401, 0,
            "a token is needed: make one by \"pbs_web token\", and send it as Authorization: Bearer TOKEN");
        return false;
    }
    given += 7 + strspn(given + 7, " ");
    if (!web_tokens_check(d->tokens, given, &t)) {
        if (web_door_is_guessing())
            web_call_problem(w, 429, 0, "too many wrong tokens");
        else
            web_call_problem(w, 401, 0, "the token is wrong, or has expired");
        return false;
    }
    if (w->route->right == WEB_WRITE && t.read_only) {
        web_call_problem(w, 403, 0, "the token %s is read-only", t.name);
        return false;
    }
    return true;
}

bool web_door_admits(struct web_door *d, struct web_call *w)
{
    const char *host = web_door_header(w, "Host"), *origin = web_door_header(w, "Origin");
    const char *site = web_door_header(w, "Sec-Fetch-Site");

    if (!host || !web_door_is_host(d, host)) {
        web_call_problem(w, 421, 0,
                         "this service is not known by the name of the request; pbs_web --host adds one");
        return false;
    }
    if ((origin && !web_door_is_origin(d, origin)) ||
        (site && w->route->right != WEB_OPEN && strcmp(site, "same-origin") != 0 &&
         strcmp(site, "none") != 0)) {
        web_call_problem(w, 403, 0, "a page of another site asks");
        return false;
    }
    return w->route->right == WEB_OPEN || web_door_token(d, w);
}
