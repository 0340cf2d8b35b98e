/* Issuing, listing and taking back. See ca.h.
 *
 * A certificate is written to the list before it is handed out: one that is not listed could not be revoked. */
#include "ca.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cert_pair.h"
#include "file.h"

/* ISSUED_MAX: lines of 64 bytes, so a million certificates; 10,000 hosts need 15,000 a year (CA_SIGNED_DAYS). LINE_MAX_LEN:
 * serial, two times and the longest role, with room. */
enum { ISSUED_MAX = 64 << 20, LINE_MAX_LEN = 512 };

/* --- what was issued */

static int64_t seconds_of(const ASN1_TIME *t)
{
    struct tm tm = {0};

    return t && ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static void ca_entry_of(const X509 *cert, struct ca_entry *x)
{
    *x = (struct ca_entry){.from_s = seconds_of(X509_get0_notBefore(cert)),
                           .to_s = seconds_of(X509_get0_notAfter(cert))};
    cert_pair_serial_text(cert, x->serial);
    cert_pair_common_name(cert, x->role, sizeof x->role);
}

static int write_down(const struct cert_paths *p, const X509 *cert, struct err *e)
{
    struct ca_entry x;
    char line[LINE_MAX_LEN];
    int n;

    ca_entry_of(cert, &x);
    n = snprintf(line, sizeof line, "%s %lld %lld %s\n", x.serial, (long long)x.from_s, (long long)x.to_s,
                 x.role);
    return file_append(AT_FDCWD, p->issued, line, (size_t)n, 0644, e);
}

/* --- making */

static int copy_ca(const struct cert_paths *from, const char *out, struct err *e)
{
    struct cert_pair ca = {0};
    char path[4200];
    int rc = cert_pair_read_cert(from->ca_cert, &ca, e);

    snprintf(path, sizeof path, "%s/ca.crt", out);
    if (rc == 0)
        rc = cert_pair_write_cert(&ca, path, e);
    cert_pair_fini(&ca);
    return rc;
}

int ca_issue(const char *dir, const char *role, int days, enum ca_key key, const char *out, struct err *e)
{
    struct cert_pair ca = {0}, own = {0};
    struct cert_paths p, to;
    int rc = -1;

    if (cert_pair_paths_set(&p, dir, role, e) < 0 || cert_pair_paths_set(&to, out, role, e) < 0)
        return -1;
    if (cert_pair_load_ca(&p, &ca, e) == 0 &&
        (key == CA_RENEW && access(to.key, F_OK) == 0 ? cert_pair_read_key(to.key, &own, e)
                                                      : cert_pair_make_key(&own, e)) == 0 &&
        cert_pair_sign(&own, NULL, role, &ca, days, e) == 0 && write_down(&p, own.cert, e) == 0)
        rc = cert_pair_write(&own, to.key, to.cert, e);
    if (rc == 0 && strcmp(dir, out) != 0)
        rc = copy_ca(&p, out, e);
    cert_pair_fini(&ca);
    cert_pair_fini(&own);
    return rc;
}

int ca_sign(const char *dir, const void *request, size_t n, const char *role, int days, char **pem,
            size_t *n_pem, struct err *e)
{
    const unsigned char *at = request;
    struct cert_pair ca = {0}, own = {0};
    struct cert_paths p;
    X509_REQ *r;
    EVP_PKEY *key;
    int rc = -1;

    if (cert_pair_paths_set(&p, dir, role, e) < 0)
        return -1;
    r = d2i_X509_REQ(NULL, &at, (long)n);
    key = r ? X509_REQ_get0_pubkey(r) : NULL;
    if (!key || X509_REQ_verify(r, key) != 1 || !EVP_PKEY_is_a(key, "EC") || EVP_PKEY_get_bits(key) != 256)
        err_set(e, EINVAL, "it is not a certificate request for an EC key of 256 bits, signed by that key");
    else if (cert_pair_load_ca(&p, &ca, e) == 0 && cert_pair_sign(&own, key, role, &ca, days, e) == 0 &&
             write_down(&p, own.cert, e) == 0)
        rc = (*pem = cert_pair_pem(own.cert, n_pem)) ? 0 : err_no_memory(e);
    ERR_clear_error();
    X509_REQ_free(r);
    cert_pair_fini(&ca);
    cert_pair_fini(&own);
    return rc;
}

int ca_request(const char *key_path, const char *role, void *out, size_t *n, struct err *e)
{
    struct cert_pair own = {0};
    X509_REQ *r = X509_REQ_new();
    unsigned char *at = out;
    int len = -1, rc = -1;

    if (r && cert_pair_read_key(key_path, &own, e) < 0)
        goto out;
    if (r && X509_REQ_set_version(r, X509_REQ_VERSION_1) && X509_REQ_set_pubkey(r, own.key) &&
        X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(r), "CN", MBSTRING_UTF8,
                                   (const unsigned char *)role, -1, -1, 0) &&
        X509_REQ_sign(r, own.key, EVP_sha256()))
        len = i2d_X509_REQ(r, NULL);
    if (len <= 0 || (size_t)len > *n || i2d_X509_REQ(r, &at) != len) {
        cert_pair_ssl_err(e, EIO, "cannot make a certificate request");
        goto out;
    }
    *n = (size_t)len;
    rc = 0;
out:
    X509_REQ_free(r);
    cert_pair_fini(&own);
    return rc;
}

