#ifndef TYPE_WORDS_H
#define TYPE_WORDS_H
/* Texts of a fixed vocabulary: one word of several, a set of letters, a name without certain characters.
 *
 * Held as interned text in its usual spelling, but hold types and vnode states, which are bits (VALUE_NUMBER):
 * += sets bits, -= clears them.
 */
#include "value.h"

enum hold_bit { HOLD_USER = 1, HOLD_OTHER = 2, HOLD_SYSTEM = 4, HOLD_BAD_PASSWORD = 8 };

extern const struct value_type type_hold;       /* bits; letters u o s p, or n */
extern const struct value_type type_node_state; /* bits of enum node_bit; words of states.h */

extern const struct value_type type_mail;        /* letters a b e j, or n */
extern const struct value_type type_mail_resv;   /* letters a b c e, or n */
extern const struct value_type type_keep;        /* letters o e d, or n */
extern const struct value_type type_remove;      /* letters o e */
extern const struct value_type type_join;        /* n, oe, eo */
extern const struct value_type type_checkpoint;  /* n s c c=MINUTES w w=MINUTES u */
extern const struct value_type type_queue_type;  /* Execution, Route; a beginning of them, any case */
extern const struct value_type type_sandbox;     /* HOME, PRIVATE */
extern const struct value_type type_tolerate;    /* none, job_start, all */
extern const struct value_type type_sharing;     /* default_shared, ... force_exclhost */
extern const struct value_type type_run_wait;    /* none, runjob_hook, execjob_hook */
extern const struct value_type type_fuzzy;       /* off, low, medium, high */
extern const struct value_type type_hook_type;   /* site, pbs */
extern const struct value_type type_hook_user;   /* pbsadmin, pbsuser */
extern const struct value_type type_fail_action; /* list of none, offline_vnodes, ... */
extern const struct value_type type_qdel_args;   /* -Wsuppress_email=N */
extern const struct value_type type_job_name;    /* up to 230 printable characters, no blanks */
extern const struct value_type type_project;     /* without / [ ] " ; : | < > + , ? * \ */

/* Bits of a hold text like "us". -1, PBSE_BADATVAL. */
int words_hold_parse(const char *letters, int64_t *bits, struct err *e);

#endif
