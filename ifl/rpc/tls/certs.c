/* Certificates of this host's daemons, and the contexts that use them. See certs.h.
 *
 * What is there and good for long is left as it is, so any daemon may call certs_ensure at each start, and all of a
 * host at once: the directory is locked while something is made. A key is written before its certificate, and a pair
 * that lacks one half is made again: a daemon killed in between leaves nothing that needs repair. Names of files come
 * from roles, whose form is checked first. */
#include "certs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ca.h"
#include "cert_pair.h"
#include "file.h"
#include "revoked.h"

enum { RENAMED_LEN = 384 };

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* --- making */

static int make_ca(const struct cert_paths *p, struct err *e)
{
    struct cert_pair ca = {0};
    int rc = cert_pair_make_key(&ca, e);

    if (rc == 0)
        rc = cert_pair_sign(&ca, NULL, "PBS complex CA", NULL, CERT_CA_DAYS, e);
    if (rc == 0)
        rc = cert_pair_write(&ca, p->ca_key, p->ca_cert, e);
    cert_pair_fini(&ca);
    return rc;
}

/* Only the server, or a daemon on its host, creates the CA: a MOM elsewhere that made a CA of its own would never be
 * accepted. */
static int ensure_ca(const struct cert_paths *p, const char *role, struct err *e)
{
    if (exists(p->ca_cert))
        return 0;
    if (!strncmp(role, "mom:", 4))
        return err_set(
            e, EACCES,
            "%s is missing: start the server first; on another host, let that host join: \"pbs_keys token "
            "%s\" on the server's host says how",
            p->ca_cert, role + 4);
    return make_ca(p, e);
}

/* In the last third of its life. A file that cannot be read is reported where it is used. */
static bool is_due(const char *path)
{
    struct cert_pair p = {0};
    int days = 0, s = 0, left_days = 0, left_s = 0;
    bool due = false;

    if (cert_pair_read_cert(path, &p, NULL) == 0 &&
        ASN1_TIME_diff(&days, &s, X509_get0_notBefore(p.cert), X509_get0_notAfter(p.cert)) &&
        ASN1_TIME_diff(&left_days, &left_s, NULL, X509_get0_notAfter(p.cert)))
        due = 3 * ((int64_t)left_days * CERT_DAY_S + left_s) < (int64_t)days * CERT_DAY_S + s;
    cert_pair_fini(&p);
    return due;
}

/* A host that was renamed has a certificate of the former name. Return "" where there is none. */
static const char *of_another_name(const char *dir, char out[static RENAMED_LEN])
{
    DIR *all = opendir(dir);
    struct dirent *entry;

    out[0] = '\0';
    while (all && !out[0] && (entry = readdir(all))) {
        size_t n = strlen(entry->d_name);

        if (n > sizeof "mom-.crt" - 1 && n < RENAMED_LEN / 3 && strncmp(entry->d_name, "mom-", 4) == 0 &&
            strcmp(entry->d_name + n - 4, ".crt") == 0)
            snprintf(
                out, RENAMED_LEN,
                "; if this host was named %.*s before, PBS_MOM_NODE_NAME=%.*s in pbs.conf keeps its node and jobs",
                (int)n - 8, entry->d_name + 4, (int)n - 8, entry->d_name + 4);
    }
    if (all)
        closedir(all);
    return out;
}

/* Make the role's certificate with the CA's key if it is missing; renew it, with its present key, where the CA's key
 * is here. */
static int ensure_role(const char *dir, const struct cert_paths *p, const char *role, struct err *e)
{
    char renamed[RENAMED_LEN];
    bool is_here = exists(p->cert) && exists(p->key), may_sign = access(p->ca_key, R_OK) == 0;

    if (is_here && (!may_sign || !is_due(p->cert)))
        return 0;
    if (!may_sign && strncmp(role, "mom:", 4) == 0)
        return err_set(
            e, EACCES,
            "%s is missing, and the CA's key is on the server's host: let this host join, \"pbs_keys token "
            "%s\" there says how%s",
            p->cert, role + 4, of_another_name(dir, renamed));
    if (!may_sign)
        return err_set(
            e, EACCES,
            "%s is missing and cannot be made without %s: make it on the server's host by \"pbs_keys issue "
            "%s\"",
            p->cert, p->ca_key, role);
    return ca_issue(dir, role, CA_SIGNED_DAYS, CA_RENEW, dir, e);
}

bool certs_is_due(const char *dir, const char *role)
{
    struct cert_paths p;

    return cert_pair_paths_set(&p, dir, role, NULL) == 0 && is_due(p.cert);
}

/* Users' commands read ca.crt: the directory is open to all, its keys are not. */
static int open_to_all(const char *dir, struct err *e)
{
    struct stat st;

    if (file_make_dirs(dir, 0755, e) < 0)
        return -1;
    if (stat(dir, &st) == 0 && (st.st_mode & 0777) == 0700 && st.st_uid == geteuid() && chmod(dir, 0755) < 0)
        return err_errno(e, errno, "cannot open %s to users' commands", dir);
    return 0;
}

