#ifndef FUZZ_H
#define FUZZ_H
/* Decoders and parsers under random input. An entry says how to hand bytes to one of them, and gives good inputs to
 * begin with; the driver (fuzz_main.c) changes and joins these and calls the entry again and again.
 *
 * An entry asserts what must hold for any input, such as that what was read and written is read the same again. That
 * nothing is read or written out of bounds, and nothing leaks, is found by the sanitizers (make asan).
 */
#include <stddef.h>

struct fuzz_seed {
    const char *bytes;
    size_t n;
};

struct fuzz {
    const char *name;
    /* `bytes` has a NUL behind its n bytes, which are not changed by the call. */
    void (*take)(const char *bytes, size_t n);
    const struct fuzz_seed *seeds;
    size_t n_seeds;
    void (*make_seeds)(void (*add)(const char *bytes,
                                   size_t n)); /* or NULL: more, made when the program begins */
};

#define FUZZ_SEED(text)                                                                                      \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }
#define FUZZ_SEEDS(list) .seeds = list, .n_seeds = sizeof list / sizeof list[0]

extern const struct fuzz fuzz_base[], fuzz_spec[], fuzz_def[], fuzz_wire[],
    fuzz_files[]; /* a NULL name ends */

#endif