/* --- listing */

/* Read the list of revoked certificates. Without a file, return an empty list. If the file cannot be read, return NULL: a
 * list written in its place would no longer revoke them. */
static X509_CRL *crl_read(const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    X509_CRL *crl = NULL;

    if (!f && errno != ENOENT) {
        err_errno(e, errno, "cannot read %s", path);
        return NULL;
    }
    crl = f ? PEM_read_X509_CRL(f, NULL, NULL, NULL) : X509_CRL_new();
    if (!crl)
        err_set(e, EKEYREJECTED,
                "%s is not a list of revoked certificates: restore it from a copy of the server's, "
                "or revoke all that it held again after its removal",
                path);
    if (f)
        fclose(f);
    ERR_clear_error();
    return crl;
}

static ASN1_INTEGER *ca_number_of(const char *serial)
{
    BIGNUM *n = NULL;
    ASN1_INTEGER *number =
        *serial && BN_hex2bn(&n, serial) == (int)strlen(serial) ? BN_to_ASN1_INTEGER(n, NULL) : NULL;

    BN_free(n);
    return number;
}

static bool is_revoked(X509_CRL *crl, const char *serial)
{
    ASN1_INTEGER *number = crl ? ca_number_of(serial) : NULL;
    X509_REVOKED *entry = NULL;
    bool is = number && X509_CRL_get0_by_serial(crl, &entry, number) == 1;

    ASN1_INTEGER_free(number);
    return is;
}

struct listing {
    void (*fn)(void *arg, const struct ca_entry *x);
    void *arg;
    X509_CRL *crl;
    char *text; /* of `issued` */
    int64_t now_s;
};

static void tell_entry(struct listing *l, struct ca_entry *x)
{
    if (x->to_s < l->now_s)
        return;
    x->revoked = is_revoked(l->crl, x->serial);
    l->fn(l->arg, x);
}

static void tell_lines(struct listing *l)
{
    for (char *line = l->text; line && *line; line = strchr(line, '\n') + 1) {
        struct ca_entry x = {0};
        long long from, to;

        if (sscanf(line, "%63[0-9A-Fa-f] %lld %lld %255s", x.serial, &from, &to, x.role) == 4) {
            x.from_s = from;
            x.to_s = to;
            tell_entry(l, &x);
        }
        if (!strchr(line, '\n'))
            return;
    }
}

/* List the certificates of this host's daemons that were made before the list existed. */
static void tell_file(struct listing *l, const char *dir, const char *name)
{
    size_t n = strlen(name);
    struct cert_pair p = {0};
    struct ca_entry x;
    char path[4352];

    if (n < 5 || strcmp(name + n - 4, ".crt") != 0 || !strcmp(name, "ca.crt") || !strcmp(name, "peers.crt"))
        return;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (cert_pair_read_cert(path, &p, NULL) == 0) {
        ca_entry_of(p.cert, &x);
        if (!l->text || !strstr(l->text, x.serial))
            tell_entry(l, &x);
    }
    cert_pair_fini(&p);
}

int ca_list(const char *dir, void (*fn)(void *arg, const struct ca_entry *x), void *arg, struct err *e)
{
    struct listing l = {.fn = fn, .arg = arg, .now_s = (int64_t)time(NULL)};
    struct cert_paths p;
    DIR *d = opendir(dir);
    const struct dirent *f;
    int rc;

    if (!d)
        return err_errno(e, errno, "cannot read %s", dir);
    if (cert_pair_paths_set(&p, dir, "server", e) < 0) {
        closedir(d);
        return -1;
    }
    if (access(p.issued, F_OK) == 0 && file_read(AT_FDCWD, p.issued, ISSUED_MAX, &l.text, NULL, e) < 0) {
        closedir(d);
        return -1;
    }
    l.crl = crl_read(p.ca_crl, e);
    while (l.crl && (f = readdir(d)))
        tell_file(&l, dir, f->d_name);
    if (l.crl)
        tell_lines(&l);
    rc = l.crl ? 0 : -1;
    closedir(d);
    X509_CRL_free(l.crl);
    free(l.text);
    return rc;
}

/* --- taking back */

struct taking {
    X509_CRL *crl;
    const char *what;
    size_t n;
    bool failed;
};

