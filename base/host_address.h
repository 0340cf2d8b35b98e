#ifndef HOST_ADDRESS_H
#define HOST_ADDRESS_H
/* Addresses of hosts, as the system's resolver has them. The own name of this host may be one that no resolver knows
 * (a container, a laptop): it is then the loopback interface, as localhost is, so that what runs on one host needs no entry in
 * /etc/hosts.
 */
#include <netdb.h>
#include <stdbool.h>

/* Addresses for stream sockets, as getaddrinfo(3) gives them.
 *
 * host     name or address
 * service  port number as text, or NULL for port 0
 * flags    AI_* of getaddrinfo
 * list     0 is returned: the addresses, for freeaddrinfo(); else untouched
 *
 * 0, or the error of getaddrinfo (EAI_*; EAI_SYSTEM: errno). May block for as long as the resolver does. Any thread.
 */
int host_address_find(const char *host, const char *service, int flags, struct addrinfo **list);

/* True if host is what gethostname(2) says, or its first part; upper and lower case are alike. */
bool host_address_is_own_name(const char *host);

/* Return true if `host` is a numeric address of either family, and not a name. */
bool host_address_is_numeric(const char *host);

/* Return true if both have the same IP family and address; ports are ignored. */
bool host_address_is_same(const struct sockaddr *a, const struct sockaddr *b);

/* Return true if an interface of this host has this numeric address, or it is a loopback address. Does not block. */
bool host_address_is_of_this_host(const char *address);

#endif
