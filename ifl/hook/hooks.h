#ifndef HOOKS_H
#define HOOKS_H
/* The hooks of a daemon: what each is, and in which order they run. Loop thread only; the table owns its hooks. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct hooks;

/* HOOK_CONTENT_MAX bounds a script or a configuration, in bytes: a choice. As JSON it may be six times as long, and still fits into a
 * frame to a worker. */
enum { HOOK_NAME_LONGEST = 64, HOOK_CONTENT_MAX = 4 << 20 };

/* What is done where a hook of a host fails: the vnodes go offline; that is taken back; the scheduler begins its cycle again. */
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

struct hook_settings hook_settings_default(void); /* those of a hook that was just created */

/* `dir`: where NAME.PY and NAME.CF are, copied. NULL: no memory. */
struct hooks *hooks_create(const char *dir);
void hooks_destroy(struct hooks *t);

/* A hook that is in no table yet; NULL: no memory. */
struct hook *hook_create(const char *name);
void hook_destroy(struct hook *h); /* one that is in no table (any more) */

struct hook *hooks_first(const struct hooks *t);
struct hook *hooks_find(const struct hooks *t, const char *name);
/* The first hook that runs at this event (enabled, with a script; at the server not of user pbsuser) behind a place in the order; hooks may come and go between two
 * calls. */
struct hook_place {
    int order;
    uint64_t ordered;
};
#define HOOK_PLACE_FIRST ((struct hook_place){INT_MIN, 0})
struct hook *hooks_next_of(const struct hooks *t, uint32_t event, struct hook_place after);
/* Bits of all events at which some hook runs; 0: there is nothing to do anywhere. Borrowed for life. */
const uint32_t *hooks_active(const struct hooks *t);
const char *hooks_dir(const struct hooks *t);

/* Into its place in the order, which stays as it is while the hook is in the table; and out of it. hooks_review follows. */
void hooks_put_in(struct hooks *t, struct hook *h);
void hooks_take_out(struct hooks *t, struct hook *h);
/* Compute the active events, and tell the listener. Call it after every change of a hook in the table, also of its settings. */
void hooks_review(struct hooks *t);
/* ^ Hooks were made, changed or removed. One listener. */
void hooks_on_change(struct hooks *t, void (*fn)(void *arg), void *arg);

#endif
