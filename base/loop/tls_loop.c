/* TLS on a stream: see tls_loop.h. A stream_transform around an SSL with two memory buffers: what came from the wire
 * and what is to go there. OpenSSL never sees a descriptor. */
#include "tls_loop.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "stream.h"

struct tls_loop {
    SSL *ssl;
    BIO *from_wire, *to_wire; /* owned by ssl */
    bool established, peer_finished;
    void (*ready)(void *arg, struct tls_loop *t);
    void *arg;
};

/* The last reason OpenSSL gave, the queue emptied. Always -1. */
static int tls_error(struct err *e, int code, const char *doing)
{
    unsigned long number = ERR_peek_last_error();
    const char *reason = number ? ERR_reason_error_string(number) : NULL;

    err_set(e, code, "%s: %s", doing, reason ? reason : "the peer broke off");
    ERR_clear_error();
    return -1;
}

/* 0 when OpenSSL only wants more bytes, else -1. `rc` is what the call returned. */
static int tls_loop_judge(struct tls_loop *t, int rc, const char *doing, struct err *e)
{
    switch (SSL_get_error(t->ssl, rc)) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return 0;
    case SSL_ERROR_ZERO_RETURN:
        t->peer_finished = true;
        return 0;
    default:
        return tls_error(e, EPROTO, doing);
    }
}

/* Take the handshake as far as the bytes that are there allow. 0: it is done, or waits for the peer. */
static int tls_loop_shake_hands(struct tls_loop *t, struct err *e)
{
    long verdict;
    int rc;

    if (t->established)
        return 0;
    ERR_clear_error();
    rc = SSL_do_handshake(t->ssl);
    if (rc != 1 && tls_loop_judge(t, rc, "TLS handshake", e) < 0) {
        verdict = SSL_get_verify_result(t->ssl);
        if (verdict != X509_V_OK)
            err_prefix(e, "%s", X509_verify_cert_error_string(verdict));
        return -1;
    }
    if (rc == 1) {
        t->established = true;
        if (t->ready)
            t->ready(t->arg, t);
    }
    return 0;
}

/* During the handshake no clear bytes are read, so arriving bytes drive it from here. */
static int tls_loop_take_from_wire(void *ctx, const void *bytes, size_t n, struct err *e)
{
    struct tls_loop *t = ctx;
    size_t written;

    if (!BIO_write_ex(t->from_wire, bytes, n, &written) || written != n)
        return err_set(e, ENOMEM, "no memory for TLS input");
    return tls_loop_shake_hands(t, e);
}

/* Nothing is read before the handshake is over. */
static ssize_t tls_loop_give_clear(void *ctx, void *out, size_t max, struct err *e)
{
    struct tls_loop *t = ctx;
    size_t n = 0;
    int rc;

    if (!t->established || t->peer_finished)
        return 0;
    ERR_clear_error();
    rc = SSL_read_ex(t->ssl, out, max, &n);
    if (rc != 1 && tls_loop_judge(t, rc, "TLS input", e) < 0)
        return -1;
    return rc == 1 ? (ssize_t)n : 0;
}

static ssize_t tls_loop_take_clear(void *ctx, const void *bytes, size_t n, struct err *e)
{
    struct tls_loop *t = ctx;
    size_t written = 0;
    int rc;

    if (!t->established)
        return 0;
    ERR_clear_error();
    rc = SSL_write_ex(t->ssl, bytes, n, &written);
    if (rc != 1 && tls_loop_judge(t, rc, "TLS output", e) < 0)
        return -1;
    return rc == 1 ? (ssize_t)written : 0;
}

static ssize_t tls_loop_give_wire(void *ctx, void *out, size_t max, struct err *e)
{
    struct tls_loop *t = ctx;
    size_t n = 0;

    if (tls_loop_shake_hands(t, e) < 0 && BIO_ctrl_pending(t->to_wire) == 0)
        return -1; /* a handshake that failed has an alert to send first */
    return BIO_read_ex(t->to_wire, out, max, &n) ? (ssize_t)n : 0;
}

/* close_notify; the peer then knows that no byte was cut off. */
static void tls_loop_say_goodbye(void *ctx)
{
    struct tls_loop *t = ctx;

    if (t->established)
        SSL_shutdown(t->ssl);
    ERR_clear_error();
}

static bool tls_loop_has_peer_finished(void *ctx)
{
    return ((struct tls_loop *)ctx)->peer_finished;
}

static void tls_loop_destroy(void *ctx)
{
    struct tls_loop *t = ctx;

    SSL_free(t->ssl);
    free(t);
}

