/* Addresses as text, by inet_pton(3) and inet_ntop(3). See names_address.h. */
#include "names_address.h"

#include <arpa/inet.h>

bool names_address_is_one(const char *host)
{
    struct in6_addr any;

    return inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
}

void names_address_text(const struct names_host *h, size_t nth, char out[static INET6_ADDRSTRLEN])
{
    const struct sockaddr_storage *a = &h->addresses[nth % h->n_addresses];
    const void *bytes = a->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
                                                : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;

    inet_ntop(a->ss_family, bytes, out, INET6_ADDRSTRLEN);
}
