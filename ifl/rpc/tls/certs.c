/* Certificates, made with OpenSSL 3 and written whole or not at all. See certs.h.
 *
 * What is there is never made anew, so any daemon may call certs_ensure at each start, and all of a host
 * at once: the directory is locked while something is made. A key is written before its certificate, and a
 * pair that lacks one half is made again: a daemon killed in between harms nobody. Names of files come
 * from roles, whose form is checked first. */
#include "certs.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/file.h>
#include <unistd.h>

#include "auth.h"
#include "file.h"

enum { DAY_S = 24 * 3600, TEN_YEARS_DAYS = 3653, FILE_MAX = 64 << 10 };

/* A certificate and its key in memory. */
struct pair {
    X509 *cert;
    EVP_PKEY *key;
};

static void pair_fini(struct pair *p)
{
    X509_free(p->cert);
    EVP_PKEY_free(p->key);
    *p = (struct pair){0};
}

/* What OpenSSL has to say, and its queue of errors emptied. */
static int ssl_err(struct err *e, int code, const char *what)
{
    unsigned long n = ERR_peek_last_error();
    char text[256] = "no reason given";

    if (n)
        ERR_error_string_n(n, text, sizeof text);
    ERR_clear_error();
    return err_set(e, code, "%s: %s", what, text);
}

/* --- names of files */

/* dir/ROLE.ext, where the colon of mom:NODE is a hyphen */
static int file_name(char *out, size_t n, const char *dir, const char *role, const char *ext, struct err *e)
{
    int len = snprintf(out, n, "%s/%s.%s", dir, role, ext);
    char *colon;

    if (len < 0 || (size_t)len >= n)
        return err_set(e, ENAMETOOLONG, "the path of %s/%s.%s is too long", dir, role, ext);
    colon = strchr(out + strlen(dir), ':');
    if (colon)
        *colon = '-';
    return 0;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* --- PEM files */

static int write_pem(const char *path, mode_t mode, const struct pair *p, bool key, struct err *e)
{
    BIO *b = BIO_new(BIO_s_mem());
    char *bytes;
    long n;
    int ok, rc = -1;

    if (!b)
        return ssl_err(e, ENOMEM, "no memory for a certificate");
    ok = key ? PEM_write_bio_PKCS8PrivateKey(b, p->key, NULL, NULL, 0, NULL, NULL)
             : PEM_write_bio_X509(b, p->cert);
    n = BIO_get_mem_data(b, &bytes);
    if (!ok || n <= 0)
        ssl_err(e, EIO, "cannot write a certificate");
    else
        rc = file_write_atomic(AT_FDCWD, path, bytes, (size_t)n, mode, e);
    BIO_free(b);
    return rc;
}

static int read_pem(const char *path, struct pair *p, bool key, struct err *e)
{
    char *bytes = NULL;
    size_t n;
    BIO *b;
    int rc = 0;

    if (file_read(AT_FDCWD, path, FILE_MAX, &bytes, &n, e) < 0)
        return -1;
    b = BIO_new_mem_buf(bytes, (int)n);
    if (b && key)
        p->key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
    else if (b)
        p->cert = PEM_read_bio_X509(b, NULL, NULL, NULL);
    if (key ? !p->key : !p->cert) {
        ssl_err(e, EKEYREJECTED, "not readable as PEM");
        rc = err_prefix(e, "%s", path);
    }
    BIO_free(b);
    OPENSSL_cleanse(bytes, n);
    free(bytes);
    return rc;
}

/* --- making */

static int add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *x;
    int ok;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ok = x && X509_add_ext(cert, x, -1);
    X509_EXTENSION_free(x);
    return ok;
}

static int add_extensions(X509 *cert, X509 *issuer)
{
    bool ca = cert == issuer;

    return add_extension(cert, issuer, NID_basic_constraints,
                         ca ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_key_usage,
                         ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
           add_extension(cert, issuer, NID_subject_key_identifier, "hash") &&
           (ca || add_extension(cert, issuer, NID_ext_key_usage, "serverAuth,clientAuth")) &&
           (ca || add_extension(cert, issuer, NID_authority_key_identifier, "keyid"));
}

static int set_serial(X509 *cert)
{
    uint64_t n;

    if (RAND_bytes((unsigned char *)&n, sizeof n) != 1)
        return 0;
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), n >> 1 | 1);
}

