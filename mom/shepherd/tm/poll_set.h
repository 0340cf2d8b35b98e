#ifndef POLL_SET_H
#define POLL_SET_H
/* What one turn of the shepherd waits for: a list that parts add to before poll() and look into after it. */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct poll_set {
    struct pollfd *fds;
    size_t n, cap;
};

void poll_set_init(struct poll_set *p);
void poll_set_fini(struct poll_set *p);
void poll_set_clear(struct poll_set *p);

/* Its place, for poll_set_got; without memory it is not waited for in this turn. */
size_t poll_set_add(struct poll_set *p, int fd, short events);
short poll_set_got(const struct poll_set *p, size_t at, int fd); /* revents; 0 when `fd` is not there */

#endif
