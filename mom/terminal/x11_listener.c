/* The cookie, not the port, is what keeps others of this host out: every one of them can connect. */
#include "x11_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "x11_setup.h"

enum { X11_PORT = 6000, FIRST = 10, LAST = 1000, BACKLOG = 16 };

static int listen_as(unsigned number)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)},
                                  .sin_port = htons((uint16_t)(X11_PORT + number))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&a, sizeof a) < 0 || listen(fd, BACKLOG) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int x11_listener_open(const unsigned char *hello, size_t n, struct channels *c,
                      char text[static X11_LISTENER_TEXT], struct err *e)
{
    unsigned number;
    int at;

    if (n != X11_COOKIE_SIZE + 2)
        return err_set(e, EPROTO, "qsub does not say how");
    for (number = FIRST; c->listening < 0 && number <= LAST; number++)
        c->listening = listen_as(number);
    if (c->listening < 0)
        return err_set(e, EADDRINUSE, "no display is free on this host");
    at = snprintf(text, X11_LISTENER_TEXT, "%u %u ", number - 1,
                  (unsigned)hello[X11_COOKIE_SIZE] << 8 | hello[X11_COOKIE_SIZE + 1]);
    for (size_t i = 0; i < X11_COOKIE_SIZE; i++)
        at += snprintf(text + at, (size_t)(X11_LISTENER_TEXT - at), "%02x", hello[i]);
    return 0;
}
