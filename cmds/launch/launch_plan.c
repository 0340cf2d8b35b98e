/* The nodefile has a line for each mpiprocs of a chunk, so a host has several lines, and not always next to one another. Ranks are dealt to
 * lines in turn; a host is numbered when its first line is used. A node of TM is a line, counted from 0: a rank is started on its own
 * line, and the helper of a host is asked by the first one of that host. */
#include "launch_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "words.h"

enum { LINE_MAX_LEN = 1024, RANKS_MAX = 131072 };

struct known { /* a host that has been seen */
    UT_hash_handle hh;
    unsigned index;
    const char *name;
};

static int launch_plan_read(const char *path, struct words *lines, struct err *e)
{
    FILE *f = path ? fopen(path, "re") : NULL;
    char line[LINE_MAX_LEN];
    int rc = 0;

    if (!f)
        return err_set(e, errno,
                       "PBS_NODEFILE cannot be read: this is not inside a job, or not on a host of it");
    while (rc == 0 && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0])
            rc = words_add(lines, line, e);
    }
    (void)fclose(f);
    if (rc == 0 && !lines->n)
        return err_set(e, ENOENT, "the nodefile %s is empty", path);
    return rc;
}

static int launch_plan_room(struct launch_plan *p, unsigned n, struct err *e)
{
    p->n_ranks = n;
    p->node = calloc(n, sizeof *p->node);
    p->host = calloc(n, sizeof *p->host);
    p->hosts = calloc(n < p->n_lines ? n : p->n_lines, sizeof *p->hosts);
    return p->node && p->host && p->hosts ? 0 : err_set(e, ENOMEM, "no memory for %u ranks", n);
}

/* Return the index of the host of this line; -1: no memory. */
static int launch_plan_host_of(struct launch_plan *p, struct known **all, const char *name, int node)
{
    struct known *k;

    HASH_FIND_STR(*all, name, k);
    if (k)
        return (int)k->index;
    k = calloc(1, sizeof *k);
    if (!k || !(p->hosts[p->n_hosts].name = strdup(name))) {
        free(k);
        return -1;
    }
    k->index = p->n_hosts;
    k->name = p->hosts[p->n_hosts].name;
    p->hosts[p->n_hosts++].node = node;
    HASH_ADD_KEYPTR(hh, *all, k->name, strlen(k->name), k);
    return (int)k->index;
}

static int launch_plan_fill(struct launch_plan *p, const struct words *lines, struct err *e)
{
    struct known *all = NULL, *k, *next;
    int rc = 0;

    for (unsigned r = 0; r < p->n_ranks && rc == 0; r++) {
        int node = (int)(r % p->n_lines), host = launch_plan_host_of(p, &all, lines->w[node], node);

        if (host < 0)
            rc = err_set(e, ENOMEM, "no memory for the hosts of a launch");
        p->node[r] = node;
        p->host[r] = (unsigned)host;
    }
    HASH_ITER(hh, all, k, next)
    {
        HASH_DELETE(hh, all, k);
        free(k);
    }
    return rc;
}

int launch_plan_make(struct launch_plan *p, const char *nodefile, unsigned n, bool crowd, struct err *e)
{
    struct words lines;
    int rc = -1;

    *p = (struct launch_plan){0};
    words_init(&lines);
    if (launch_plan_read(nodefile, &lines, e) == 0) {
        p->n_lines = (unsigned)lines.n;
        n = n ? n : p->n_lines;
        if (n > p->n_lines && !crowd)
            err_set(e, E2BIG,
                    "%u ranks do not fit on the %u lines of the nodefile; --overcommit puts more on a line",
                    n, p->n_lines);
        else if (n > RANKS_MAX)
            err_set(e, E2BIG, "there may be %d ranks", RANKS_MAX);
        else if (launch_plan_room(p, n, e) == 0)
            rc = launch_plan_fill(p, &lines, e);
    }
    words_fini(&lines);
    if (rc < 0)
        launch_plan_fini(p);
    return rc;
}

void launch_plan_fini(struct launch_plan *p)
{
    for (unsigned i = 0; i < p->n_hosts; i++)
        free(p->hosts[i].name);
    free(p->hosts);
    free(p->node);
    free(p->host);
    *p = (struct launch_plan){0};
}
