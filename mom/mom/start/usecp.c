/* $usecp lines first, then our own names: a site may map paths of this very host. A pattern is compared with
 * the host as text; no resolver is asked. */
#include "usecp.h"

#include <string.h>
#include <strings.h>

#include "mom_config.h"
#include "strbuf.h"

static bool host_matches(const char *pattern, size_t n, const char *host, size_t n_host)
{
    if (n == 1 && pattern[0] == '*')
        return true;
    if (n > 1 && pattern[0] == '*') /* "*.domain" */
        return n_host >= n - 1 && strncasecmp(pattern + 1, host + n_host - (n - 1), n - 1) == 0;
    return n == n_host && strncasecmp(pattern, host, n) == 0;
}

static bool usecp_is_ours(const char *const names[], const char *host, size_t n)
{
    if (n == 9 && strncasecmp(host, "localhost", n) == 0)
        return true;
    for (size_t i = 0; names[i]; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], host, n) == 0)
            return true;
    return false;
}

bool usecp_find(const struct config *c, const char *const our_names[], const char *to, struct strbuf *out)
{
    const char *colon = strchr(to, ':'), *slash = strchr(to, '/');
    size_t n_host;

    if (!colon || (slash && slash < colon)) {
        strbuf_add(out, to);
        return true;
    }
    n_host = (size_t)(colon - to);
    for (size_t i = 0; i < c->n_usecp; i++) {
        const char *prefix = c->usecp[i].prefix, *path = strchr(prefix, ':') + 1;
        size_t n = strlen(path);

        if (!host_matches(prefix, (size_t)(path - 1 - prefix), to, n_host) ||
            strncmp(path, colon + 1, n) != 0)
            continue;
        strbuf_addf(out, "%s%s", c->usecp[i].local, colon + 1 + n);
        return true;
    }
    if (usecp_is_ours(our_names, to, n_host)) {
        strbuf_add(out, colon + 1);
        return true;
    }
    strbuf_add(out, to);
    return false;
}
