#ifndef IMAGE_SEAL_H
#define IMAGE_SEAL_H
/* What is in an image, as one SHA-256: of a manifest that has a line for each file, directory and link, in the order of
 * their names, with type, size and the SHA-256 of the content. Owners, modes and times do not count: a copy has the same seal.
 */
#include <stdint.h>

#include "err.h"

enum { IMAGE_SEAL_LEN = 64 }; /* hexadecimal digits */

struct image_seal {
    char hex[IMAGE_SEAL_LEN + 1];
    uint64_t bytes; /* of all regular files */
    uint64_t files; /* regular files that are not empty */
};

/* Of the directory or the file `image`, read to its end. Links are not followed, other file systems not entered. -1: something
 * could not be read, or is neither file, directory nor link. */
int image_seal_make(const char *image, struct image_seal *out, struct err *e);

#endif
