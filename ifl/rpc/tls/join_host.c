/* The joining host's half of a join: begin, then finish, with one answer of the server between them. See join_host.h.
 *
 * Nothing is written before finish has checked everything: the CA has the fingerprint of the token, the certificate is
 * signed by that CA, has our key and our role. The lock of the directory is held while the files are written, as other
 * daemons of this host may be making theirs (certs.c). A host that is killed between two of them joins again with a new
 * token: ca.crt is then the same, and the pair is replaced. How the server is asked: ifl/join/join_ask.c. */
#include "join_host.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ca.h"
#include "cert_pair.h"
#include "certs.h"

struct join_host {
    struct cert_paths paths;
    struct cert_pair own;
    char dir[4096], role[CA_ROLE_MAX + 8], print[CA_FINGERPRINT + 1];
};

/* Check that ca.crt of this directory, if there is one, has this fingerprint. */
static int check_dir(const char *dir, const char *print, struct err *e)
{
    char here[CA_FINGERPRINT + 1], path[4352];

    snprintf(path, sizeof path, "%s/ca.crt", dir);
    if (access(path, F_OK) < 0)
        return 0;
    if (ca_fingerprint(dir, here, e) < 0)
        return -1;
    if (strcasecmp(here, print) == 0)
        return 0;
    return err_set(e, EEXIST,
                   "this host belongs to another complex: %s is not the CA that was named; remove it first",
                   path);
}

/* NULL where it is not one; the caller frees it. */
static X509 *join_host_parse(const char *pem, size_t n)
{
    BIO *b = BIO_new_mem_buf(pem, (int)n);
    X509 *x = b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;

    BIO_free(b);
    ERR_clear_error();
    return x;
}

static int make_request(struct join_host *j, unsigned char *out, size_t *n, struct err *e)
{
    X509_REQ *r = X509_REQ_new();
    unsigned char *at = out;
    int len = -1;

    if (r && cert_pair_make_key(&j->own, e) == 0 && X509_REQ_set_version(r, X509_REQ_VERSION_1) &&
        X509_REQ_set_pubkey(r, j->own.key) && X509_REQ_sign(r, j->own.key, EVP_sha256()))
        len = i2d_X509_REQ(r, NULL);
    if (len <= 0 || (size_t)len > *n || i2d_X509_REQ(r, &at) != len) {
        X509_REQ_free(r);
        return cert_pair_ssl_err(e, EIO, "cannot make a certificate request");
    }
    *n = (size_t)len;
    X509_REQ_free(r);
    return 0;
}

struct join_host *join_host_begin(const char *dir, const char *host, const char *print, void *out, size_t *n,
                                  struct err *e)
{
    struct join_host *j = calloc(1, sizeof *j);

    if (!j) {
        err_no_memory(e);
        return NULL;
    }
    snprintf(j->dir, sizeof j->dir, "%s", dir);
    snprintf(j->role, sizeof j->role, "mom:%.255s", host);
    snprintf(j->print, sizeof j->print, "%.64s", print);
    if (cert_pair_paths_set(&j->paths, dir, j->role, e) == 0 && check_dir(dir, print, e) == 0 &&
        make_request(j, out, n, e) == 0)
        return j;
    join_host_destroy(j);
    return NULL;
}

static bool has_fingerprint(const X509 *ca, const char *print)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char text[CA_FINGERPRINT + 1] = "";

    if (X509_digest(ca, EVP_sha256(), sum, &n) != 1)
        return false;
    for (unsigned i = 0; i < n && i < CA_FINGERPRINT / 2; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", sum[i]);
    return strcasecmp(text, print) == 0;
}

static int join_host_write_all(const struct join_host *j, X509 *ca, struct err *e)
{
    const struct cert_pair authority = {.cert = ca};
    int lock = certs_lock(j->dir, e), rc;

    if (lock < 0)
        return -1;
    rc = cert_pair_write_cert(&authority, j->paths.ca_cert, e);
    if (rc == 0)
        rc = cert_pair_write(&j->own, j->paths.key, j->paths.cert, e);
    close(lock);
    return rc;
}

int join_host_finish(struct join_host *j, const char *certificate, size_t n_certificate,
                     const char *authority, size_t n_authority, struct err *e)
{
    X509 *ca = join_host_parse(authority, n_authority);
    char name[CA_ROLE_MAX + 8] = "";
    int rc;

    j->own.cert = join_host_parse(certificate, n_certificate);
    if (j->own.cert)
        cert_pair_common_name(j->own.cert, name, sizeof name);
    if (!ca || !has_fingerprint(ca, j->print) || !j->own.cert ||
        X509_verify(j->own.cert, X509_get0_pubkey(ca)) != 1 ||
        X509_check_private_key(j->own.cert, j->own.key) != 1 || strcmp(name, j->role) != 0) {
        ERR_clear_error();
        rc = err_set(e, EKEYREJECTED, "what the server has sent is not a certificate of %s by its CA",
                     j->role);
    } else {
        rc = join_host_write_all(j, ca, e);
    }
    X509_free(ca);
    return rc;
}

int join_host_trust(const char *dir, const char *print, const char *authority, size_t n, struct err *e)
{
    struct cert_pair pair = {.cert = join_host_parse(authority, n)};
    char path[4352];
    int lock, rc = -1;

    if (!pair.cert || !has_fingerprint(pair.cert, print)) {
        X509_free(pair.cert);
        return err_set(e, EKEYREJECTED, "what the server has sent is not the CA that was named");
    }
    snprintf(path, sizeof path, "%s/ca.crt", dir);
    lock = certs_lock(dir, e);
    if (lock >= 0 && check_dir(dir, print, e) == 0)
        rc = cert_pair_write_cert(&pair, path, e);
    if (lock >= 0)
        close(lock);
    X509_free(pair.cert);
    return rc;
}

void join_host_destroy(struct join_host *j)
{
    if (!j)
        return;
    cert_pair_fini(&j->own);
    free(j);
}