/* Valid from yesterday, for hosts whose clocks differ. */
static int fill_cert(X509 *cert, EVP_PKEY *key, const char *cn)
{
    return X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -DAY_S) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), TEN_YEARS_DAYS, 0, NULL) &&
           X509_set_pubkey(cert, key) &&
           X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)cn, -1, -1, 0);
}

/* A new key and a certificate for it, signed by `ca` (NULL: by itself). */
static int make_pair(struct pair *p, const char *cn, const struct pair *ca, struct err *e)
{
    X509 *issuer;

    p->key = EVP_EC_gen("P-256");
    p->cert = X509_new();
    if (!p->key || !p->cert)
        return ssl_err(e, ENOMEM, "cannot make a key");
    issuer = ca ? ca->cert : p->cert;
    if (fill_cert(p->cert, p->key, cn) && X509_set_issuer_name(p->cert, X509_get_subject_name(issuer)) &&
        add_extensions(p->cert, issuer) && X509_sign(p->cert, ca ? ca->key : p->key, EVP_sha256()))
        return 0;
    return ssl_err(e, EIO, "cannot make a certificate");
}

/* The key first: a certificate that is there has its key. */
static int write_pair(const struct pair *p, const char *key_path, const char *cert_path, struct err *e)
{
    if (write_pem(key_path, 0600, p, true, e) < 0)
        return -1;
    return write_pem(cert_path, 0644, p, false, e);
}

static int make_ca(const char *cert_path, const char *key_path, struct err *e)
{
    struct pair ca = {0};
    int rc = make_pair(&ca, "PBS complex CA", NULL, e);

    if (rc == 0)
        rc = write_pair(&ca, key_path, cert_path, e);
    pair_fini(&ca);
    return rc;
}

static int load_ca(const char *cert_path, const char *key_path, struct pair *ca, struct err *e)
{
    if (read_pem(cert_path, ca, false, e) < 0 || read_pem(key_path, ca, true, e) < 0)
        return -1;
    if (X509_check_private_key(ca->cert, ca->key) != 1) {
        ERR_clear_error();
        return err_set(e, EKEYREJECTED, "%s does not belong to %s", key_path, cert_path);
    }
    return 0;
}

struct paths {
    char ca_cert[4096], ca_key[4096], cert[4096], key[4096], peers[4096];
};

static int name_files(struct paths *p, const char *dir, const char *role, struct err *e)
{
    if (!auth_role_is_valid(role))
        return err_set(e, EINVAL, "\"%s\" is no role: server, sched or mom:NODE", role);
    if (file_name(p->ca_cert, sizeof p->ca_cert, dir, "ca", "crt", e) < 0 ||
        file_name(p->ca_key, sizeof p->ca_key, dir, "ca", "key", e) < 0 ||
        file_name(p->cert, sizeof p->cert, dir, role, "crt", e) < 0 ||
        file_name(p->peers, sizeof p->peers, dir, "peers", "crt", e) < 0)
        return -1;
    return file_name(p->key, sizeof p->key, dir, role, "key", e);
}

/* Only the server, or what runs beside it, begins a complex: a MOM elsewhere that made a CA of its own would
 * be a stranger for ever. */
static int ensure_ca(const struct paths *p, const char *role, struct err *e)
{
    if (exists(p->ca_cert))
        return 0;
    if (!strncmp(role, "mom:", 4))
        return err_set(
            e, EACCES,
            "%s is missing: start the server first, or copy ca.crt, %s and its .key from the server's "
            "PBS_HOME/certs (or ca.crt and ca.key, to have them made here)",
            p->ca_cert, strrchr(p->cert, '/') + 1);
    return make_ca(p->ca_cert, p->ca_key, e);
}

static int ensure_role(const struct paths *p, const char *role, struct err *e)
{
    struct pair ca = {0}, own = {0};
    int rc;

    if (exists(p->cert) && exists(p->key))
        return 0;
    if (access(p->ca_key, R_OK) < 0)
        return err_set(
            e, EACCES,
            "%s is missing and cannot be made without %s: copy %s and its .key from a host that has "
            "it, or ca.key to here",
            p->cert, p->ca_key, strrchr(p->cert, '/') + 1);
    rc = load_ca(p->ca_cert, p->ca_key, &ca, e);
    if (rc == 0)
        rc = make_pair(&own, role, &ca, e);
    if (rc == 0)
        rc = write_pair(&own, p->key, p->cert, e);
    pair_fini(&ca);
    pair_fini(&own);
    return rc;
}

