/* fuzz_libfuzzer, built by `make fuzz-libfuzzer`: one entry of the table under libFuzzer, which is led by what of the code an input
 * reaches. CEDE_FUZZ names the entry; libFuzzer's own options and folders of inputs are on the command line.
 *
 * CEDE_FUZZ_SEEDS=DIR writes the entry's good inputs there, as files to begin with, and ends; CEDE_FUZZ=list names the entries. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static const struct fuzz *const tables[] = {fuzz_base, fuzz_spec, fuzz_def, fuzz_wire, fuzz_files};

static const struct fuzz *entry;
static unsigned n_seeds;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void fail(const char *what)
{
    fprintf(stderr, "fuzz_libfuzzer: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void write_seed(const char *bytes, size_t n)
{
    char path[PATH_MAX];
    FILE *f;

    snprintf(path, sizeof path, "%s/seed%u", getenv("CEDE_FUZZ_SEEDS"), n_seeds++);
    f = fopen(path, "we");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        fail(path);
}

static void write_seeds(void)
{
    for (size_t i = 0; i < entry->n_seeds; i++)
        write_seed(entry->seeds[i].bytes, entry->seeds[i].n);
    if (entry->make_seeds)
        entry->make_seeds(write_seed);
    exit(0);
}

static void list_entries(void)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct fuzz *f = tables[t]; f->name; f++)
            puts(f->name);
    exit(0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("CEDE_FUZZ");

    if (name && strcmp(name, "list") == 0)
        list_entries();
    for (size_t t = 0; name && t < sizeof tables / sizeof tables[0]; t++)
        for (const struct fuzz *f = tables[t]; f->name; f++)
            if (strcmp(f->name, name) == 0)
                entry = f;
    errno = ENOENT;
    if (!entry)
        fail("CEDE_FUZZ names no entry; CEDE_FUZZ=list shows them");
    if (getenv("CEDE_FUZZ_SEEDS"))
        write_seeds();
    return 0;
}

/* An entry takes a text with a NUL behind it; the copy has its exact size, so that reading beyond it is found. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *copy = malloc(n + 1);

    if (!copy)
        return 0;
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    entry->take(copy, n);
    free(copy);
    return 0;
}
