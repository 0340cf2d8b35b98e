/* Where a host is. The resolver has the first word: a site that gives its own name an address means that address. Only
 * for a name that it does not know do we ask ourselves whether it is ours.
 */
#include "host_address.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

bool host_address_is_own_name(const char *host)
{
    char own[256] = "";
    size_t n = strlen(host), first;

    if (!n || gethostname(own, sizeof own - 1) < 0)
        return false;
    first = strcspn(own, ".");
    return strcasecmp(own, host) == 0 || (n == first && strncasecmp(own, host, n) == 0);
}

/* A resolver that cannot be reached says AGAIN or FAIL: our own name needs none. */
int host_address_find(const char *host, const char *service, int flags, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
    int rc = getaddrinfo(host, service, &hints, &found);

    if (rc != 0 && host_address_is_own_name(host)) {
        hints.ai_flags &= ~AI_ADDRCONFIG; /* which does not count the loopback interface */
        rc = getaddrinfo(NULL, service ? service : "0", &hints, &found);
    }
    if (rc == 0)
        *list = found;
    return rc;
}

bool host_address_is_numeric(const char *host)
{
    struct in6_addr room;

    return inet_pton(AF_INET, host, &room) == 1 || inet_pton(AF_INET6, host, &room) == 1;
}
