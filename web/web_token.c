/* The file is read whole, checked line by line, and written whole under a lock beside it, so that two calls of `pbs_web token` lose
 * nothing. A running pbs_web looks at the file's time and size before each check. See web_token.h. */
#include "web_token.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "strbuf.h"

enum { FILE_MAX = 1 << 18, SECRET = 32, SECRET_HEX = 2 * SECRET, DAY_S = 86400 };

static const char prefix[] = "cede_";

struct web_token_set {
    size_t n;
    struct web_token t[WEB_TOKENS_MAX];
};

int web_token_default(char *path, size_t size, struct err *e)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n;

    if (config && *config == '/')
        n = snprintf(path, size, "%s/cede/web_tokens", config);
    else if (home && *home == '/')
        n = snprintf(path, size, "%s/.config/cede/web_tokens", home);
    else
        return err_set(e, ENOENT, "HOME is not set: name the file of tokens by --tokens");
    return n < (int)size ? 0 : err_set(e, ENAMETOOLONG, "the name of the file of tokens is too long");
}

/* --- text ---------------------------------------------------------------------------------------------------- */

static void web_token_hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool web_token_unhex(const char *text, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned byte;

        if (strspn(text + 2 * i, "0123456789abcdef") < 2 || sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        out[i] = (unsigned char)byte;
    }
    return true;
}

static bool web_token_hash(const char *text, unsigned char out[32])
{
    unsigned n = 32;

    return EVP_Digest(text, strlen(text), out, &n, EVP_sha256(), NULL) == 1;
}

/* A line "NAME SHA256 RIGHT EXPIRES". */
static bool web_token_parse(const char *line, struct web_token *t)
{
    char name[WEB_TOKEN_NAME + 1], hash[65], right[3], rest;
    long long expires;

    if (sscanf(line, "%8[0-9a-f] %64[0-9a-f] %2[rwo] %lld %c", name, hash, right, &expires, &rest) != 4 ||
        strlen(name) != WEB_TOKEN_NAME || strlen(hash) != 64 ||
        (strcmp(right, "rw") != 0 && strcmp(right, "ro") != 0))
        return false;
    snprintf(t->name, sizeof t->name, "%s", name);
    t->read_only = right[1] == 'o';
    t->expires_s = expires;
    return web_token_unhex(hash, t->hash, 32);
}

/* --- the file ------------------------------------------------------------------------------------------------- */

/* ENOENT: it is not there. EACCES: others may read or write it. */
static int web_token_read(const char *path, struct web_token_set *out, struct stat *st, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *text = NULL, *line, *rest;
    int rc = -1;

    out->n = 0;
    if (fd < 0)
        return err_errno(e, errno, "cannot read %s", path);
    if (fstat(fd, st) < 0)
        err_errno(e, errno, "cannot read %s", path);
    else if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || (st->st_mode & 077))
        err_set(e, EACCES, "%s is to be a file of the user who runs pbs_web, with mode 0600", path);
    else if (file_read_fd(fd, FILE_MAX, &text, NULL, e) == 0)
        rc = 0;
    close(fd);
    rest = text;
    while (rc == 0 && (line = strsep(&rest, "\n")))
        if (*line && *line != '#' && out->n < WEB_TOKENS_MAX && web_token_parse(line, &out->t[out->n]))
            out->n++;
    free(text);
    return rc;
}

static int web_token_write(const char *path, const struct web_token_set *s, struct err *e)
{
    struct strbuf text;
    int rc;

    strbuf_init(&text, FILE_MAX);
    for (size_t i = 0; i < s->n; i++) {
        char hash[65];

        web_token_hex(s->t[i].hash, 32, hash);
        strbuf_addf(&text, "%s %s %s %lld\n", s->t[i].name, hash, s->t[i].read_only ? "ro" : "rw",
                    (long long)s->t[i].expires_s);
    }
    rc = strbuf_ok(&text) ? file_write_atomic(AT_FDCWD, path, strbuf_str(&text), text.len, 0600, e)
                          : err_no_memory(e);
    strbuf_fini(&text);
    return rc;
}

static void web_token_drop_expired(struct web_token_set *s, int64_t now_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->t[i].expires_s > now_s)
            s->t[kept++] = s->t[i];
    s->n = kept;
}

