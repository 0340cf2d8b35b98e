#ifndef NAMES_ADDRESS_H
#define NAMES_ADDRESS_H
/* Addresses of hosts as text, the form in which connections take them. Pure; any thread. */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "names_lookup.h"

/* Return true if `host` is a numeric address, IPv4 or IPv6, so that no look-up is needed. */
bool names_address_is_one(const char *host);

/* The address for the nth attempt, from 0 on: one after the other, since the first may be one that leads nowhere from here
 * (an IPv6 address on a network without). */
void names_address_text(const struct names_host *h, size_t nth, char out[static INET6_ADDRSTRLEN]);

#endif
