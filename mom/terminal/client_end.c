/* Until the host has proved that it knows the key, the terminal is left as it is and qsub speaks with the user. Strangers
 * who connect fail the handshake, and the next one is waited for. */
#include "client_end.h"

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

#include "channels.h"
#include "x11_client.h"
#include "escape.h"
#include "psk.h"
#include "relay.h"

/* HANDSHAKE_S: qsub is on a host with a person at it; a connection that shows no key in that time is not from the job. */
enum { HANDSHAKE_S = 10, N_CHARS = 6, SAID_MAX = 256, EXIT_LEFT = 4 };

/* Our end while the job's terminal is ours. */
struct client_end {
    struct relay relay;
    struct escape escape;
    struct x11_client x11_client;
    struct termios before, raw;
    bool is_tty, left; /* left: the user wants no more */
};

/* What qsub has to say besides the command line: the key, and behind it what x11_client_take knows. */
static int read_said(int fd, unsigned char key[static PSK_SIZE], struct x11_client *d, struct err *e)
{
    char said[SAID_MAX] = "", hex[PSK_HEX + 1];
    ssize_t n = read(fd, said, sizeof said - 1);

    close(fd);
    if (n < PSK_HEX)
        return err_set(e, EINVAL, "no key");
    memcpy(hex, said, PSK_HEX);
    hex[PSK_HEX] = '\0';
    n = psk_parse(hex, key, e) < 0 ? -1 : x11_client_take(d, said + PSK_HEX, e);
    explicit_bzero(said, sizeof said);
    explicit_bzero(hex, sizeof hex);
    return (int)n;
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

static void say_hello(struct client_end *a)
{
    static const int which[N_CHARS] = {VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP};
    unsigned char b[4 + N_CHARS];

    put_window(b);
    for (int i = 0; i < N_CHARS; i++)
        b[4 + i] = a->before.c_cc[which[i]];
    x11_client_greet(&a->x11_client, &a->relay);
    relay_put(&a->relay, 'I', b, a->is_tty ? sizeof b : 4);
}

static void say_window(struct relay *r)
{
    unsigned char b[4];

    put_window(b);
    relay_put(r, 'W', b, sizeof b);
}

static void client_end_on_signal(struct relay *r)
{
    struct signalfd_siginfo info;

    while (read(r->wake, &info, sizeof info) > 0)
        if (info.ssi_signo == SIGTERM)
            r->net_over = true; /* qsub gives up */
    say_window(r);
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

/* As a shell expects it of what it runs: all of us stop, the terminal as it was. Where no shell would ever continue us,
 * nothing happens. */
static void client_end_suspend(struct client_end *a)
{
    if (getsid(0) == getpgrp())
        return;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &a->before);
    kill(0, SIGSTOP);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &a->raw);
    say_window(&a->relay);
}

static size_t client_end_on_typed(struct relay *r, unsigned char *bytes, size_t n)
{
    struct client_end *a = r->arg;
    enum escape_wish wish;

    n = escape_read(&a->escape, bytes, n, &wish);
    if (wish == ESCAPE_SUSPEND)
        client_end_suspend(a);
    if (wish == ESCAPE_LEAVE)
        r->net_over = a->left = true;
    return n;
}

static void client_end_on_control(struct relay *r, char letter, const unsigned char *bytes, size_t n)
{
    struct client_end *a = r->arg;

    channels_take(&a->x11_client.channels, r, letter, bytes, n);
}

static void client_end_begin_typing(struct client_end *a)
{
    static const int enders[ESCAPE_N_ENDERS] = {VINTR, VQUIT, VKILL, VEOF, VSUSP};

    a->raw = a->before;
    cfmakeraw(&a->raw);
    for (int i = 0; i < ESCAPE_N_ENDERS; i++)
        a->escape.enders[i] = a->before.c_cc[enders[i]];
    a->escape.suspend = a->before.c_cc[VSUSP];
    a->relay.typed = client_end_on_typed;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &a->raw);
}

static int carry(struct client_end *a, SSL *ssl, int net)
{
    struct relay *r = &a->relay;

    a->is_tty = tcgetattr(STDIN_FILENO, &a->before) == 0;
    relay_init(r, ssl, net, STDIN_FILENO, STDOUT_FILENO);
    r->arg = a;
    r->wake = watch_signals();
    r->woken = client_end_on_signal;
    r->control = client_end_on_control;
    say_hello(a);
    if (a->is_tty)
        client_end_begin_typing(a);
    relay_run(r, false);
    if (a->is_tty)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &a->before);
    channels_fini(&a->x11_client.channels);
    return a->left ? EXIT_LEFT : r->ended ? 0 : 1;
}

int client_end_run(const char *job, int listening)
{
    static struct client_end a; /* too large for a stack, and there is one */
    unsigned char key[PSK_SIZE];
    struct err e = {0};
    int net = -1, rc;
    SSL *s;

    signal(SIGINT, SIG_IGN); /* qsub asks what is wanted */
    signal(SIGTSTP, SIG_IGN);
    if (read_said(listening + 1, key, &a.x11_client, &e) < 0) {
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
    rc = carry(&a, s, net);
    psk_close(s);
    return rc;
}
