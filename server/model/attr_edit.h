#ifndef ATTR_EDIT_H
#define ATTR_EDIT_H
/* Setting, unsetting, adding to and taking from the attributes of any object: checked as a whole on a copy,
 * then done as a whole. Side effects are rows of the caller: a check before (it may refuse), an action after. */
#include "object.h"
#include "pbs_ifl.h"

struct server_ctx;

struct attr_edit_change { /* one attribute of a request; borrowed */
    const char *name, *resource, *value;
    enum batch_op op; /* SET, UNSET, INCR, DECR */
};

enum { ATTR_EDIT_ANY = -1 };

/* What setting an attribute causes beyond itself. Both functions may be NULL. */
struct attr_edit_effect {
    enum attr_of of;
    int index; /* ATTR_EDIT_ANY: any attribute; called once a request */
    /* Check the new list for this object. -1 with PBSE_*. */
    int (*check)(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
    /* Called when the change has been done. */
    void (*after)(void *arg, struct object *o);
};

struct attr_edit_ask {
    const struct attr_edit_change *changes;
    size_t n;
    struct attr_writer writer;
    const struct attr_edit_effect *effects; /* of every kind of object; only the rows of this kind are used */
    size_t n_effects;
    void *effect_arg;
};

/* Refuse a nice value below 0 of a plain user: it would put the job before all other processes of a host. Call
 * after the change, with the attribute and resource that were changed. -1 PBSE_PERM. */
int attr_edit_check_nice(const struct server_ctx *s, const struct attr_list *l, int index,
                         const char *resource, enum level level, struct err *e);

/* Apply all changes and touch the object. 0, or -1 with nothing changed and *at the change at fault (n: none in
 * particular). */
int attr_edit_apply(struct server_ctx *s, struct object *o, const struct attr_edit_ask *ask, size_t *at,
                    struct err *e);

/* Check one change alone, whatever the object has. `creating` writers may set what only a creation may. 0, or
 * -1 with the error of attr_edit_apply. Nothing is kept. */
int attr_edit_try(struct server_ctx *s, enum attr_of of, const struct attr_edit_change *c,
                  const struct attr_writer *w, struct err *e);

/* Most bytes of all attribute texts of one object: a choice, so that its row can be written, and quickly. A
 * text that is too long may stay as long as it does not grow, since the server itself writes some attributes. */
enum { ATTR_EDIT_TEXT_MAX = 4 << 20 };
/* What a host can give to a process: an order holds 65,536 entries, of which the MOM and its hooks have some
 * (SHEP_ENV_MAX); Linux takes no string of more than 32 pages (MAX_ARG_STRLEN). All of a job's are one
 * attribute, so 1 MiB together. */
enum { ATTR_EDIT_VARIABLES_MAX = 32768, ATTR_EDIT_VARIABLE_BYTES = 131071 };
/* `was`: NULL for a new object. -1 PBSE_BADATVAL, with the lengths and the limit. */
int attr_edit_check_length(const struct attr_list *was, const struct attr_list *now, struct err *e);

#endif