static const struct stream_transform transform = {
    .from_wire = tls_loop_take_from_wire,
    .clear_out = tls_loop_give_clear,
    .clear_in = tls_loop_take_clear,
    .to_wire = tls_loop_give_wire,
    .finish = tls_loop_say_goodbye,
    .peer_finished = tls_loop_has_peer_finished,
    .destroy = tls_loop_destroy,
};

/* A client may name the server that it wants, for SNI and for the check of the certificate. */
static int set_side(struct tls_loop *t, const struct tls_loop_options *o)
{
    if (o->side == TLS_LOOP_SERVER) {
        SSL_set_accept_state(t->ssl);
        return 0;
    }
    SSL_set_connect_state(t->ssl);
    if (!o->server_name)
        return 0;
    return SSL_set_tlsext_host_name(t->ssl, o->server_name) && SSL_set1_host(t->ssl, o->server_name) ? 0 : -1;
}

static struct tls_loop *tls_loop_create_with(const struct tls_loop_options *o, struct err *e)
{
    struct tls_loop *t = calloc(1, sizeof *t);

    if (t)
        t->ssl = SSL_new(o->ctx);
    if (!t || !t->ssl)
        goto nomem;
    t->from_wire = BIO_new(BIO_s_mem());
    t->to_wire = BIO_new(BIO_s_mem());
    if (!t->from_wire || !t->to_wire) {
        BIO_free(t->from_wire);
        BIO_free(t->to_wire);
        goto nomem;
    }
    BIO_set_mem_eof_return(t->from_wire, -1); /* empty means "later", not the end */
    SSL_set_bio(t->ssl, t->from_wire, t->to_wire);
    /* What was not taken waits in a buffer that grows, and so may lie elsewhere when it is offered again. */
    SSL_set_mode(t->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                             SSL_MODE_RELEASE_BUFFERS);
    t->ready = o->ready;
    t->arg = o->arg;
    if (set_side(t, o) == 0)
        return t;
nomem:
    if (t)
        SSL_free(t->ssl);
    free(t);
    ERR_clear_error();
    err_set(e, ENOMEM, "no memory for TLS");
    return NULL;
}

struct tls_loop *tls_loop_start(struct stream *s, const struct tls_loop_options *o, struct err *e)
{
    struct tls_loop *t = tls_loop_create_with(o, e);

    if (!t || stream_set_transform(s, &transform, t, e) < 0)
        return NULL;
    return t;
}

/* --- asking --- */

/* Return true if the CA at the end of the peer's chain also made our certificate. A client without a certificate
 * trusts one CA only. */
static bool is_of_our_ca(SSL *ssl)
{
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    X509 *own = SSL_get_certificate(ssl), *root;

    if (!own)
        return true;
    root = chain ? sk_X509_value(chain, sk_X509_num(chain) - 1) : NULL;
    return root && X509_check_issued(root, own) == X509_V_OK && X509_verify(own, X509_get0_pubkey(root)) == 1;
}

/* A certificate that was not verified says nothing, so it has no name here. */
char *tls_loop_peer_name(const struct tls_loop *t)
{
    X509 *peer = SSL_get0_peer_certificate(t->ssl);
    X509_NAME *subject =
        peer && SSL_get_verify_result(t->ssl) == X509_V_OK ? X509_get_subject_name(peer) : NULL;
    int at = subject ? X509_NAME_get_index_by_NID(subject, NID_commonName, -1) : -1;
    unsigned char *utf8 = NULL;
    char *name = NULL;
    int n;

    if (at < 0)
        return NULL;
    n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (n > 0 && !memchr(utf8, '\0', (size_t)n) && /* a NUL in a name would hide the rest of it */
        asprintf(&name, "%s%.*s", is_of_our_ca(t->ssl) ? "" : TLS_LOOP_FOREIGN, n, (char *)utf8) < 0)
        name = NULL;
    OPENSSL_free(utf8);
    return name;
}

void tls_loop_peer_serial(const struct tls_loop *t, char *out, size_t n)
{
    X509 *peer = SSL_get0_peer_certificate(t->ssl);
    BIGNUM *number = peer ? ASN1_INTEGER_to_BN(X509_get0_serialNumber(peer), NULL) : NULL;
    char *hex = number ? BN_bn2hex(number) : NULL;

    snprintf(out, n, "%s", hex && strlen(hex) < n ? hex : "");
    OPENSSL_free(hex);
    BN_free(number);
}

int tls_loop_export(const struct tls_loop *t, const char *label, void *out, size_t n, struct err *e)
{
    if (!t->established)
        return err_set(e, EAGAIN, "the TLS handshake is not done");
    if (SSL_export_keying_material(t->ssl, out, n, label, strlen(label), NULL, 0, 0) != 1)
        return tls_error(e, EPROTO, "cannot export keying material");
    return 0;
}
