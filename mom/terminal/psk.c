/* The key rides as the master key of a session that never was (RFC 8446 section 4.2.11, external PSK), with the one hash
 * that goes with such keys by default. OpenSSL asks for it by callbacks, which find it in the SSL's application data. */
#include "psk.h"

#include <errno.h>
#include <string.h>

#include <openssl/err.h>

static const unsigned char identity[] = "pbs-interactive";
static const unsigned char cipher_id[] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */

int psk_parse(const char *hex, unsigned char key[static PSK_SIZE], struct err *e)
{
    static const char digits[] = "0123456789abcdef";

    if (strlen(hex) != PSK_HEX)
        return err_set(e, EINVAL, "a key has %d hexadecimal digits", PSK_HEX);
    for (size_t i = 0; i < PSK_SIZE; i++) {
        const char *high = strchr(digits, hex[2 * i]), *low = strchr(digits, hex[2 * i + 1]);

        if (!high || !low)
            return err_set(e, EINVAL, "a key has hexadecimal digits only");
        key[i] = (unsigned char)((high - digits) << 4 | (low - digits));
    }
    return 0;
}

static SSL_SESSION *make_session(SSL *s)
{
    const unsigned char *key = SSL_get_app_data(s);
    SSL_SESSION *session = SSL_SESSION_new();
    const SSL_CIPHER *cipher = SSL_CIPHER_find(s, cipher_id);

    if (session && cipher && SSL_SESSION_set1_master_key(session, key, PSK_SIZE) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int psk_use_session(SSL *s, const EVP_MD *md, const unsigned char **id, size_t *n, SSL_SESSION **out)
{
    *out = make_session(s);
    *id = identity;
    *n = sizeof identity - 1;
    return *out != NULL;
}

/* Another identity is not an error here: the handshake then fails for want of a certificate. */
static int psk_find_session(SSL *s, const unsigned char *id, size_t n, SSL_SESSION **out)
{
    *out = n == sizeof identity - 1 && memcmp(id, identity, n) == 0 ? make_session(s) : NULL;
    return 1;
}

static SSL *psk_make(int fd, const unsigned char *key, const SSL_METHOD *method)
{
    SSL_CTX *ctx = SSL_CTX_new(method);
    SSL *s = NULL;

    if (ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
        SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") == 1) {
        SSL_CTX_set_psk_use_session_callback(ctx, psk_use_session);
        SSL_CTX_set_psk_find_session_callback(ctx, psk_find_session);
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(ctx, 0);
        s = SSL_new(ctx);
    }
    SSL_CTX_free(ctx); /* counted: lives as long as the SSL */
    if (s && (SSL_set_app_data(s, (void *)key) != 1 || SSL_set_fd(s, fd) != 1)) {
        SSL_free(s);
        s = NULL;
    }
    return s;
}

static SSL *psk_finish(SSL *s, int rc, struct err *e)
{
    /* A server without certificate that had no PSK either has failed; one that continues has proved the key. */
    if (s && rc == 1 && SSL_session_reused(s)) {
        SSL_set_app_data(s, NULL);
        return s;
    }
    err_set(e, EPROTO, "the TLS handshake has failed: %s", ERR_reason_error_string(ERR_get_error()));
    SSL_free(s);
    return NULL;
}

SSL *psk_connect(int fd, const unsigned char key[static PSK_SIZE], struct err *e)
{
    SSL *s = psk_make(fd, key, TLS_client_method());

    return psk_finish(s, s ? SSL_connect(s) : -1, e);
}

SSL *psk_accept(int fd, const unsigned char key[static PSK_SIZE], struct err *e)
{
    SSL *s = psk_make(fd, key, TLS_server_method());

    return psk_finish(s, s ? SSL_accept(s) : -1, e);
}

void psk_close(SSL *s)
{
    if (s)
        SSL_shutdown(s);
    SSL_free(s);
}
