#ifndef HOOK_H
#define HOOK_H
/* The hooks of this server: what each is, in which order they run, their rows and files.
 *
 * The row of the store is the truth: settings, script and configuration. From it the files of PBS are written, where scripts of
 * sites look for them: server_priv/hooks/NAME.HK, NAME.PY, NAME.CF. Loop thread only; the table owns its hooks. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct commit;
struct hooks;
struct restore_faults;
struct store;

enum { HOOK_NAME_LONGEST = 64, HOOK_CONTENT_MAX = 4 << 20 };

enum hook_fail_action {
    HOOK_FAIL_NONE = 0,
    HOOK_FAIL_OFFLINE = 1,
    HOOK_FAIL_CLEAR = 2,
    HOOK_FAIL_RESTART = 4
};

struct hook_settings {
    bool enabled, debug;
    bool pbsuser;    /* it runs as the job's owner */
    bool of_pbs;     /* built-in: its name begins with PBS, its script is the installation's */
    uint32_t events; /* enum hook_event_bit */
    int order;
    int64_t alarm_s, freq_s;
    unsigned fail_action; /* enum hook_fail_action bits */
};

struct hook_content {
    char *bytes; /* NULL: none was imported */
    size_t n;
};

struct hook {
    struct hook *next; /* by order, equal ones in which it was set first */
    char *name;
    struct hook_settings set;
    struct hook_content script, config;
    uint64_t serial;  /* of the last import, of any hook rising */
    uint64_t ordered; /* when its order was set, rising */
};

struct hook_settings hook_settings_default(void);

/* `home` is PBS_HOME, borrowed. NULL: no memory. */
struct hooks *hooks_create(struct commit *c, const char *home);
void hooks_destroy(struct hooks *t);
/* At start, from the store; and the files are written that are not there. */
int hooks_restore(struct hooks *t, struct store *from, const struct restore_faults *faults, struct err *e);

struct hook *hooks_first(const struct hooks *t);
struct hook *hooks_find(const struct hooks *t, const char *name);
/* The first hook that runs at this event (enabled, with a script, not of user pbsuser) behind a place in the order; hooks may come and go between two
 * calls. */
struct hook_place {
    int order;
    uint64_t ordered;
};
#define HOOK_PLACE_FIRST ((struct hook_place){INT_MIN, 0})
struct hook *hooks_next_of(const struct hooks *t, uint32_t event, struct hook_place after);
/* Bits of all events at which some hook runs; 0: there is nothing to do anywhere. Borrowed for life. */
const uint32_t *hooks_active(const struct hooks *t);
const char *hooks_dir(const struct hooks *t); /* .../server_priv/hooks */

/* ^ Hooks were made, changed, removed or restored. One listener. */
void hooks_on_change(struct hooks *t, void (*fn)(void *arg), void *arg);

/* Each stores what has changed and writes the files. -1: PBSE_SYSTEM no memory. */
struct hook *hooks_add(struct hooks *t, const char *name, const struct hook_settings *set, struct err *e);
/* A built-in hook with its script, which is taken; `set` is of one that has no row. Nothing is stored. -1: no memory. */
int hooks_install(struct hooks *t, const char *name, const struct hook_settings *set, char *script, size_t n,
                  struct err *e);
void hooks_remove(struct hooks *t, struct hook *h);
void hooks_set(struct hooks *t, struct hook *h, const struct hook_settings *set);
/* Takes `bytes`. */
void hooks_import(struct hooks *t, struct hook *h, bool config, char *bytes, size_t n);

#endif
