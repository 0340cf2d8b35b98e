/* Built again in each turn. poll_set_got asks for the descriptor too, and not only for the place: a part may have
 * closed it, or not been in the list in this turn, and then its old place is another's. */
#include "poll_set.h"

#include <stdlib.h>

void poll_set_init(struct poll_set *p)
{
    *p = (struct poll_set){0};
}

void poll_set_fini(struct poll_set *p)
{
    free(p->fds);
    poll_set_init(p);
}

void poll_set_clear(struct poll_set *p)
{
    p->n = 0;
}

size_t poll_set_add(struct poll_set *p, int fd, short events)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        struct pollfd *fds = realloc(p->fds, cap * sizeof *fds);

        if (!fds)
            return p->n;
        p->fds = fds;
        p->cap = cap;
    }
    p->fds[p->n] = (struct pollfd){.fd = fd, .events = events};
    return p->n++;
}

short poll_set_got(const struct poll_set *p, size_t at, int fd)
{
    return at < p->n && p->fds[at].fd == fd ? p->fds[at].revents : 0;
}
