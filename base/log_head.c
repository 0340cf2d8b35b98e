/* See log_head.h. Interfaces come in the kernel's order, one line an address. */
#include "log_head.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "strbuf.h"

enum { HEAD_MAX = 65536 };

static const char *or_none(const char *text)
{
    return text && *text ? text : "N/A";
}

static void add_address(struct strbuf *b, const struct ifaddrs *a, const char *kind)
{
    socklen_t len =
        a->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    char text[NI_MAXHOST];

    if (getnameinfo(a->ifa_addr, len, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
        strbuf_addf(b, "%s interface %s: %s\n", kind, a->ifa_name, text);
}

static void add_interfaces(struct strbuf *b, const struct ifaddrs *all, int family, const char *kind)
{
    for (const struct ifaddrs *a = all; a; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == family)
            add_address(b, a, kind);
}

char *log_head_make(const struct log_head *h)
{
    struct ifaddrs *all = NULL;
    struct utsname u = {0};
    struct strbuf b;

    uname(&u);
    strbuf_init(&b, HEAD_MAX);
    strbuf_addf(&b, "pbs_version=%s\npbs_build=mach=%s\n", h->version, or_none(u.machine));
    strbuf_addf(&b, "hostname=%s;pbs_leaf_name=%s;pbs_mom_node_name=%s\n", h->host, or_none(h->leaf),
                or_none(h->mom));
    if (getifaddrs(&all) == 0) {
        add_interfaces(&b, all, AF_INET, "ipv4");
        add_interfaces(&b, all, AF_INET6, "ipv6");
        freeifaddrs(all);
    }
    strbuf_addf(&b, "cede_version=%s\n", h->own);
    return strbuf_take(&b);
}