static int lock_dir(const char *dir, int how, struct err *e)
{
    char path[4096];
    int fd;

    if (open_to_all(dir, e) < 0)
        return -1;
    if ((size_t)snprintf(path, sizeof path, "%s/certs.lock", dir) >= sizeof path)
        return err_set(e, ENAMETOOLONG, "the path of %s/certs.lock is too long", dir);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, how) == 0)
        return fd;
    if (fd >= 0 && errno == EWOULDBLOCK)
        err_set(e, EWOULDBLOCK, "%s is locked: pbs_keys or another daemon is at work there; try again", path);
    else
        err_errno(e, errno, "cannot lock %s", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

int certs_lock(const char *dir, struct err *e)
{
    return lock_dir(dir, LOCK_EX, e);
}

int certs_lock_now(const char *dir, struct err *e)
{
    return lock_dir(dir, LOCK_EX | LOCK_NB, e);
}

static int ensure_under(int lock, const char *dir, const char *role, struct err *e)
{
    struct cert_paths p;
    int rc;

    if (lock < 0)
        return -1;
    rc = cert_pair_paths_set(&p, dir, role, e);
    if (rc == 0)
        rc = ensure_ca(&p, role, e);
    if (rc == 0)
        rc = ensure_role(dir, &p, role, e);
    close(lock);
    return rc;
}

int certs_ensure(const char *dir, const char *role, struct err *e)
{
    struct cert_paths p;

    return cert_pair_paths_set(&p, dir, role, e) < 0 ? -1 : ensure_under(certs_lock(dir, e), dir, role, e);
}

int certs_ensure_now(const char *dir, const char *role, struct err *e)
{
    return ensure_under(certs_lock_now(dir, e), dir, role, e);
}

/* --- contexts */

/* ALPN "sunrpc" (RFC 9289): a client that offers something else is refused. */
static int certs_select_alpn(SSL *ssl, const unsigned char **out, unsigned char *n_out,
                             const unsigned char *in, unsigned n, void *arg)
{
    static const unsigned char ours[] = "\6sunrpc";

    if (SSL_select_next_proto((unsigned char **)(uintptr_t)out, n_out, ours, sizeof ours - 1, in, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

static bool is_server(enum certs_side side)
{
    return side == CERTS_SERVER || side == CERTS_SERVER_GUESTS;
}

/* Accept what OpenSSL accepts and the CA has not revoked. */
static int certs_verify(int ok, X509_STORE_CTX *x)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(x, SSL_get_ex_data_X509_STORE_CTX_idx());

    if (!ok || X509_STORE_CTX_get_error_depth(x) != 0 || !ssl ||
        !revoked_has_cert(revoked_of(SSL_get_SSL_CTX(ssl)), X509_STORE_CTX_get_current_cert(x)))
        return ok;
    X509_STORE_CTX_set_error(x, X509_V_ERR_CERT_REVOKED);
    return 0;
}

static int set_rules(SSL_CTX *ctx, enum certs_side side)
{
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(ctx,
                       SSL_VERIFY_PEER | (side == CERTS_SERVER_GUESTS ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT),
                       certs_verify);
    if (!SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION))
        return 0;
    if (is_server(side)) {
        SSL_CTX_set_alpn_select_cb(ctx, certs_select_alpn, NULL);
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        return SSL_CTX_set_num_tickets(ctx, 0); /* identity is shown at every connection */
    }
    return SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\6sunrpc", 7) == 0;
}

/* Load the CAs that a context trusts. A server of another complex is recognised by the end of its chain (tls_loop.h). */
static const char *load_trust(SSL_CTX *ctx, const struct cert_paths *p, enum certs_side side)
{
    if (side != CERTS_PEER_CLIENT && SSL_CTX_load_verify_locations(ctx, p->ca_cert, NULL) != 1)
        return p->ca_cert;
    if (side == CERTS_SERVER || side == CERTS_CLIENT || (side != CERTS_PEER_CLIENT && !exists(p->peers)))
        return NULL;
    return SSL_CTX_load_verify_locations(ctx, p->peers, NULL) == 1 ? NULL : p->peers;
}

/* Use the system's text: OpenSSL has none. */
static int check_readable(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, errno, "cannot read %s", path);
    close(fd);
    return 0;
}

/* A host that joins has no ca.crt yet: it knows the CA that we show by the fingerprint in its token. */
static int show_ca(SSL_CTX *ctx, const struct cert_paths *p, struct err *e)
{
    struct cert_pair ca = {0};
    int rc = cert_pair_read_cert(p->ca_cert, &ca, e);

    if (rc == 0 && SSL_CTX_add1_chain_cert(ctx, ca.cert) != 1)
        rc = cert_pair_ssl_err(e, ENOMEM, "cannot show the CA");
    cert_pair_fini(&ca);
    return rc;
}

/* Check that the files that this side needs can be read: a message names the one that cannot. */
static int check_files(const struct cert_paths *p, bool own, enum certs_side side, struct err *e)
{
    bool uses_peers = side != CERTS_SERVER && side != CERTS_CLIENT && exists(p->peers);

    if (side != CERTS_PEER_CLIENT && check_readable(p->ca_cert, e) < 0)
        return -1;
    if (uses_peers && check_readable(p->peers, e) < 0)
        return -1;
    return own && (check_readable(p->cert, e) < 0 || check_readable(p->key, e) < 0) ? -1 : 0;
}

/* Return the file that OpenSSL does not take; NULL: it has both. */
static const char *load_own(SSL_CTX *ctx, const struct cert_paths *p)
{
    if (SSL_CTX_use_certificate_file(ctx, p->cert, SSL_FILETYPE_PEM) != 1)
        return p->cert;
    if (SSL_CTX_use_PrivateKey_file(ctx, p->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return p->key;
    return NULL;
}

static int load_files(SSL_CTX *ctx, const struct cert_paths *p, bool own, enum certs_side side, struct err *e)
{
    const char *bad;
    char what[4200];

    if (check_files(p, own, side, e) < 0 ||
        (side != CERTS_PEER_CLIENT && revoked_attach(ctx, p->ca_cert, p->ca_crl, e) < 0))
        return -1;
    bad = load_trust(ctx, p, side);
    if (bad && side == CERTS_PEER_CLIENT && !exists(p->peers))
        return err_set(
            e, EKEYREJECTED,
            "no server of another complex is trusted here: the certificate of its CA (PBS_HOME/certs/ca.crt "
            "there) belongs into %s",
            p->peers);
    if (!bad && own)
        bad = load_own(ctx, p);
    if (bad) {
        snprintf(what, sizeof what, "cannot use %s", bad);
        return cert_pair_ssl_err(e, EKEYREJECTED, what);
    }
    return own && side == CERTS_SERVER_GUESTS ? show_ca(ctx, p, e) : 0;
}

struct ssl_ctx_st *certs_context(const char *dir, const char *role, enum certs_side side, struct err *e)
{
    SSL_CTX *ctx;
    struct cert_paths p;

    if (cert_pair_paths_set(&p, dir, role ? role : "server", e) < 0)
        return NULL;
    ctx = SSL_CTX_new(is_server(side) ? TLS_server_method() : TLS_client_method());
    if (ctx && set_rules(ctx, side)) {
        if (load_files(ctx, &p, role != NULL, side, e) == 0)
            return ctx;
    } else {
        cert_pair_ssl_err(e, ENOMEM, "cannot begin TLS");
    }
    SSL_CTX_free(ctx);
    return NULL;
}

int certs_reload(struct ssl_ctx_st *ctx, const char *dir, const char *role, struct err *e)
{
    struct cert_paths p;
    struct cert_pair own = {0};
    int rc = -1;

    if (cert_pair_paths_set(&p, dir, role, e) == 0 && cert_pair_read_cert(p.cert, &own, e) == 0 &&
        cert_pair_read_key(p.key, &own, e) == 0) {
        rc = X509_check_private_key(own.cert, own.key) == 1 && SSL_CTX_use_certificate(ctx, own.cert) == 1 &&
                     SSL_CTX_use_PrivateKey(ctx, own.key) == 1
                 ? 0
                 : cert_pair_ssl_err(e, EKEYREJECTED, p.cert);
    }
    cert_pair_fini(&own);
    return rc;
}

int certs_request(const char *dir, const char *role, void *out, size_t *n, struct err *e)
{
    struct cert_paths p;

    return cert_pair_paths_set(&p, dir, role, e) < 0 ? -1 : ca_request(p.key, role, out, n, e);
}

int certs_take(const char *dir, const char *role, const void *pem, size_t n, struct err *e)
{
    struct cert_paths p;
    struct cert_pair own = {0};
    BIO *b = BIO_new_mem_buf(pem, (int)n);
    int rc = -1;

    own.cert = b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
    BIO_free(b);
    if (!own.cert)
        cert_pair_ssl_err(e, EKEYREJECTED, "the server's answer holds no certificate");
    else if (cert_pair_paths_set(&p, dir, role, e) == 0 && cert_pair_read_key(p.key, &own, e) == 0)
        rc = X509_check_private_key(own.cert, own.key) == 1
                 ? cert_pair_write_cert(&own, p.cert, e)
                 : cert_pair_ssl_err(e, EKEYREJECTED, "the server's certificate is not for our key");
    cert_pair_fini(&own);
    return rc;
}
