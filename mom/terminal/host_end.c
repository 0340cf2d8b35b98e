/* Two processes. The first has the MOM's rights: it reads the order and writes the terminal's name into the run's
 * directory. The second becomes the owner for good before it opens a socket or a terminal: so the terminal belongs to the owner, and
 * an attack on it reaches only what the owner can reach. It belongs to no job and to no MOM: it outlives both, and
 * ends with the job (no process has the terminal open any more) or with qsub (then the kernel hangs the terminal up, and the
 * job's session gets SIGHUP).
 *
 * The terminal's other side is never opened here: the first to open it is the job. */
#include "host_end.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "host_address.h"
#include "identity.h"
#include "psk.h"
#include "relay.h"
#include "rundir.h"
#include "x11_listener.h"

/* LIMIT_S: for the way to qsub and its handshake; the user has asked for the terminal and waits. */
enum { LIMIT_S = 30, TTY_NAME_MAX_LEN = 64, SAID_MAX = ERR_TEXT_MAX + TTY_NAME_MAX_LEN, N_CHARS = 6 };

/* The second process. */
struct service {
    struct relay relay;
    struct channels channels;
    char display[X11_LISTENER_TEXT]; /* "": X11 is not wanted, or cannot be */
    bool greeted;                    /* qsub has said all that must be known before the job begins */
};

/* ---- reaching qsub */
static int host_end_connect_to(const char *host, const char *port, struct err *e)
{
    struct addrinfo *list = NULL;
    int fd = -1, rc = host_address_find(host, port, 0, &list);

    if (rc)
        return err_set(e, EHOSTUNREACH, "%s: %s", host, gai_strerror(rc));
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
            err_errno(e, errno, "%s port %s", host, port);
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* ---- the terminal */
static int open_terminal(char name[static TTY_NAME_MAX_LEN], struct err *e)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, TTY_NAME_MAX_LEN) != 0)
        return err_errno(e, errno, "cannot make a terminal");
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return fd;
}

static void set_window(int fd, const unsigned char *b)
{
    const struct winsize w = {.ws_row = (unsigned short)(b[0] << 8 | b[1]),
                              .ws_col = (unsigned short)(b[2] << 8 | b[3])};

    ioctl(fd, TIOCSWINSZ, &w);
}

static void set_characters(int fd, const unsigned char *b)
{
    static const int which[N_CHARS] = {VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP};
    struct termios t;

    if (tcgetattr(fd, &t) < 0)
        return;
    for (int i = 0; i < N_CHARS; i++)
        t.c_cc[which[i]] = b[i];
    tcsetattr(fd, TCSANOW, &t);
}

static void open_door(struct service *v, const unsigned char *bytes, size_t n)
{
    struct err e = {0};
    char text[ERR_TEXT_MAX + 64];

    if (v->greeted || v->display[0] || x11_listener_open(bytes, n, &v->channels, v->display, &e) == 0)
        return;
    snprintf(text, sizeof text, "=>> PBS: X11 is not forwarded: %s\r\n", e.text);
    relay_put(&v->relay, 'D', text, strlen(text));
}

static void host_end_on_control(struct relay *r, char letter, const unsigned char *bytes, size_t n)
{
    struct service *v = r->arg;

    if ((letter == 'I' || letter == 'W') && n >= 4)
        set_window(r->local_in, bytes);
    if (letter == 'I' && n >= 4 + N_CHARS)
        set_characters(r->local_in, bytes + 4);
    if (letter == 'X')
        open_door(v, bytes, n);
    v->greeted |= letter == 'I';
    channels_take(&v->channels, r, letter, bytes, n);
}

/* ---- the second process */
static void host_end_say(int to, const char *what)
{
    (void)!write(to, what, strlen(what) + 1);
}

static void host_end_relay(SSL *ssl, int net, int tty, const char *name, int parent)
{
    static struct service service; /* too large for a stack, and there is one */
    char said[TTY_NAME_MAX_LEN + X11_LISTENER_TEXT + 1];

    relay_init(&service.relay, ssl, net, tty, tty);
    service.relay.arg = &service;
    service.relay.control = host_end_on_control;
    channels_init(&service.channels, &service.relay);
    relay_wait(&service.relay, &service.greeted);
    alarm(0);
    snprintf(said, sizeof said, "%s\n%s", name, service.display);
    host_end_say(parent, service.greeted ? said : "!qsub has gone away");
    close(parent);
    if (service.greeted)
        relay_run(&service.relay, true);
    channels_fini(&service.channels);
    psk_close(ssl);
}

/* Its terminal's name and that of its display, or "!" and why not, goes to the first process; then bytes are carried. */
static void host_end_carry(const struct shep_order *o, int parent)
{
    unsigned char key[PSK_SIZE];
    char name[TTY_NAME_MAX_LEN], why[ERR_TEXT_MAX + 2] = "!";
    struct err e = {0};
    int net = -1, tty = -1;
    SSL *ssl = NULL;

    alarm(LIMIT_S);
    if (identity_become(o, &e) == 0 && psk_parse(o->tty_key, key, &e) == 0 &&
        (net = host_end_connect_to(o->tty_host, o->tty_port, &e)) >= 0 && (ssl = psk_connect(net, key, &e)) &&
        (tty = open_terminal(name, &e)) >= 0) {
        explicit_bzero(key, sizeof key);
        host_end_relay(ssl, net, tty, name, parent);
        _exit(0);
    }
    snprintf(why + 1, sizeof why - 1, "%s", e.text);
    host_end_say(parent, why);
    _exit(1);
}

static void host_end_leave_mom(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    signal(SIGPIPE, SIG_IGN);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
}

static int host_end_note(const char *path, const char *name, const char *text, struct err *e)
{
    char file[4096];

    snprintf(file, sizeof file, "%s/%s", path, name);
    return file_write_quick(AT_FDCWD, file, text, strlen(text), 0600, e);
}

/* The terminal's name last: with it all is there. */
static int host_end_await(const char *path, int second, struct err *e)
{
    char said[SAID_MAX] = "", *display;
    ssize_t n = read(second, said, sizeof said - 1);

    if (n <= 0)
        return err_set(e, ETIMEDOUT, "no answer in %d seconds", LIMIT_S);
    if (said[0] == '!')
        return err_set(e, EIO, "%s", said + 1);
    display = strchr(said, '\n');
    if (display)
        *display++ = '\0';
    if (display && *display && host_end_note(path, RUNDIR_DISPLAY, display, e) < 0)
        return -1;
    return host_end_note(path, RUNDIR_TTY, said, e);
}

static int host_end_begin(const char *path, const struct shep_order *o, struct err *e)
{
    int pair[2];
    pid_t pid;
    int rc;

    if (pipe2(pair, O_CLOEXEC) < 0)
        return err_errno(e, errno, "cannot make a pipe");
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        host_end_leave_mom();
        host_end_carry(o, pair[1]);
    }
    close(pair[1]);
    rc = pid < 0 ? err_errno(e, errno, "cannot fork") : host_end_await(path, pair[0], e);
    close(pair[0]);
    return rc;
}

int host_end_run(const char *path)
{
    struct shep_order o = {0};
    struct err e = {0};
    int rc = -1;

    if (rundir_read_order(path, &o, &e) == 0)
        rc = host_end_begin(path, &o, &e);
    if (rc < 0)
        fprintf(stderr, "cannot open qsub sock for %s: %s\n", o.id ? o.id : path, e.text);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return rc < 0 ? 1 : 0;
}
