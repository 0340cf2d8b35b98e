#ifndef HOOK_FILES_H
#define HOOK_FILES_H
/* The hook files of an execution host, as the server lists them (EXEC_HOOKS): names, sizes, digests. Any thread. */
#include <stdbool.h>
#include <stddef.h>

#include <exec.h>

#include "err.h"

/* NAME.HK settings, NAME.PY script, NAME.CF configuration; and one file with the custom resources. */
#define HOOK_FILE_RESOURCES "resourcedef"
enum hook_file_kind { HOOK_FILE_CONTROL, HOOK_FILE_SCRIPT, HOOK_FILE_CONFIG, HOOK_FILE_OTHER };

/* What a file of this name is; *n is how much of it is the hook's name. */
enum hook_file_kind hook_file_kind(const char *file, size_t *n);
/* May a host be told to have a file of this name? It becomes a name in a directory of root. */
bool hook_file_is_name(const char *file);

/* SHA-256 of one file's contents. Zeros where the library has no memory: they differ from every other, and the file is sent again. */
void hook_file_digest(const void *bytes, size_t n, char out[static EXEC_HOOK_DIGEST]);
/* Of names and digests of a whole list, which hook_files_sort has put in order. Two lists with the same digest are the same, so a
 * host that has it asks for no file. */
void hook_files_digest(const exec_hook_file *files, size_t n, char out[static EXEC_HOOK_DIGEST]);
void hook_files_sort(exec_hook_file *files, size_t n);
const exec_hook_file *hook_files_find(const exec_hook_file *files, size_t n, const char *name); /* or NULL */

#endif
