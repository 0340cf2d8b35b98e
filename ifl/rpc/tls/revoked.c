/* Certificates that a context does not take. See revoked.h.
 *
 * The list hangs on the SSL_CTX and goes with it. It is looked at with one stat a handshake, and read again when the file
 * is another one: so a revocation needs no restart, and counts from the next handshake on. */
#include "revoked.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ca.h"
#include "cert_pair.h"
#include "file.h"

struct revoked {
    char *ca_path, *path;
    struct stat seen; /* st_ino 0: there is no file */
    X509_CRL *crl;    /* NULL: nothing is revoked */
    unsigned n_read;
    struct err error; /* of the last file that was read; code 0: none, or it has been asked for */
};

static void revoked_free(struct revoked *r)
{
    if (!r)
        return;
    X509_CRL_free(r->crl);
    free(r->ca_path);
    free(r->path);
    free(r);
}

static void revoked_free_data(void *parent, void *r, CRYPTO_EX_DATA *ad, int index, long argl, void *argp)
{
    revoked_free(r);
}

/* Made once for the process; OpenSSL hands out an index and keeps it. */
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int data_index = -1;

static void revoked_make_index(void)
{
    data_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, revoked_free_data);
}

static X509_CRL *revoked_parse(const char *bytes, size_t n)
{
    BIO *b = BIO_new_mem_buf(bytes, (int)n);
    X509_CRL *crl = b ? PEM_read_bio_X509_CRL(b, NULL, NULL, NULL) : NULL;

    BIO_free(b);
    return crl;
}

static bool is_signed(const struct revoked *r, X509_CRL *crl)
{
    struct cert_pair ca = {0};
    bool ok = cert_pair_read_cert(r->ca_path, &ca, NULL) == 0 &&
              X509_CRL_verify(crl, X509_get0_pubkey(ca.cert)) == 1;

    cert_pair_fini(&ca);
    ERR_clear_error();
    return ok;
}

static int revoked_load(struct revoked *r, struct err *e)
{
    char *bytes = NULL;
    size_t n;
    X509_CRL *crl;

    if (file_read(AT_FDCWD, r->path, CA_CRL_MAX, &bytes, &n, e) < 0)
        return -1;
    crl = revoked_parse(bytes, n);
    free(bytes);
    ERR_clear_error();
    if (!crl || !is_signed(r, crl)) {
        X509_CRL_free(crl);
        return err_set(e, EKEYREJECTED, "%s is not a list of revoked certificates that %s has signed",
                       r->path, r->ca_path);
    }
    X509_CRL_free(r->crl);
    r->crl = crl;
    r->n_read++;
    return 0;
}

static bool has_changed(struct revoked *r)
{
    struct stat st;
    bool changed;

    if (stat(r->path, &st) < 0)
        memset(&st, 0, sizeof st);
    changed = st.st_ino != r->seen.st_ino || st.st_size != r->seen.st_size ||
              st.st_mtim.tv_sec != r->seen.st_mtim.tv_sec || st.st_mtim.tv_nsec != r->seen.st_mtim.tv_nsec;
    r->seen = st;
    return changed;
}

unsigned revoked_look(struct revoked *r)
{
    if (!r)
        return 0;
    if (has_changed(r)) {
        err_clear(&r->error);
        if (r->seen.st_ino)
            (void)revoked_load(r, &r->error); /* the earlier list stays in force */
    }
    return r->n_read;
}

bool revoked_fault(struct revoked *r, struct err *e)
{
    if (!r || !r->error.code)
        return false;
    *e = r->error;
    err_clear(&r->error);
    return true;
}

int revoked_attach(SSL_CTX *ctx, const char *ca_path, const char *crl_path, struct err *e)
{
    struct revoked *r = calloc(1, sizeof *r);

    CRYPTO_THREAD_run_once(&once, revoked_make_index);
    if (r) {
        r->ca_path = strdup(ca_path);
        r->path = strdup(crl_path);
    }
    if (!r || !r->ca_path || !r->path) {
        revoked_free(r);
        return err_no_memory(e);
    }
    if ((has_changed(r) && r->seen.st_ino && revoked_load(r, e) < 0) ||
        SSL_CTX_set_ex_data(ctx, data_index, r) != 1) {
        revoked_free(r);
        return -1;
    }
    return 0;
}

struct revoked *revoked_of(const SSL_CTX *ctx)
{
    return data_index < 0 ? NULL : SSL_CTX_get_ex_data(ctx, data_index);
}

bool revoked_has_cert(struct revoked *r, X509 *cert)
{
    X509_REVOKED *entry = NULL;

    if (!r)
        return false;
    revoked_look(r);
    return r->crl && X509_CRL_get0_by_cert(r->crl, &entry, cert) == 1;
}

bool revoked_has(const struct revoked *r, const char *serial)
{
    BIGNUM *n = NULL;
    ASN1_INTEGER *number;
    X509_REVOKED *entry = NULL;
    bool has;

    if (!r || !r->crl || !*serial || !BN_hex2bn(&n, serial))
        return false;
    number = BN_to_ASN1_INTEGER(n, NULL);
    has = number && X509_CRL_get0_by_serial(r->crl, &entry, number) == 1;
    ASN1_INTEGER_free(number);
    BN_free(n);
    return has;
}
