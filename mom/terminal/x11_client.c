/* The user's end of X11. qsub speaks first: x11_client_take has what it wants, and x11_client_greet tells the job's host the cookie that was
 * made up and the screen. Later each program of the job that connects there becomes a channel here: x11_client_open_display connects
 * it to DISPLAY, and x11_client_admit looks at its first bytes and puts the real cookie there instead of the one that was made up.
 *
 * The real cookie never goes to a host of the job. Displays of this host are reached by their unix sockets, others by TCP at 6000 and their
 * number; a name in DISPLAY is looked up when a program connects, and the relay waits for the lookup. */
#include "x11_client.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "file.h"

enum { X11_PORT = 6000, HOST_LEN_MAX = 256, GREETING = X11_COOKIE_SIZE + 2 };

/* ---- the display */
static int connect_unix(const char *path)
{
    struct sockaddr_un address;
    struct err e = {0};
    socklen_t n;
    int dir = -1, fd = -1;

    if (file_socket_address(path, &address, &n, &dir, &e) == 0)
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, n) < 0) {
        close(fd);
        fd = -1;
    }
    if (dir >= 0)
        close(dir);
    return fd;
}

static int connect_tcp(const char *host, unsigned long number)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char port[16];
    int fd = -1;

    snprintf(port, sizeof port, "%lu", X11_PORT + number);
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return -1;
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* A connection to this display, non-blocking, maybe still under way; -1: there is none. "host:1.0", ":1", "unix:1" or a socket's
 * path. */
static int x11_client_connect(const char *display)
{
    const char *colon = strrchr(display, ':');
    size_t n = colon ? (size_t)(colon - display) : 0;
    char host[HOST_LEN_MAX];
    unsigned long number = colon ? strtoul(colon + 1, NULL, 10) : 0;

    if (display[0] == '/')
        return connect_unix(display);
    if (!colon || n >= sizeof host || number > UINT16_MAX - X11_PORT)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)n, display);
    if (n && strcmp(host, "unix") != 0)
        return connect_tcp(host, number);
    snprintf(host, sizeof host, "/tmp/.X11-unix/X%lu", number);
    return connect_unix(host);
}

/* ---- connections of the job */
static int x11_client_open_display(void *arg)
{
    const char *display = getenv("DISPLAY");

    return display ? x11_client_connect(display) : -1;
}

static int x11_client_admit(void *arg, unsigned char *bytes, size_t *n)
{
    struct x11_client *d = arg;

    return x11_setup_admit(&d->cookies, bytes, n);
}

/* ---- the beginning */
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int x11_client_take(struct x11_client *d, const char *said, struct err *e)
{
    size_t n = said[0] ? strlen(said + 1) : 0;

    d->wanted = said[0] == 'X';
    d->cookies.has_real = n == 2 * X11_COOKIE_SIZE;
    for (size_t i = 0; i < X11_COOKIE_SIZE && d->cookies.has_real; i++) {
        int high = digit(said[1 + 2 * i]), low = digit(said[2 + 2 * i]);

        if (high < 0 || low < 0)
            return err_set(e, EINVAL, "a cookie of X11 has hexadecimal digits only");
        d->cookies.real[i] = (unsigned char)(high << 4 | low);
    }
    if ((said[0] && !d->wanted) || (n && !d->cookies.has_real) ||
        RAND_bytes(d->cookies.shown, sizeof d->cookies.shown) != 1)
        return err_set(e, EINVAL, "no cookie of X11");
    return 0;
}

static unsigned screen_of(const char *display)
{
    const char *colon = display ? strrchr(display, ':') : NULL, *dot = colon ? strchr(colon, '.') : NULL;

    return dot ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
}

void x11_client_greet(struct x11_client *d, struct relay *r)
{
    const unsigned screen = screen_of(getenv("DISPLAY"));
    unsigned char b[GREETING];

    channels_init(&d->channels, r);
    if (!d->wanted)
        return;
    d->channels.arg = d;
    d->channels.open = x11_client_open_display;
    d->channels.admit = x11_client_admit;
    memcpy(b, d->cookies.shown, X11_COOKIE_SIZE);
    b[X11_COOKIE_SIZE] = (unsigned char)(screen >> 8);
    b[X11_COOKIE_SIZE + 1] = (unsigned char)screen;
    relay_put(r, 'X', b, sizeof b);
}
