/* Built anew in each turn. polls_got asks for the descriptor too, and not only for the place: a part may have
 * closed it, or not been in the list in this turn, and then its old place is another's. */
#include "poll_set.h"

#include <stdlib.h>

void polls_init(struct polls *p)
{
    *p = (struct polls){0};
}

void polls_fini(struct polls *p)
{
    free(p->fds);
    polls_init(p);
}

void polls_clear(struct polls *p)
{
    p->n = 0;
}

size_t polls_add(struct polls *p, int fd, short events)
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

short polls_got(const struct polls *p, size_t at, int fd)
{
    return at < p->n && p->fds[at].fd == fd ? p->fds[at].revents : 0;
}
