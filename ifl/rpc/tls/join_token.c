/* Tokens of hosts that may join, in one file. See join_token.h.
 *
 * The file is read, changed and written whole; tokens that have expired leave it then. A secret that does not name the
 * host's token changes nothing and writes nothing, so strangers cost no write. */
#include "join_token.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cert_pair.h"
#include "file.h"
#include "strbuf.h"

/* FILE_SIZE_MAX: JOIN_TOKENS_MAX lines of the longest name are half of it. HASH: SHA-256 in hexadecimal. */
enum { FILE_SIZE_MAX = 4 << 20, HASH = 64, S_OF_HOUR = 3600 };

struct token {
    char hash[HASH + 1], host[CA_ROLE_MAX];
    char name[JOIN_NAME + 1]; /* "" of a token of before it had one: no try counts */
    long long expires_s;
    int tries;
};

/* What to do with each token of the file; false: it goes. */
struct edit {
    const char *host, *hash; /* hash NULL: a new token of this host is coming */
    const char *secret;      /* of hash; its beginning is the token's name */
    int64_t now_s;
    size_t n;
    bool found, counted;
};

static void hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static int hash_of(const char *host, const char *secret, char out[HASH + 1], struct err *e)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char text[CA_ROLE_MAX + CA_ROLE_MAX + 2];

    snprintf(text, sizeof text, "%.255s %.255s", host, secret);
    if (EVP_Digest(text, strlen(text), sum, &n, EVP_sha256(), NULL) != 1)
        return cert_pair_ssl_err(e, EIO, "cannot hash a token");
    hex(sum, HASH / 2, out);
    return 0;
}

static bool join_token_is_named(const struct token *t, const char *secret)
{
    return t->name[0] && strlen(secret) >= JOIN_NAME && CRYPTO_memcmp(t->name, secret, JOIN_NAME) == 0;
}

static bool join_token_stays(struct edit *x, struct token *t)
{
    if (t->expires_s < x->now_s)
        return false;
    if (strcmp(t->host, x->host) != 0)
        return true;
    if (!x->hash)
        return false;
    if (CRYPTO_memcmp(t->hash, x->hash, HASH) == 0) {
        x->found = true;
        return false;
    }
    if (!join_token_is_named(t, x->secret))
        return true;
    x->counted = true;
    return ++t->tries < JOIN_TRIES;
}

static void edit_lines(struct edit *x, char *text, struct strbuf *out)
{
    char *rest = text, *line;

    while (rest && (line = strsep(&rest, "\n"))) {
        struct token t = {0};

        if (sscanf(line, "%64[0-9a-f] %255s %lld %d %8[0-9a-f]", t.hash, t.host, &t.expires_s, &t.tries,
                   t.name) < 4 ||
            strlen(t.hash) != HASH || !join_token_stays(x, &t))
            continue;
        x->n++;
        strbuf_addf(out, "%s %s %lld %d%s%s\n", t.hash, t.host, t.expires_s, t.tries, t.name[0] ? " " : "",
                    t.name);
    }
}

static int edit_file(const struct cert_paths *p, struct edit *x, struct strbuf *out, struct err *e)
{
    char *text = NULL;

    x->now_s = (int64_t)time(NULL);
    if (access(p->tokens, F_OK) == 0 && file_read(AT_FDCWD, p->tokens, FILE_SIZE_MAX, &text, NULL, e) < 0)
        return -1;
    edit_lines(x, text, out);
    free(text);
    return 0;
}

static int join_token_write_file(const struct cert_paths *p, struct strbuf *out, struct err *e)
{
    return strbuf_ok(out) ? file_write_atomic(AT_FDCWD, p->tokens, strbuf_str(out), out->len, 0600, e)
                          : err_no_memory(e);
}

static int paths_of_host(struct cert_paths *p, const char *dir, const char *host, struct err *e)
{
    char role[CA_ROLE_MAX + 8];

    snprintf(role, sizeof role, "mom:%.255s", host);
    if (cert_pair_paths_set(p, dir, role, NULL) == 0)
        return 0;
    return err_set(e, EINVAL, "\"%s\" is not the name of a host", host);
}

int join_token_make(const char *dir, const char *host, int hours, char out[JOIN_TOKEN + 1], struct err *e)
{
    struct edit x = {.host = host};
    struct cert_paths p;
    struct strbuf b;
    unsigned char random[JOIN_SECRET / 2];
    char print[CA_FINGERPRINT + 1], secret[JOIN_SECRET + 1], hash[HASH + 1];
    int rc = -1;

    if (paths_of_host(&p, dir, host, e) < 0 || ca_fingerprint(dir, print, e) < 0)
        return -1;
    if (RAND_bytes(random, sizeof random) != 1)
        return cert_pair_ssl_err(e, EIO, "no random numbers");
    hex(random, sizeof random, secret);
    strbuf_init(&b, FILE_SIZE_MAX);
    if (hash_of(host, secret, hash, e) == 0 && edit_file(&p, &x, &b, e) == 0) {
        strbuf_addf(&b, "%s %s %lld 0 %.*s\n", hash, host, (long long)(x.now_s + (int64_t)hours * S_OF_HOUR),
                    JOIN_NAME, secret);
        rc =
            x.n < JOIN_TOKENS_MAX
                ? join_token_write_file(&p, &b, e)
                : err_set(e, ENOSPC, "%d hosts have a token already, and that is the limit", JOIN_TOKENS_MAX);
    }
    strbuf_fini(&b);
    if (rc == 0)
        snprintf(out, JOIN_TOKEN + 1, "%s-%s", print, secret);
    OPENSSL_cleanse(secret, sizeof secret);
    return rc;
}

int join_token_use(const char *dir, const char *host, const char *secret, struct err *e)
{
    struct edit x = {.host = host, .secret = secret};
    struct cert_paths p;
    struct strbuf b;
    char hash[HASH + 1];
    int rc = -1;

    if (paths_of_host(&p, dir, host, e) < 0 || hash_of(host, secret, hash, e) < 0)
        return -1;
    x.hash = hash;
    strbuf_init(&b, FILE_SIZE_MAX);
    if (edit_file(&p, &x, &b, e) == 0 && ((!x.found && !x.counted) || join_token_write_file(&p, &b, e) == 0))
        rc =
            x.found
                ? 0
                : err_set(
                      e, EACCES,
                      "the token is not one of host %s: it has been used or has expired, or is for another name",
                      host);
    strbuf_fini(&b);
    return rc;
}
