#ifndef POLL_SET_H
#define POLL_SET_H
/* What one turn of the shepherd waits for: a list that parts add to before poll() and look into after it. */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct polls {
    struct pollfd *fds;
    size_t n, cap;
};

void polls_init(struct polls *p);
void polls_fini(struct polls *p);
void polls_clear(struct polls *p);

/* Where it stands, for polls_got; without memory it is not waited for in this turn. */
size_t polls_add(struct polls *p, int fd, short events);
short polls_got(const struct polls *p, size_t at, int fd); /* revents; 0 when `fd` does not stand there */

#endif
