/* Names and digests of hook files. See hook_files.h. Server and hosts both use it, so that they see the same digest of the
 * same list: it is what tells a host that it has everything. */
#include "hook_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

enum hook_file_kind hook_file_kind(const char *file, size_t *n)
{
    static const char *const suffixes[] = {".HK", ".PY", ".CF"};
    size_t length = strlen(file);

    for (int i = 0; i < HOOK_FILE_OTHER; i++)
        if (length > 3 && strcmp(file + length - 3, suffixes[i]) == 0) {
            *n = length - 3;
            return (enum hook_file_kind)i;
        }
    *n = length;
    return HOOK_FILE_OTHER;
}

bool hook_file_is_name(const char *file)
{
    size_t n;

    if (strcmp(file, HOOK_FILE_RESOURCES) == 0)
        return true;
    if (hook_file_kind(file, &n) == HOOK_FILE_OTHER)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)file[i]) && (i == 0 || !strchr("_-.", file[i])))
            return false;
    return true;
}

/* The library has no other reason to fail than memory; a digest of zeros then differs from all others, and is sent again. */
static void hook_files_sum(EVP_MD_CTX *c, char out[static EXEC_HOOK_DIGEST])
{
    unsigned n = 0;

    if (!c || EVP_DigestFinal_ex(c, (unsigned char *)out, &n) != 1)
        memset(out, 0, EXEC_HOOK_DIGEST);
    EVP_MD_CTX_free(c);
}

static EVP_MD_CTX *hook_files_begin(void)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();

    if (c && EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1)
        return c;
    EVP_MD_CTX_free(c);
    return NULL;
}

void hook_file_digest(const void *bytes, size_t n, char out[static EXEC_HOOK_DIGEST])
{
    EVP_MD_CTX *c = hook_files_begin();

    if (c)
        EVP_DigestUpdate(c, bytes, n);
    hook_files_sum(c, out);
}

void hook_files_digest(const exec_hook_file *files, size_t n, char out[static EXEC_HOOK_DIGEST])
{
    EVP_MD_CTX *c = hook_files_begin();

    for (size_t i = 0; c && i < n; i++) {
        EVP_DigestUpdate(c, files[i].name, strlen(files[i].name) + 1);
        EVP_DigestUpdate(c, files[i].digest, EXEC_HOOK_DIGEST);
    }
    hook_files_sum(c, out);
}

static int hook_files_order(const void *a, const void *b)
{
    const exec_hook_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void hook_files_sort(exec_hook_file *files, size_t n)
{
    if (n)
        qsort(files, n, sizeof *files, hook_files_order);
}

const exec_hook_file *hook_files_find(const exec_hook_file *files, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}
