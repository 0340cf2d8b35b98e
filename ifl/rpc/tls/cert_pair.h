#ifndef CERT_PAIR_H
#define CERT_PAIR_H
/* A certificate and its key in memory, their files, and how both are made. For the files of this folder only: it is
 * OpenSSL's types by name. EC P-256, SHA-256; version 3, with the extensions of RFC 5280, section 4.2. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <openssl/x509.h>

#include "err.h"

/* The authority lives ten years, a choice: every host of a complex has a copy of it. */
enum { CERT_CA_DAYS = 3653, CERT_DAY_S = 24 * 3600, CERT_FILE_MAX = 64 << 10 };
enum { CERT_SERIAL_MAX = 64 }; /* hexadecimal text with its NUL; RFC 5280 allows 20 bytes */

struct cert_pair {
    X509 *cert;
    EVP_PKEY *key;
};

struct cert_paths {
    char ca_cert[4096], ca_key[4096], ca_crl[4096], issued[4096], tokens[4096], cert[4096], key[4096],
        peers[4096];
};

/* -1: EINVAL it is not the form of a role; ENAMETOOLONG. */
int cert_pair_paths_set(struct cert_paths *p, const char *dir, const char *role, struct err *e);

void cert_pair_fini(struct cert_pair *p);

/* e = "WHAT: what OpenSSL says", and OpenSSL's queue of errors emptied. -1. */
int cert_pair_ssl_err(struct err *e, int code, const char *what);

/* One half. -1: the errno of the file, or EKEYREJECTED. */
int cert_pair_read_cert(const char *path, struct cert_pair *p, struct err *e);
int cert_pair_read_key(const char *path, struct cert_pair *p, struct err *e);
/* Key (0600) first, then certificate (0644): a certificate that is there has its key. Each is whole or not there. */
int cert_pair_write(const struct cert_pair *p, const char *key_path, const char *cert_path, struct err *e);
int cert_pair_write_cert(const struct cert_pair *p, const char *cert_path, struct err *e);
/* Heap text with a NUL; NULL: no memory. */
char *cert_pair_pem(X509 *cert, size_t *n);

int cert_pair_make_key(struct cert_pair *p, struct err *e);
/* A certificate for p's key, or for `pub` where p has none, with this common name; signed by ca, or (NULL) by itself. */
int cert_pair_sign(struct cert_pair *p, EVP_PKEY *pub, const char *cn, const struct cert_pair *ca, int days,
                   struct err *e);
/* Both halves of the authority, which belong together. */
int cert_pair_load_ca(const struct cert_paths *p, struct cert_pair *ca, struct err *e);

void cert_pair_serial_text(const X509 *cert, char out[CERT_SERIAL_MAX]);
void cert_pair_common_name(const X509 *cert, char *out, size_t n);

#endif
