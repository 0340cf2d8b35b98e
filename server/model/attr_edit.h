#ifndef ATTR_EDIT_H
#define ATTR_EDIT_H
/* Setting, unsetting, adding to and taking from the attributes of any object: checked as a whole on a copy,
 * then done as a whole. Side effects stand above, as rows: a check before (it may refuse), an action after. */
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
    int index; /* ATTR_EDIT_ANY: whatever attribute it is, once */
    /* Is the new list right for this object? -1 with PBSE_*. */
    int (*check)(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
    /* It has been done. */
    void (*after)(void *arg, struct object *o);
};

struct attr_edit_ask {
    const struct attr_edit_change *changes;
    size_t n;
    struct attr_writer writer;
    const struct attr_edit_effect *effects; /* all of the house; those of this kind are looked at */
    size_t n_effects;
    void *effect_arg;
};

/* A plain user's nice value is not below 0: that would put the job before all other processes of a host. Asked after
 * the change, of the attribute and resource that were changed. -1 PBSE_PERM. */
int attr_edit_check_nice(const struct server_ctx *s, const struct attr_list *l, int index,
                         const char *resource, enum level level, struct err *e);

/* 0, or -1 with nothing changed and *at the change at fault (n: none in particular). Touches the object. */
int attr_edit_apply(struct server_ctx *s, struct object *o, const struct attr_edit_ask *ask, size_t *at,
                    struct err *e);

/* Would this change alone be right, whatever the object has? `creating` writers may set what only a creation may. 0, or -1 with what
 * attr_edit_apply would say of it. Nothing is kept. */
int attr_edit_try(struct server_ctx *s, enum attr_of of, const struct attr_edit_change *c,
                  const struct attr_writer *w, struct err *e);

/* The texts of an object's attributes may be so long together that its row can still be written, and in a moment. What is
 * too long may stay as long as it does not grow: of some attributes the server is the writer. */
enum { ATTR_EDIT_TEXT_MAX = 4 << 20 };
/* What a host can give to a process: an order holds 65,536 entries, of which the MOM and the site have some (SHEP_ENV_MAX);
 * Linux takes no string of more than 32 pages (MAX_ARG_STRLEN). All of a job's are one attribute, so 1 MiB together. */
enum { ATTR_EDIT_VARIABLES_MAX = 32768, ATTR_EDIT_VARIABLE_BYTES = 131071 };
/* `was`: NULL for a new object. -1 PBSE_BADATVAL, with the lengths and the limit. */
int attr_edit_check_length(const struct attr_list *was, const struct attr_list *now, struct err *e);

#endif
