#ifndef HOST_ADDRESS_H
#define HOST_ADDRESS_H
/* Where a host is, as the system's resolver says. The own name of this host may be one that no resolver knows (a
 * container, a laptop): it is then the loopback interface, so that what runs on one host needs no entry in /etc/hosts.
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

/* Is it an address, of either family, and not a name? */
bool host_address_is_numeric(const char *host);

/* Have both the same family and address, whatever their ports are? Of the IP families. */
bool host_address_is_same(const struct sockaddr *a, const struct sockaddr *b);

/* Has an interface of this host this numeric address, or is it a loopback address? Does not block. */
bool host_address_is_of_this_host(const char *address);

#endif
