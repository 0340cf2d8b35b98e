/* pbs_hostn: show how this host resolves a name. */
#include <arpa/inet.h>
#include <netdb.h>

#include "cmd.h"

struct hostn {
    struct cmd_args a;
    bool verbose;
};

static const struct option_row rows[] = {
    CMD_FLAG('v', struct hostn, verbose, "aliases and addresses too"),
};

static void show_address(const char *bytes, int length, int family)
{
    char text[INET6_ADDRSTRLEN];
    struct hostent *back = gethostbyaddr(bytes, (socklen_t)length, family);

    printf("     address: %15s  name:  %s\n", inet_ntop(family, bytes, text, sizeof text),
           back && back->h_name ? back->h_name : "-null-");
}

static void pbs_hostn_show(const struct hostn *q, const struct hostent *h)
{
    char **p;

    if (!q->verbose) {
        printf("%s\n", h->h_name);
        return;
    }
    printf("primary name: %s (from gethostbyname())\n", h->h_name);
    if (!*h->h_aliases)
        printf("aliases:           -none-\n");
    for (p = h->h_aliases; *p; p++)
        printf("aliases: %s\n", *p);
    printf("     address length:  %d bytes\n", h->h_length);
    for (p = h->h_addr_list; *p; p++) {
        char bytes[sizeof(struct in6_addr)];

        memcpy(bytes, *p, (size_t)h->h_length); /* the next call overwrites the answer */
        show_address(bytes, h->h_length, h->h_addrtype);
    }
}

static int pbs_hostn_run(void *settings, int n, char *operands[])
{
    struct hostn *q = settings;
    struct hostent h, *found = NULL;
    char buffer[8192];
    int error, rc;

    if (n != 1)
        return cmd_usage(&q->a);
    rc = gethostbyname2_r(operands[0], AF_INET, &h, buffer, sizeof buffer, &found, &error);
    if (rc != 0 || !found) /* a host may have addresses of IPv6 only */
        rc = gethostbyname2_r(operands[0], AF_INET6, &h, buffer, sizeof buffer, &found, &error);
    if (rc != 0 || !found) {
        fprintf(stderr, "no name entry found for %s\n", operands[0]);
        return 1;
    }
    pbs_hostn_show(q, found);
    return 0;
}

const struct cmd command = {
    .options = {.program = "pbs_hostn", .operands = "hostname", CMD_ROWS(rows)},
    .usage = "usage: pbs_hostn [-v] hostname\n",
    .usage_exit = 1,
    .size = sizeof(struct hostn),
    .run = pbs_hostn_run,
};
