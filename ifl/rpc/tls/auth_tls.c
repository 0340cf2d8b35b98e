/* TLS on a non-blocking socket, the client's side. See auth_tls.h.
 *
 * An SSL object is not for two threads at once, and rpc_sync may read and write in two: a mutex around each step,
 * which never waits. OpenSSL keeps its errors in a queue of the thread: it is emptied before and after each step,
 * since the program that loaded the module may use OpenSSL too. The handshake is the only place that waits, by poll.
 * A valid chain proves only that the peer is a daemon of this complex; check_role checks which one. */
#include "auth_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <strings.h>

#include "certs.h"
#include "clock.h"

struct tls {
    SSL *ssl;
    pthread_mutex_t lock;
};

/* errno for a step that did not go through */
static int why(SSL *ssl, int rc)
{
    switch (SSL_get_error(ssl, rc)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        return errno ? errno : ECONNRESET;
    default: /* a missing close_notify too: an end is an end */
        return ECONNRESET;
    }
}

static ssize_t tls_step(struct tls *t, bool write, void *bytes, size_t n)
{
    size_t done = 0;
    int rc, failure = 0;

    pthread_mutex_lock(&t->lock);
    ERR_clear_error();
    errno = 0;
    rc = write ? SSL_write_ex(t->ssl, bytes, n, &done) : SSL_read_ex(t->ssl, bytes, n, &done);
    if (rc != 1)
        failure = why(t->ssl, rc);
    ERR_clear_error();
    pthread_mutex_unlock(&t->lock);
    if (rc == 1)
        return (ssize_t)done;
    errno = failure;
    return failure ? -1 : 0;
}

static ssize_t auth_tls_read(void *ctx, void *bytes, size_t n)
{
    return tls_step(ctx, false, bytes, n);
}

static ssize_t auth_tls_write(void *ctx, const void *bytes, size_t n)
{
    ssize_t done = tls_step(ctx, true, (void *)(uintptr_t)bytes, n);

    if (done == 0) {
        errno = EPIPE;
        return -1;
    }
    return done;
}

static int auth_tls_export(void *ctx, const char *label, void *out, size_t n, struct err *e)
{
    struct tls *t = ctx;
    int rc;

    pthread_mutex_lock(&t->lock);
    rc = SSL_export_keying_material(t->ssl, out, n, label, strlen(label), NULL, 0, 0);
    ERR_clear_error();
    pthread_mutex_unlock(&t->lock);
    return rc == 1 ? 0 : err_set(e, EPROTO, "TLS exports no keying material");
}

static void auth_tls_destroy(void *ctx)
{
    struct tls *t = ctx;

    if (!t)
        return;
    if (t->ssl) {
        ERR_clear_error();
        SSL_shutdown(t->ssl);
        ERR_clear_error();
        SSL_free(t->ssl);
    }
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static const struct rpc_transport transport = {
    .read = auth_tls_read, .write = auth_tls_write, .export = auth_tls_export, .destroy = auth_tls_destroy};

/* --- the handshake */

static int handshake_err(SSL *ssl, struct err *e)
{
    long verdict = SSL_get_verify_result(ssl);
    unsigned long n = ERR_peek_last_error();
    char text[256] = "the server ended the connection";

    if (n)
        ERR_error_string_n(n, text, sizeof text);
    ERR_clear_error();
    if (verdict != X509_V_OK)
        return err_set(e, EACCES, "the server's certificate is not of this complex: %s",
                       X509_verify_cert_error_string(verdict));
    return err_set(e, EACCES, "the TLS handshake failed: %s", text);
}

static int shake(SSL *ssl, int fd, int64_t deadline_mono_ms, struct err *e)
{
    for (;;) {
        struct pollfd p = {.fd = fd};
        int64_t left_ms = -1;
        int rc;

        ERR_clear_error();
        rc = SSL_connect(ssl);
        if (rc == 1)
            return 0;
        rc = SSL_get_error(ssl, rc);
        if (rc != SSL_ERROR_WANT_READ && rc != SSL_ERROR_WANT_WRITE)
            return handshake_err(ssl, e);
        if (deadline_mono_ms >= 0)
            left_ms = deadline_mono_ms - clock_real_mono_ms();
        if (deadline_mono_ms >= 0 && left_ms <= 0)
            return err_set(e, ETIMEDOUT, "the TLS handshake took too long");
        p.events = rc == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        poll(&p, 1, (int)left_ms);
    }
}

/* The role in the server's verified certificate. */
static int check_role(SSL *ssl, const char *expect, struct err *e)
{
    X509 *cert = SSL_get0_peer_certificate(ssl);
    char cn[256] = "";

    if (cert)
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, cn, sizeof cn);
    if (!cert || strcmp(cn, expect) != 0)
        return err_set(e, EACCES, "the peer is \"%s\", not \"%s\"", cn, expect);
    return 0;
}

