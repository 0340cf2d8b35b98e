#ifndef TLS_LOOP_H
#define TLS_LOOP_H
/* TLS 1.3 on a stream: OpenSSL between memory buffers, so that the loop never waits for it.
 *
 * The caller makes the SSL_CTX (certificates, verification, PSK callbacks) and may use one for many streams.
 * After tls_loop_start what is written to the stream is sent only when the handshake is done; `ready` tells
 * when, and only then may the peer's certificate be asked. A failed handshake ends the stream (`closed`,
 * EPROTO, with OpenSSL's reason).
 */
#include <stddef.h>

#include "err.h"

struct stream;
struct tls_loop;
struct ssl_ctx_st; /* SSL_CTX */
struct ssl_st;     /* SSL */

enum tls_loop_side { TLS_LOOP_SERVER, TLS_LOOP_CLIENT };

struct tls_loop_options {
    struct ssl_ctx_st *ctx; /* counted up here; the caller keeps its own reference */
    enum tls_loop_side side;
    const char *server_name; /* client: SNI and name to check in the certificate; NULL: neither */
    void (*ready)(void *arg, struct tls_loop *t); /* handshake done; may be NULL */
    void *arg;
};

/* Slip TLS into the stream. The result belongs to the stream and lives as long. NULL: EALREADY, ENOMEM. */
struct tls_loop *tls_loop_start(struct stream *s, const struct tls_loop_options *o, struct err *e);

/* Common name of the peer's verified certificate as heap text; NULL: it showed none. TLS_LOOP_FOREIGN is put in front
 * of it if another CA than that of our own certificate has signed it. */
#define TLS_LOOP_FOREIGN "peer:"
char *tls_loop_peer_name(const struct tls_loop *t);
/* Serial number of the peer's certificate, in hexadecimal; "" where it showed none, or n is too small. */
void tls_loop_peer_serial(const struct tls_loop *t, char *out, size_t n);
/* Keying material bound to this connection (RFC 5705), after `ready`. */
int tls_loop_export(const struct tls_loop *t, const char *label, void *out, size_t n, struct err *e);

#endif
