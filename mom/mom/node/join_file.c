/* The file is read again at each try: an administrator may replace or remove it meanwhile. A MOM that has a certificate never waits:
 * jobs may be running here. A server that has signed and whose answer was lost refuses the token from then on; that host
 * needs another one. See join_file.h. */
#include "join_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cert_pair.h"
#include "conf.h"
#include "file.h"
#include "mom_home.h"
#include "join_ask.h"
#include "join_token.h"
#include "log.h"

/* The hosts of a site start together, and a try costs the server a handshake; the log has one line in ten minutes. */
enum { PAUSE_S = 10, TRIES_OF_LINE = 60 };
enum { FILE_SIZE_MAX = 4096, PATH_LEN_MAX = 8192 };

/* A user who can write to the file could make this host join a complex of that user. */
static int check_owner(int fd, const char *path, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(e, errno, "cannot read %s", path);
    if (S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & 022))
        return 0;
    return err_set(e, EACCES, "%s is not a plain file that root alone can write", path);
}

static int read_token(const char *path, char out[JOIN_TOKEN + 2], struct err *e)
{
    int fd = file_open_nofollow(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0, e), rc;
    char *text = NULL;

    if (fd < 0)
        return -1;
    rc = check_owner(fd, path, e);
    if (rc == 0)
        rc = file_read_fd(fd, FILE_SIZE_MAX, &text, NULL, e);
    if (rc == 0)
        snprintf(out, JOIN_TOKEN + 2, "%.*s", (int)strcspn(text, "\r\n \t"), text);
    free(text);
    close(fd);
    return rc;
}

/* Either server of a failover pair has the CA. Return true for a refusal that every server would give. */
static bool is_final(int code)
{
    return code == EACCES || code == EINVAL || code == EEXIST || code == EKEYREJECTED || code == ELOOP;
}

static int ask_servers(const struct home *h, const char *path, struct err *e)
{
    const struct conf_host *pair = conf_pair(h->conf);
    char token[JOIN_TOKEN + 2];
    int rc = -1;

    if (read_token(path, token, e) < 0)
        return -1;
    for (int i = 0; i < (pair ? CONF_PAIR : 1) && rc < 0 && (i == 0 || !is_final(e->code)); i++)
        rc = join_ask(&(struct join_ask){.certs = h->certs,
                                         .server = pair ? pair[i].host : conf_server_host(h->conf),
                                         .port = pair ? pair[i].port : conf_server_port(h->conf),
                                         .host = h->node,
                                         .token = token},
                      e);
    return rc;
}

static bool has_certificate(const struct home *h)
{
    struct cert_paths p;

    return cert_pair_paths_set(&p, h->certs, h->service, NULL) == 0 && access(p.cert, F_OK) == 0 &&
           access(p.key, F_OK) == 0;
}

static void joined(const struct home *h, const char *path)
{
    if (unlink(path) == 0)
        log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, h->node,
                  "this host has joined as %s by the token in %s, which is removed", h->service, path);
    else
        log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ERROR, h->node,
                  "this host has joined as %s by the token in %s, which is used up and cannot be removed: %s",
                  h->service, path, strerror(errno));
}

static int is_refused(const struct home *h, const char *path, struct err *e)
{
    bool has = has_certificate(h);

    if (e->code != EACCES || !strstr(e->text, path))
        err_prefix(e, "this host cannot join as %s by the token in %s", h->service, path);
    log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ERROR, h->node, "%s%s", e->text,
              has ? "; the certificate that is here is used" : "");
    return has ? 0 : -1;
}

int join_file_use(const struct home *h, void (*waiting)(void *arg), void *arg, struct err *e)
{
    char path[PATH_LEN_MAX];

    snprintf(path, sizeof path, "%.8000s/join_token", h->priv);
    for (unsigned tries = 0;; tries++) {
        if (access(path, F_OK) < 0 && errno == ENOENT)
            return 0;
        if (ask_servers(h, path, e) == 0) {
            joined(h, path);
            return 0;
        }
        if (is_final(e->code) || has_certificate(h))
            return is_refused(h, path, e);
        if (tries % TRIES_OF_LINE == 0)
            log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ADMIN, h->node,
                      "this host cannot join yet by the token in %s: %s; tried again every %d s", path,
                      e->text, PAUSE_S);
        if (tries == 0) {
            waiting(arg);
            (void)signal(SIGHUP, SIG_IGN); /* no loop takes it yet, and it must not end the wait */
        }
        sleep(PAUSE_S);
    }
}
