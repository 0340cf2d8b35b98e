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

static void show_address(const char *bytes)
{
    char text[INET_ADDRSTRLEN];
    struct hostent *back = gethostbyaddr(bytes, 4, AF_INET);

    printf("     address: %15.15s  name:  %s\n", inet_ntop(AF_INET, bytes, text, sizeof text),
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
        char bytes[4];

        memcpy(bytes, *p, sizeof bytes); /* the next call overwrites the answer */
        show_address(bytes);
    }
}

static int pbs_hostn_run(void *settings, int n, char *operands[])
{
    struct hostn *q = settings;
    struct hostent h, *found = NULL;
    char buffer[8192];
    int error;

    if (n != 1)
        return cmd_usage(&q->a);
    if (gethostbyname2_r(operands[0], AF_INET, &h, buffer, sizeof buffer, &found, &error) != 0 || !found) {
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