/* --- a host that has no ca.crt yet */

enum { PIN = 64 };

static SSL_CTX *pin_context(struct err *e)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

    if (ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
        SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\6sunrpc", 7) == 0) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL); /* check_pin does it, before anything is sent */
        return ctx;
    }
    SSL_CTX_free(ctx);
    err_set(e, ENOMEM, "no memory for TLS");
    return NULL;
}

static bool has_print(X509 *cert, const char *print)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char text[PIN + 1] = "";

    if (X509_digest(cert, EVP_sha256(), sum, &n) != 1 || n != PIN / 2)
        return false;
    for (unsigned i = 0; i < n; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", sum[i]);
    return strncasecmp(text, print, PIN) == 0;
}

static bool is_signed_by(X509 *cert, X509 *ca)
{
    return X509_check_ca(ca) > 0 && X509_check_issued(ca, cert) == X509_V_OK &&
           X509_verify(cert, X509_get0_pubkey(ca)) == 1 &&
           X509_cmp_current_time(X509_get0_notBefore(cert)) < 0 &&
           X509_cmp_current_time(X509_get0_notAfter(cert)) > 0;
}

static int check_pin(SSL *ssl, const char *print, struct err *e)
{
    X509 *cert = SSL_get0_peer_certificate(ssl);
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);

    for (int i = 0; cert && i < sk_X509_num(chain); i++)
        if (has_print(sk_X509_value(chain, i), print))
            return is_signed_by(cert, sk_X509_value(chain, i))
                       ? 0
                       : err_set(e, EACCES,
                                 "the server's certificate is not signed by its CA, or is not valid now");
    return err_set(e, EACCES,
                   "the server is not the one that has made the token: its CA has another fingerprint");
}

/* --- the way in */

/* `expect` taken apart: the role that the peer must have, and how its certificate is checked. */
struct expected {
    const char *role;
    const char *pin; /* the fingerprint of its CA, behind which the role is; NULL: by ca.crt */
    bool any;        /* a complex in peers.crt will do too */
};

static struct expected expected_of(const char *text)
{
    const size_t n_any = sizeof AUTH_TLS_ANY - 1, n_pin = sizeof AUTH_TLS_PIN - 1;

    if (strncmp(text, AUTH_TLS_ANY, n_any) == 0)
        return (struct expected){.role = text + n_any, .any = true};
    if (strncmp(text, AUTH_TLS_PIN, n_pin) == 0 && strlen(text) > PIN + 5)
        return (struct expected){.role = text + n_pin + PIN + 1, .pin = text + n_pin};
    return (struct expected){.role = text};
}

/* A connection that has not shaken hands. Takes the context. NULL: `e` says why. */
static struct tls *tls_create(SSL_CTX *ctx, int fd, struct err *e)
{
    struct tls *t = ctx ? calloc(1, sizeof *t) : NULL;

    if (t) {
        pthread_mutex_init(&t->lock, NULL);
        t->ssl = SSL_new(ctx);
    }
    if (ctx && (!t || !t->ssl || SSL_set_fd(t->ssl, fd) != 1)) {
        auth_tls_destroy(t);
        t = NULL;
        err_set(e, ENOMEM, "no memory for TLS");
    }
    SSL_CTX_free(ctx); /* NULL is ignored; the connection has a reference of its own */
    return t;
}

int auth_tls_connect(int fd, const char *certs, const char *role, const char *expect, int64_t limit_ms,
                     const struct rpc_transport **out, void **ctx, struct err *e)
{
    int64_t deadline = limit_ms < 0 ? -1 : clock_real_mono_ms() + limit_ms;
    struct expected x = expected_of(expect);
    struct tls *t = tls_create(x.pin ? pin_context(e)
                                     : certs_context(certs, role, x.any ? CERTS_ANY_CLIENT : CERTS_CLIENT, e),
                               fd, e);

    if (!t)
        return -1;
    /* Who the peer is comes last: before its certificate has been checked its name says nothing. */
    if (shake(t->ssl, fd, deadline, e) < 0 || (x.pin && check_pin(t->ssl, x.pin, e) < 0) ||
        check_role(t->ssl, x.role, e) < 0) {
        auth_tls_destroy(t);
        return -1;
    }
    *out = &transport;
    *ctx = t;
    return 0;
}