static void ca_take_back(void *arg, const struct ca_entry *x)
{
    struct taking *t = arg;
    X509_REVOKED *entry;
    ASN1_INTEGER *number;
    ASN1_TIME *now;

    if (x->revoked || (strcmp(x->role, t->what) != 0 && strcasecmp(x->serial, t->what) != 0))
        return;
    entry = X509_REVOKED_new();
    number = ca_number_of(x->serial);
    now = X509_gmtime_adj(NULL, 0);
    if (entry && number && now && X509_REVOKED_set_serialNumber(entry, number) &&
        X509_REVOKED_set_revocationDate(entry, now) && X509_CRL_add0_revoked(t->crl, entry))
        t->n++;
    else {
        X509_REVOKED_free(entry);
        t->failed = true;
    }
    ASN1_INTEGER_free(number);
    ASN1_TIME_free(now);
}

static int write_crl(const struct cert_paths *p, X509_CRL *crl, struct err *e)
{
    BIO *b = BIO_new(BIO_s_mem());
    char *bytes;
    long n = b && PEM_write_bio_X509_CRL(b, crl) == 1 ? BIO_get_mem_data(b, &bytes) : 0;
    int rc;

    if (n > CA_CRL_MAX)
        rc = err_set(
            e, E2BIG,
            "nothing is revoked: %s would have %ld bytes, and %d is what hosts take; the certificates "
            "run out by themselves, or make another CA (remove ca.crt, ca.key and ca.crl) and let all "
            "hosts join it",
            p->ca_crl, n, CA_CRL_MAX);
    else if (n > 0)
        rc = file_write_atomic(AT_FDCWD, p->ca_crl, bytes, (size_t)n, 0644, e);
    else
        rc = cert_pair_ssl_err(e, EIO, "cannot write the list of revoked certificates");
    BIO_free(b);
    return rc;
}

/* The list holds until the next one: a host that is cut off for long does not forget it. */
static int sign_crl(X509_CRL *crl, const struct cert_pair *ca, struct err *e)
{
    ASN1_TIME *now = X509_gmtime_adj(NULL, 0);
    int ok = now && X509_CRL_set_version(crl, X509_CRL_VERSION_2) &&
             X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca->cert)) &&
             X509_CRL_set1_lastUpdate(crl, now) &&
             X509_CRL_set1_nextUpdate(crl, X509_get0_notAfter(ca->cert)) && X509_CRL_sort(crl) &&
             X509_CRL_sign(crl, ca->key, EVP_sha256());

    ASN1_TIME_free(now);
    return ok ? 0 : cert_pair_ssl_err(e, EIO, "cannot sign the list of revoked certificates");
}

int ca_revoke(const char *dir, const char *what, size_t *n, struct err *e)
{
    struct taking t = {.what = what};
    struct cert_pair ca = {0};
    struct cert_paths p;
    int rc = -1;

    if (cert_pair_paths_set(&p, dir, "server", e) < 0 || cert_pair_load_ca(&p, &ca, e) < 0) {
        cert_pair_fini(&ca);
        return -1;
    }
    t.crl = crl_read(p.ca_crl, e);
    if (!t.crl || ca_list(dir, ca_take_back, &t, e) < 0)
        rc = -1; /* e says why */
    else if (t.failed)
        err_set(e, ENOMEM, "cannot make the list of revoked certificates");
    else if (t.n == 0)
        err_set(e, ENOENT,
                "no certificate of the name or serial %s is valid: \"pbs_keys list\" says which are", what);
    else if (sign_crl(t.crl, &ca, e) == 0)
        rc = write_crl(&p, t.crl, e);
    *n = t.n;
    X509_CRL_free(t.crl);
    cert_pair_fini(&ca);
    return rc;
}

int ca_check_serial(const char *dir, const char *serial, struct err *e)
{
    struct cert_paths p;
    X509_CRL *crl;
    bool revoked;

    if (cert_pair_paths_set(&p, dir, "server", e) < 0 || !(crl = crl_read(p.ca_crl, e)))
        return -1;
    revoked = is_revoked(crl, serial);
    X509_CRL_free(crl);
    return revoked ? err_set(e, EACCES, "the certificate of serial %s has been revoked", serial) : 0;
}

int ca_fingerprint(const char *dir, char out[CA_FINGERPRINT + 1], struct err *e)
{
    struct cert_pair ca = {0};
    struct cert_paths p;
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int rc = -1;

    if (cert_pair_paths_set(&p, dir, "server", e) == 0 && cert_pair_read_cert(p.ca_cert, &ca, e) == 0)
        rc = X509_digest(ca.cert, EVP_sha256(), sum, &n) == 1 ? 0 : cert_pair_ssl_err(e, EIO, p.ca_cert);
    for (unsigned i = 0; rc == 0 && i < n && i < CA_FINGERPRINT / 2; i++)
        snprintf(out + 2 * (size_t)i, 3, "%02x", sum[i]);
    cert_pair_fini(&ca);
    return rc;
}