/* Take the lock and read the file. The lock, or -1; *out is heap. */
static int web_token_begin(const char *path, struct web_token_set **out, struct err *e)
{
    char lock[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct err reason;
    struct stat st;
    int fd;

    if (slash && slash > path) {
        snprintf(lock, sizeof lock, "%.*s", (int)(slash - path), path);
        if (file_make_dirs(lock, 0700, e) < 0)
            return -1;
    }
    if (snprintf(lock, sizeof lock, "%s.lock", path) >= (int)sizeof lock)
        return err_set(e, ENAMETOOLONG, "%s: the name is too long", path);
    *out = calloc(1, sizeof **out);
    fd = *out ? file_lock_within(lock, 0600, 5000, e) : err_no_memory(e);
    if (fd >= 0 && web_token_read(path, *out, &st, &reason) < 0 && reason.code != ENOENT) {
        err_set(e, reason.code, "%s", reason.text);
        file_unlock(fd);
        fd = -1;
    }
    if (fd < 0) {
        free(*out);
        *out = NULL;
        return -1;
    }
    web_token_drop_expired(*out, time(NULL));
    return fd;
}

int web_token_make(const char *path, bool read_only, int days, char text[WEB_TOKEN_TEXT + 1],
                   struct web_token *out, struct err *e)
{
    struct web_token_set *s = NULL;
    unsigned char secret[SECRET], name[WEB_TOKEN_NAME / 2];
    struct web_token t = {.read_only = read_only, .expires_s = time(NULL) + (int64_t)days * DAY_S};
    int lock = web_token_begin(path, &s, e), rc = -1;

    if (lock < 0)
        return -1;
    if (s->n == WEB_TOKENS_MAX)
        err_set(e, ENOSPC, "%s has %d tokens already: revoke one", path, WEB_TOKENS_MAX);
    else if (RAND_bytes(secret, sizeof secret) != 1 || RAND_bytes(name, sizeof name) != 1)
        err_set(e, EIO, "no random numbers");
    else {
        memcpy(text, prefix, sizeof prefix);
        web_token_hex(secret, sizeof secret, text + sizeof prefix - 1);
        web_token_hex(name, sizeof name, t.name);
        rc = web_token_hash(text, t.hash) ? 0 : err_set(e, EIO, "SHA-256 failed");
    }
    if (rc == 0) {
        s->t[s->n++] = t;
        *out = t;
        rc = web_token_write(path, s, e);
    }
    file_unlock(lock);
    free(s);
    return rc;
}

int web_token_list(const char *path, FILE *f, struct err *e)
{
    struct web_token_set *s = NULL;
    int lock = web_token_begin(path, &s, e);

    if (lock < 0)
        return -1;
    fprintf(f, "%-10s %-5s  %s\n", "Token", "Right", "Expires");
    for (size_t i = 0; i < s->n; i++) {
        time_t at = (time_t)s->t[i].expires_s;
        char date[32];
        struct tm tm;

        strftime(date, sizeof date, "%Y-%m-%d %H:%M", localtime_r(&at, &tm));
        fprintf(f, "%-10s %-5s  %s\n", s->t[i].name, s->t[i].read_only ? "read" : "all", date);
    }
    file_unlock(lock);
    free(s);
    return 0;
}

int web_token_revoke(const char *path, const char *name, struct err *e)
{
    struct web_token_set *s = NULL;
    int lock = web_token_begin(path, &s, e), rc;
    size_t i = 0;

    if (lock < 0)
        return -1;
    while (i < s->n && strcmp(s->t[i].name, name) != 0)
        i++;
    if (i == s->n) {
        rc = err_set(e, ENOENT, "%s has no token %s; \"pbs_web token list\" shows them", path, name);
    } else {
        s->t[i] = s->t[--s->n];
        rc = web_token_write(path, s, e);
    }
    file_unlock(lock);
    free(s);
    return rc;
}

/* --- while pbs_web runs ------------------------------------------------------------------------------------------- */

struct web_tokens {
    pthread_mutex_t lock; /* the fields below are read and written under it */
    char path[PATH_MAX];
    struct stat seen; /* of the file when it was read; st_ino 0: it was not */
    struct web_token_set set;
};

struct web_tokens *web_tokens_open(const char *path)
{
    struct web_tokens *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    snprintf(t->path, sizeof t->path, "%s", path);
    return t;
}

/* Read the file where it is another one than before; without one there is no token. */
static void web_tokens_refresh(struct web_tokens *t)
{
    struct stat now, st;

    if (lstat(t->path, &now) < 0) {
        t->set.n = 0;
        t->seen.st_ino = 0;
        return;
    }
    if (t->seen.st_ino == now.st_ino && t->seen.st_size == now.st_size && t->seen.st_mode == now.st_mode &&
        t->seen.st_ctim.tv_sec == now.st_ctim.tv_sec && t->seen.st_ctim.tv_nsec == now.st_ctim.tv_nsec)
        return;
    t->seen = now;
    if (web_token_read(t->path, &t->set, &st, NULL) < 0)
        t->set.n = 0;
}

bool web_tokens_check(struct web_tokens *t, const char *text, struct web_token *out)
{
    unsigned char hash[32];
    bool found = false;
    int64_t now_s = time(NULL);

    if (strlen(text) != WEB_TOKEN_TEXT || !web_token_hash(text, hash))
        return false;
    pthread_mutex_lock(&t->lock);
    web_tokens_refresh(t);
    for (size_t i = 0; i < t->set.n; i++)
        if (CRYPTO_memcmp(hash, t->set.t[i].hash, sizeof hash) == 0 && t->set.t[i].expires_s > now_s) {
            *out = t->set.t[i];
            found = true;
        }
    pthread_mutex_unlock(&t->lock);
    return found;
}
