#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "file.h"
#include "loop.h"
#include "stream.h"
#include "tls_loop.h"

enum { BIG = 1000000 };

/* Files of a small CA: ca, server and client signed by it, stranger signed by itself. */
static char dir[] = "/tmp/tls_loop_test.XXXXXX";

static const char *path_of(const char *name)
{
    static char text[4][100];
    static unsigned next;
    char *p = text[next++ % 4];

    snprintf(p, sizeof text[0], "%s/%s.pem", dir, name);
    return p;
}

static EVP_PKEY *make(const char *name, X509 *issuer, EVP_PKEY *issuer_key, X509 **out)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_NAME *subject = X509_get_subject_name(x);
    FILE *f;

    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), (long)strlen(name) + 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -60);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : subject);
    if (!issuer) {
        X509_EXTENSION *ca = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");

        X509_add_ext(x, ca, -1);
        X509_EXTENSION_free(ca);
    }
    assert_true(X509_sign(x, issuer_key ? issuer_key : key, EVP_sha256()) > 0);
    f = fopen(path_of(name), "w");
    assert_non_null(f);
    PEM_write_X509(f, x);
    PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
    fclose(f);
    *out = x;
    return key;
}

static int make_files(void **state)
{
    X509 *ca, *x;
    EVP_PKEY *ca_key, *key;

    assert_non_null(mkdtemp(dir));
    ca_key = make("ca", NULL, NULL, &ca);
    for (const char *const *name = (const char *const[]){"server", "client", NULL}; *name; name++) {
        key = make(*name, ca, ca_key, &x);
        X509_free(x);
        EVP_PKEY_free(key);
    }
    key = make("stranger", NULL, NULL, &x);
    X509_free(x);
    EVP_PKEY_free(key);
    X509_free(ca);
    EVP_PKEY_free(ca_key);
    return 0;
}

static int remove_files(void **state)
{
    return file_remove_tree(AT_FDCWD, dir, NULL);
}

struct end {
    struct loop *l;
    struct stream *s;
    struct tls_loop *t;
    SSL_CTX *ctx;
    char *got, *peer, key[32];
    size_t n;
    int ready, closed;
    struct err why;
};

static size_t data(void *arg, const void *bytes, size_t n)
{
    struct end *x = arg;

    assert_true(x->n + n <= BIG);
    memcpy(x->got + x->n, bytes, n);
    x->n += n;
    return n;
}

static void closed(void *arg, const struct err *why)
{
    struct end *x = arg;

    x->closed++;
    x->why = *why;
}

static void ready(void *arg, struct tls_loop *t)
{
    struct end *x = arg;

    x->ready++;
    x->peer = tls_loop_peer_name(t);
    assert_int_equal(tls_loop_export(t, "EXPERIMENTAL test", x->key, sizeof x->key, NULL), 0);
}

static const struct stream_events events = {.data = data, .closed = closed};

/* TLS 1.3, with a certificate of the small CA, and the peer must show one too. */
static SSL_CTX *make_context(enum tls_loop_side side, const char *who)
{
    SSL_CTX *ctx = SSL_CTX_new(side == TLS_LOOP_SERVER ? TLS_server_method() : TLS_client_method());

    assert_non_null(ctx);
    assert_int_equal(SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION), 1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_num_tickets(ctx, 0);
    assert_int_equal(SSL_CTX_load_verify_locations(ctx, path_of("ca"), NULL), 1);
    assert_int_equal(SSL_CTX_use_certificate_chain_file(ctx, path_of(who)), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(ctx, path_of(who), SSL_FILETYPE_PEM), 1);
    return ctx;
}

static void end_init(struct end *x, struct loop *l, int fd, enum tls_loop_side side, const char *who)
{
    struct tls_loop_options o = {.side = side, .ready = ready, .arg = x};
    struct err e;

    *x = (struct end){.l = l, .got = malloc(BIG)};
    x->s = stream_create(l, fd, NULL, &events, x, &e);
    x->ctx = make_context(side, who);
    o.ctx = x->ctx;
    o.server_name = side == TLS_LOOP_CLIENT ? "server" : NULL;
    x->t = tls_loop_start(x->s, &o, &e);
    assert_non_null(x->t);
}

static void end_fini(struct end *x)
{
    stream_destroy(x->s);
    SSL_CTX_free(x->ctx);
    free(x->got);
    free(x->peer);
}

static void connect_ends(struct loop **l, struct end *server, struct end *client, const char *client_cert)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    *l = loop_create(NULL, NULL);
    end_init(server, *l, fds[0], TLS_LOOP_SERVER, "server");
    end_init(client, *l, fds[1], TLS_LOOP_CLIENT, client_cert);
}

static void much_goes_both_ways_between_known_peers(void **state)
{
    struct loop *l;
    struct end server, client;
    char *text = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        text[i] = (char)(i * 17 % 251);
    connect_ends(&l, &server, &client, "client");
    assert_int_equal(stream_write(client.s, text, BIG, NULL), 0); /* before the handshake: it waits */
    assert_int_equal(stream_write(server.s, text, BIG, NULL), 0);
    while (server.n < BIG || client.n < BIG)
        assert_int_equal(loop_turn(l, 10000, NULL), 0);
    assert_memory_equal(server.got, text, BIG);
    assert_memory_equal(client.got, text, BIG);
    assert_int_equal(server.ready, 1);
    assert_string_equal(server.peer, "client");
    assert_string_equal(client.peer, "server");
    assert_memory_equal(server.key, client.key, sizeof server.key);
    stream_close_when_sent(client.s, 10000);
    while (!server.closed || !client.closed)
        assert_int_equal(loop_turn(l, 10000, NULL), 0);
    assert_int_equal(server.why.code, 0);
    end_fini(&server);
    end_fini(&client);
    loop_destroy(l);
    free(text);
}

static void a_stranger_is_refused_with_the_reason(void **state)
{
    struct loop *l;
    struct end server, client;

    connect_ends(&l, &server, &client, "stranger");
    while (!server.closed || !client.closed)
        assert_int_equal(loop_turn(l, 10000, NULL), 0);
    assert_int_equal(server.ready, 0);
    assert_int_equal(server.why.code, EPROTO);
    assert_non_null(strstr(server.why.text, "self-signed certificate"));
    assert_int_equal(client.why.code, EPROTO);
    end_fini(&server);
    end_fini(&client);
    loop_destroy(l);
}

static void clear_text_is_refused(void **state)
{
    struct loop *l = loop_create(NULL, NULL);
    struct end server;
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    end_init(&server, l, fds[0], TLS_LOOP_SERVER, "server");
    assert_int_equal(write(fds[1], "GET / HTTP/1.0\r\n\r\n", 18), 18);
    while (!server.closed)
        assert_int_equal(loop_turn(l, 10000, NULL), 0);
    assert_int_equal(server.why.code, EPROTO);
    end_fini(&server);
    close(fds[1]);
    loop_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_goes_both_ways_between_known_peers),
        cmocka_unit_test(a_stranger_is_refused_with_the_reason),
        cmocka_unit_test(clear_text_is_refused),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
