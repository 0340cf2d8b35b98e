#ifndef HOOK_STORE_H
#define HOOK_STORE_H
/* The hooks of this server as rows and as files.
 *
 * The row of the store is the truth: settings, script and configuration. From it the files of PBS are written, where scripts of
 * sites look for them: server_priv/hooks/NAME.HK, NAME.PY, NAME.CF. Loop thread only. */
#include "hooks.h"

struct commit;
struct hook_store;
struct restore_errors;
struct store;

struct hook_store *hook_store_create(struct commit *c, struct hooks *hooks); /* NULL: no memory */
void hook_store_destroy(struct hook_store *t);
/* At start, from the store; and the files are written that are not there. */
int hook_store_restore(struct hook_store *t, struct store *from, const struct restore_errors *errors,
                       struct err *e);

/* Each stores what has changed and writes the files. -1: PBSE_SYSTEM no memory. */
struct hook *hook_store_add(struct hook_store *t, const char *name, const struct hook_settings *set,
                            struct err *e);
/* A built-in hook with its script, which is taken; `set` is of one that has no row. Nothing is stored. -1: no memory. */
int hook_store_install(struct hook_store *t, const char *name, const struct hook_settings *set, char *script,
                       size_t n, struct err *e);
void hook_store_remove(struct hook_store *t, struct hook *h);
void hook_store_set(struct hook_store *t, struct hook *h, const struct hook_settings *set);
/* Takes `bytes`. */
void hook_store_import(struct hook_store *t, struct hook *h, bool config, char *bytes, size_t n);

#endif
