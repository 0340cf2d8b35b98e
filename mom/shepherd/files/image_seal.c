/* The seal of an image, from a walk through it in the order of names. See image_seal.h.
 *
 * Names in the manifest are relative to the image, so it may be renamed or unpacked on another host. A device, a socket or a pipe has
 * no contents to seal, and an image that has one is invalid. A file that is replaced by something else during the walk is
 * refused too; one that changes meanwhile gets a seal that does not hold later. */

/* SHA256_Init, _Update and _Final alone: linked statically they cost 26 kB, where SHA256() and EVP would bring 4 MB of libcrypto
 * into each shepherd. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "image_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/sha.h>

enum { PIECE = 1 << 18, LINK_MAX_BYTES = 4096, LINE_MAX_BYTES = 128 };

static void to_hex(const unsigned char *digest, char out[static IMAGE_SEAL_LEN + 1])
{
    for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static int hash_fd(int fd, const char *path, struct image_seal *out, struct err *e)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char *piece = malloc(PIECE);
    SHA256_CTX c;
    ssize_t n = -1;

    if (!piece)
        return err_set(e, ENOMEM, "no memory to read %s", path);
    SHA256_Init(&c);
    while ((n = read(fd, piece, PIECE)) > 0) {
        SHA256_Update(&c, piece, (size_t)n);
        out->bytes += (uint64_t)n;
    }
    if (n < 0)
        err_errno(e, errno, "cannot read %s", path);
    SHA256_Final(digest, &c);
    to_hex(digest, out->hex);
    free(piece);
    return n < 0 ? -1 : 0;
}

/* The content of one regular file. A name that has become something else meanwhile is refused. */
static int hash_file(const char *path, struct image_seal *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc;
    struct stat st;

    if (fd < 0)
        return err_errno(e, errno, "cannot read %s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        rc = err_set(e, EINVAL, "%s is not a regular file", path);
    else
        rc = hash_fd(fd, path, out, e);
    close(fd);
    return rc;
}

static int hash_link(const char *path, struct image_seal *out, struct err *e)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char to[LINK_MAX_BYTES];
    ssize_t n = readlink(path, to, sizeof to);
    SHA256_CTX c;

    if (n < 0)
        return err_errno(e, errno, "cannot read link %s", path);
    SHA256_Init(&c);
    SHA256_Update(&c, to, (size_t)n);
    SHA256_Final(digest, &c);
    to_hex(digest, out->hex);
    return 0;
}

/* One entry into the manifest: "TYPE SIZE SHA-256 NAME" and a NUL, which no name holds. */
static int add_entry(SHA256_CTX *manifest, const FTSENT *x, size_t top_len, struct image_seal *sum,
                     struct err *e)
{
    struct image_seal one = {.hex = ""};
    char line[LINE_MAX_BYTES], type = x->fts_info == FTS_D ? 'd' : x->fts_info == FTS_F ? 'f' : 'l';

    if (type == 'f' && hash_file(x->fts_path, &one, e) < 0)
        return -1;
    if (type == 'l' && hash_link(x->fts_path, &one, e) < 0)
        return -1;
    snprintf(line, sizeof line, "%c %llu %s ", type, (unsigned long long)one.bytes, one.hex);
    SHA256_Update(manifest, line, strlen(line));
    SHA256_Update(manifest, x->fts_path + top_len, strlen(x->fts_path + top_len) + 1);
    sum->bytes += one.bytes;
    sum->files += one.bytes > 0;
    return 0;
}

static int take_entry(SHA256_CTX *manifest, const FTSENT *x, size_t top_len, struct image_seal *sum,
                      struct err *e)
{
    switch (x->fts_info) {
    case FTS_D:
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
        return add_entry(manifest, x, top_len, sum, e);
    case FTS_DP:
        return 0;
    case FTS_DEFAULT:
        return err_set(e, EINVAL, "%s is neither file, directory nor link", x->fts_path);
    default:
        return err_errno(e, x->fts_errno ? x->fts_errno : EIO, "cannot read %s", x->fts_path);
    }
}

static int image_seal_by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int image_seal_make(const char *image, struct image_seal *out, struct err *e)
{
    char *const tops[] = {(char *)image, NULL};
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct image_seal sum = {.hex = ""};
    size_t top_len = strlen(image);
    FTS *f = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, image_seal_by_name);
    const FTSENT *x;
    SHA256_CTX manifest;
    int rc = 0;

    if (!f)
        return err_errno(e, errno, "cannot read %s", image);
    SHA256_Init(&manifest);
    while (rc == 0 && (errno = 0, x = fts_read(f)))
        rc = take_entry(&manifest, x, top_len, &sum, e);
    if (rc == 0 && errno)
        rc = err_errno(e, errno, "cannot read %s", image);
    fts_close(f);
    SHA256_Final(digest, &manifest);
    to_hex(digest, sum.hex);
    if (rc == 0)
        *out = sum;
    return rc;
}
