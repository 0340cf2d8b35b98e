/* Addresses of hosts. The resolver is asked first: a site that gives a host's own name an address means that address.
 * Only a name that the resolver does not know is compared with the name of this host.
 */
#include "host_address.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

/* The name of this host, whole or up to its first dot. */
bool host_address_is_own_name(const char *host)
{
    char own[256] = "";
    size_t n = strlen(host), first;

    if (!n || gethostname(own, sizeof own - 1) < 0)
        return false;
    first = strcspn(own, ".");
    return strcasecmp(own, host) == 0 || (n == first && strncasecmp(own, host, n) == 0);
}

/* A resolver that cannot be reached says AGAIN or FAIL: our own name and localhost need none. */
int host_address_find(const char *host, const char *service, int flags, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
    int rc = getaddrinfo(host, service, &hints, &found);

    if (rc != 0 && (host_address_is_own_name(host) || strcasecmp(host, "localhost") == 0)) {
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

/* 127.0.0.0/8 and ::1. */
static bool is_loopback(const struct sockaddr *a)
{
    const struct sockaddr_in *v4 = (const void *)a;
    const struct sockaddr_in6 *v6 = (const void *)a;

    return a->sa_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
                                   : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool host_address_is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in *x4 = (const void *)a, *y4 = (const void *)b;
    const struct sockaddr_in6 *x6 = (const void *)a, *y6 = (const void *)b;

    if (a->sa_family != b->sa_family)
        return false;
    return a->sa_family == AF_INET ? x4->sin_addr.s_addr == y4->sin_addr.s_addr
                                   : IN6_ARE_ADDR_EQUAL(&x6->sin6_addr, &y6->sin6_addr);
}

/* Interfaces are asked each time: they come and go. */
bool host_address_is_of_this_host(const char *address)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *a = NULL;
    struct ifaddrs *all = NULL;
    bool found;

    if (getaddrinfo(address, NULL, &hints, &a) != 0)
        return false;
    found = is_loopback(a->ai_addr);
    if (!found && getifaddrs(&all) == 0)
        for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
            found = i->ifa_addr && host_address_is_same(a->ai_addr, i->ifa_addr);
    freeifaddrs(all);
    freeaddrinfo(a);
    return found;
}
