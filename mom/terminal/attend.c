/* Until the host has proved that it knows the key, the terminal is left as it is and qsub speaks with the user. Strangers
 * who connect fail the handshake, and the next one is waited for. */
#include "attend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include "psk.h"
#include "relay.h"

enum { HANDSHAKE_S = 10, N_CHARS = 6 };

static int read_key(int fd, unsigned char key[static PSK_SIZE], struct err *e)
{
    char hex[PSK_HEX + 1] = "";
    ssize_t n = read(fd, hex, PSK_HEX);

    close(fd);
    return n == PSK_HEX ? psk_parse(hex, key, e) : err_set(e, EINVAL, "no key");
}

/* The one that knows the key. */
static SSL *wait_for_host(int listening, const unsigned char *key, int *net)
{
    const struct timeval limit = {.tv_sec = HANDSHAKE_S};
    struct err e = {0};
    SSL *s = NULL;

    while (!s) {
        *net = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (*net < 0 && errno != EINTR && errno != ECONNABORTED)
            return NULL;
        if (*net < 0)
            continue;
        setsockopt(*net, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        s = psk_accept(*net, key, &e);
        if (!s)
            close(*net);
    }
    return s;
}

static void put_window(unsigned char *b)
{
    struct winsize w = {.ws_row = 24, .ws_col = 80};

    ioctl(STDIN_FILENO, TIOCGWINSZ, &w);
    b[0] = (unsigned char)(w.ws_row >> 8);
    b[1] = (unsigned char)w.ws_row;
    b[2] = (unsigned char)(w.ws_col >> 8);
    b[3] = (unsigned char)w.ws_col;
}

static void say_hello(struct relay *r, const struct termios *t)
{
    static const int which[N_CHARS] = {VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP};
    unsigned char b[4 + N_CHARS];

    put_window(b);
    for (int i = 0; i < N_CHARS; i++)
        b[4 + i] = t->c_cc[which[i]];
    relay_put(r, 'I', b, sizeof b);
}

static void on_signal(struct relay *r)
{
    struct signalfd_siginfo info;
    unsigned char b[4];

    while (read(r->wake, &info, sizeof info) > 0)
        if (info.ssi_signo == SIGTERM)
            r->net_over = true; /* qsub gives up */
    put_window(b);
    relay_put(r, 'W', b, sizeof b);
}

static int watch_signals(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool carry(SSL *ssl, int net)
{
    static struct relay relay; /* too large for a stack, and there is one */
    struct termios before, raw;
    bool is_tty = tcgetattr(STDIN_FILENO, &before) == 0;

    relay_init(&relay, ssl, net, STDIN_FILENO, STDOUT_FILENO);
    relay.wake = watch_signals();
    relay.woken = on_signal;
    if (is_tty) {
        raw = before;
        cfmakeraw(&raw);
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
        say_hello(&relay, &before);
    }
    relay_run(&relay, false);
    if (is_tty)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    return relay.ended;
}

int attend_run(const char *job, int listening)
{
    unsigned char key[PSK_SIZE];
    struct err e = {0};
    int net = -1;
    bool ended;
    SSL *s;

    signal(SIGINT, SIG_IGN); /* qsub asks what is wanted */
    signal(SIGTSTP, SIG_IGN);
    if (read_key(listening + 1, key, &e) < 0) {
        fprintf(stderr, "pbs_terminal: %s\n", e.text);
        return 1;
    }
    s = wait_for_host(listening, key, &net);
    explicit_bzero(key, sizeof key);
    if (!s)
        return 1;
    close(listening);
    printf("qsub: job %s ready\n\n", job);
    fflush(stdout);
    ended = carry(s, net);
    psk_close(s);
    return ended ? 0 : 1;
}