/* Daemons of one host start at the same time and share the directory. */
static int lock_dir(const char *dir, struct err *e)
{
    char path[4096];
    int fd;

    if (file_make_dirs(dir, 0700, e) < 0 || file_name(path, sizeof path, dir, "certs", "lock", e) < 0)
        return -1;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    err_errno(e, errno, "cannot lock %s", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

int certs_ensure(const char *dir, const char *role, struct err *e)
{
    struct paths p;
    int lock, rc;

    if (name_files(&p, dir, role, e) < 0)
        return -1;
    if (exists(p.ca_cert) && exists(p.cert) && exists(p.key))
        return 0;
    lock = lock_dir(dir, e);
    if (lock < 0)
        return -1;
    rc = ensure_ca(&p, role, e);
    if (rc == 0)
        rc = ensure_role(&p, role, e);
    close(lock);
    return rc;
}

/* --- contexts */

/* ALPN "sunrpc" (RFC 9289): a client that offers something else is refused. */
static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *n_out, const unsigned char *in,
                       unsigned n, void *arg)
{
    static const unsigned char ours[] = "\6sunrpc";

    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto((unsigned char **)(uintptr_t)out, n_out, ours, sizeof ours - 1, in, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

static bool is_server(enum certs_side side)
{
    return side == CERTS_SERVER || side == CERTS_SERVER_GUESTS;
}

static int set_rules(SSL_CTX *ctx, enum certs_side side)
{
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(
        ctx, SSL_VERIFY_PEER | (side == CERTS_SERVER_GUESTS ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT), NULL);
    if (!SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION))
        return 0;
    if (is_server(side)) {
        SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        return SSL_CTX_set_num_tickets(ctx, 0); /* identity is shown anew at every connection */
    }
    return SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\6sunrpc", 7) == 0;
}

/* Whom a context believes. Servers of other complexes are known to be that by the end of their chain (tls_loop.h). */
static const char *load_trust(SSL_CTX *ctx, const struct paths *p, enum certs_side side)
{
    if (side != CERTS_PEER_CLIENT && SSL_CTX_load_verify_locations(ctx, p->ca_cert, NULL) != 1)
        return p->ca_cert;
    if (side == CERTS_SERVER || side == CERTS_CLIENT || (side != CERTS_PEER_CLIENT && !exists(p->peers)))
        return NULL;
    return SSL_CTX_load_verify_locations(ctx, p->peers, NULL) == 1 ? NULL : p->peers;
}

static int load_files(SSL_CTX *ctx, const struct paths *p, bool own, enum certs_side side, struct err *e)
{
    const char *bad = load_trust(ctx, p, side);
    char what[4200];

    if (bad && side == CERTS_PEER_CLIENT && !exists(p->peers))
        return err_set(
            e, EKEYREJECTED,
            "no server of another complex is trusted here: the certificate of its CA (PBS_HOME/certs/ca.crt "
            "there) belongs into %s",
            p->peers);
    if (bad)
        snprintf(what, sizeof what, "cannot use %s", bad);
    else if (!own)
        return 0;
    else if (SSL_CTX_use_certificate_file(ctx, p->cert, SSL_FILETYPE_PEM) != 1)
        snprintf(what, sizeof what, "cannot use %s", p->cert);
    else if (SSL_CTX_use_PrivateKey_file(ctx, p->key, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(ctx) != 1)
        snprintf(what, sizeof what, "cannot use %s", p->key);
    else
        return 0;
    return ssl_err(e, EKEYREJECTED, what);
}

struct ssl_ctx_st *certs_context(const char *dir, const char *role, enum certs_side side, struct err *e)
{
    SSL_CTX *ctx;
    struct paths p;

    if (name_files(&p, dir, role ? role : "server", e) < 0)
        return NULL;
    ctx = SSL_CTX_new(is_server(side) ? TLS_server_method() : TLS_client_method());
    if (ctx && set_rules(ctx, side)) {
        if (load_files(ctx, &p, role != NULL, side, e) == 0)
            return ctx;
    } else {
        ssl_err(e, ENOMEM, "cannot begin TLS");
    }
    SSL_CTX_free(ctx);
    return NULL;
}
