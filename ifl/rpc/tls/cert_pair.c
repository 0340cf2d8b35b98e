/* Certificates and keys, made with OpenSSL 3 and written whole or not at all. See cert_pair.h.
 *
 * OpenSSL's own reason is in its queue of errors, not in errno: cert_pair_ssl_err takes the last one and empties the
 * queue, so that none shows up in a later, unrelated message. Who may have which certificate is decided in certs.c and
 * ca.c; here is only how it is made. */
#include "cert_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "file.h"

int cert_pair_ssl_err(struct err *e, int code, const char *what)
{
    unsigned long n = ERR_peek_last_error();
    char text[256] = "no reason given";

    if (n)
        ERR_error_string_n(n, text, sizeof text);
    ERR_clear_error();
    return err_set(e, code, "%s: %s", what, text);
}

void cert_pair_fini(struct cert_pair *p)
{
    X509_free(p->cert);
    EVP_PKEY_free(p->key);
    *p = (struct cert_pair){0};
}

/* --- names of files */

/* dir/ROLE.ext, where the colon of mom:NODE is a hyphen */
static int file_name(char *out, size_t n, const char *dir, const char *role, const char *ext, struct err *e)
{
    int len = snprintf(out, n, "%s/%s%s", dir, role, ext);
    char *colon;

    if (len < 0 || (size_t)len >= n)
        return err_set(e, ENAMETOOLONG, "the path of %s/%s%s is too long", dir, role, ext);
    colon = strchr(out + strlen(dir), ':');
    if (colon)
        *colon = '-';
    return 0;
}

int cert_pair_paths_set(struct cert_paths *p, const char *dir, const char *role, struct err *e)
{
    const struct {
        char *out;
        const char *name, *ext;
    } files[] = {{p->ca_cert, "ca", ".crt"}, {p->ca_key, "ca", ".key"},  {p->ca_crl, "ca", ".crl"},
                 {p->issued, "issued", ""},  {p->tokens, "tokens", ""},  {p->cert, role, ".crt"},
                 {p->key, role, ".key"},     {p->peers, "peers", ".crt"}};

    if (!auth_role_is_valid(role))
        return err_set(e, EINVAL, "\"%s\" is not a role: server, sched or mom:NODE", role);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (file_name(files[i].out, sizeof p->cert, dir, files[i].name, files[i].ext, e) < 0)
            return -1;
    return 0;
}

/* --- PEM files */

static BIO *pem_of(const struct cert_pair *p, bool key)
{
    BIO *b = BIO_new(BIO_s_mem());

    if (b && (key ? PEM_write_bio_PKCS8PrivateKey(b, p->key, NULL, NULL, 0, NULL, NULL)
                  : PEM_write_bio_X509(b, p->cert)) == 1)
        return b;
    BIO_free(b);
    return NULL;
}

char *cert_pair_pem(X509 *cert, size_t *n)
{
    const struct cert_pair p = {.cert = cert};
    BIO *b = pem_of(&p, false);
    char *bytes, *text = NULL;
    long len = b ? BIO_get_mem_data(b, &bytes) : 0;

    if (len > 0)
        text = strndup(bytes, (size_t)len);
    *n = text ? (size_t)len : 0;
    BIO_free(b);
    ERR_clear_error();
    return text;
}

static int write_pem(const char *path, mode_t mode, const struct cert_pair *p, bool key, struct err *e)
{
    BIO *b = pem_of(p, key);
    char *bytes;
    long n;
    int rc;

    if (!b)
        return cert_pair_ssl_err(e, EIO, "cannot write a certificate");
    n = BIO_get_mem_data(b, &bytes);
    rc = file_write_atomic(AT_FDCWD, path, bytes, (size_t)n, mode, e);
    if (key)
        OPENSSL_cleanse(bytes, (size_t)n);
    BIO_free(b);
    return rc;
}

static int read_pem(const char *path, struct cert_pair *p, bool key, struct err *e)
{
    char *bytes = NULL;
    size_t n;
    BIO *b;
    int rc = 0;

    if (file_read(AT_FDCWD, path, CERT_FILE_MAX, &bytes, &n, e) < 0)
        return -1;
    b = BIO_new_mem_buf(bytes, (int)n);
    if (b && key)
        p->key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
    else if (b)
        p->cert = PEM_read_bio_X509(b, NULL, NULL, NULL);
    if (key ? !p->key : !p->cert) {
        cert_pair_ssl_err(e, EKEYREJECTED, "not readable as PEM");
        rc = err_prefix(e, "%s", path);
    }
    BIO_free(b);
    OPENSSL_cleanse(bytes, n);
    free(bytes);
    return rc;
}

int cert_pair_read_cert(const char *path, struct cert_pair *p, struct err *e)
{
    return read_pem(path, p, false, e);
}

int cert_pair_read_key(const char *path, struct cert_pair *p, struct err *e)
{
    return read_pem(path, p, true, e);
}

int cert_pair_write_cert(const struct cert_pair *p, const char *cert_path, struct err *e)
{
    return write_pem(cert_path, 0644, p, false, e);
}

int cert_pair_write(const struct cert_pair *p, const char *key_path, const char *cert_path, struct err *e)
{
    return write_pem(key_path, 0600, p, true, e) < 0 ? -1 : cert_pair_write_cert(p, cert_path, e);
}

int cert_pair_load_ca(const struct cert_paths *p, struct cert_pair *ca, struct err *e)
{
    if (cert_pair_read_cert(p->ca_cert, ca, e) < 0 || cert_pair_read_key(p->ca_key, ca, e) < 0)
        return -1;
    if (X509_check_private_key(ca->cert, ca->key) == 1)
        return 0;
    ERR_clear_error();
    return err_set(e, EKEYREJECTED, "%s does not belong to %s", p->ca_key, p->ca_cert);
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
static int fill_cert(X509 *cert, EVP_PKEY *key, const char *cn, int days)
{
    return X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -CERT_DAY_S) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, NULL) && X509_set_pubkey(cert, key) &&
           X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)cn, -1, -1, 0);
}

int cert_pair_make_key(struct cert_pair *p, struct err *e)
{
    p->key = EVP_EC_gen("P-256");
    return p->key ? 0 : cert_pair_ssl_err(e, ENOMEM, "cannot make a key");
}

int cert_pair_sign(struct cert_pair *p, EVP_PKEY *pub, const char *cn, const struct cert_pair *ca, int days,
                   struct err *e)
{
    X509 *issuer;

    X509_free(p->cert);
    p->cert = X509_new();
    if (!p->cert)
        return cert_pair_ssl_err(e, ENOMEM, "cannot make a certificate");
    issuer = ca ? ca->cert : p->cert;
    if (fill_cert(p->cert, p->key ? p->key : pub, cn, days) &&
        X509_set_issuer_name(p->cert, X509_get_subject_name(issuer)) && add_extensions(p->cert, issuer) &&
        X509_sign(p->cert, ca ? ca->key : p->key, EVP_sha256()))
        return 0;
    return cert_pair_ssl_err(e, EIO, "cannot make a certificate");
}

/* --- asking */

void cert_pair_serial_text(const X509 *cert, char out[CERT_SERIAL_MAX])
{
    BIGNUM *n = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
    char *hex = n ? BN_bn2hex(n) : NULL;

    snprintf(out, CERT_SERIAL_MAX, "%s", hex ? hex : "");
    OPENSSL_free(hex);
    BN_free(n);
}

void cert_pair_common_name(const X509 *cert, char *out, size_t n)
{
    if (X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, out, (int)n) < 0)
        out[0] = '\0';
}
