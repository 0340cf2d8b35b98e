#ifndef HOOK_ATTRS_H
#define HOOK_ATTRS_H
/* Attributes of a hook: set by a request, shown, written to NAME.HK. The rules and texts are PBS's. */
#include "hooks.h"
#include "pbs_ifl.h"
#include "strbuf.h"

struct hook_attr_change { /* one of a request; borrowed */
    const char *name, *value;
    enum batch_op op; /* SET, UNSET, INCR, DECR */
};

/* Apply the n changes of a request to *set, the settings of the hook `name`; user, fail_action and freq after all others.
 * `t` is asked for other hooks: there may be one of the event provision, and no more. Return 0; or -1, PBSE_HOOKERROR with
 * PBS's text, and leave *set as it was. */
int hook_attrs_apply(const struct hooks *t, const char *name, struct hook_settings *set,
                     const struct hook_attr_change *c, size_t n, struct err *e);

/* Called with each attribute that `list hook` shows, in PBS's order. The texts live for the call. A value other than 0
 * ends the walk, and hook_attrs_walk returns it. */
typedef int hook_attrs_fn(void *arg, const char *name, const char *value);
int hook_attrs_walk(const struct hook *h, hook_attrs_fn *fn, void *arg);

/* The lines of NAME.HK: its name, and what is not the default. */
void hook_attrs_format_control(const struct hook *h, struct strbuf *out);

#endif
