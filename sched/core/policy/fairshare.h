#ifndef FAIRSHARE_H
#define FAIRSHARE_H
/* The tree of shares: who is entitled to what, and what each has used.
 *
 * Entities are the tree's nodes: TREEROOT (number 0), `unknown` (number 1), and those of resource_group; an entity that
 * is not there becomes a leaf of `unknown` with one share when it is first asked for. What a leaf uses, its groups use
 * too. Usage is at least 1, is in the unit of fairshare_usage_res, and fades by decay. An entity, once there, keeps its
 * address until fairshare_destroy, even where a new resource_group leaves it out.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct fairshare;
struct share;

enum { FAIRSHARE_DEPTH_MAX = 32, FAIRSHARE_NO_NUMBER = -1 };

struct fairshare *fairshare_create(void);
void fairshare_destroy(struct fairshare *f);

/* Take the text of resource_group: lines "NAME NUMBER PARENT SHARES", # begins a comment, parents before children,
 * "root" is the tree's. Usage is kept. -1: EINVAL with the line, in PBS's words; the tree is as it was. */
int fairshare_plant(struct fairshare *f, const char *text, int64_t unknown_shares, struct err *e);

struct share *fairshare_find(const struct fairshare *f, const char *name); /* NULL: no entity of this name */
struct share *fairshare_entity(struct fairshare *f, const char *name);     /* found, or made below unknown */
/* Depth first, in the order of the file, TREEROOT first; NULL in: the first, NULL out: no more. */
struct share *fairshare_next(const struct fairshare *f, const struct share *after);

/* --- usage */
void fairshare_use(struct share *s, double amount); /* of a leaf: this much more */
void fairshare_set(struct share *s, double usage);  /* of a leaf: this, and not what it was */
void fairshare_decay(struct fairshare *f, double factor);
void fairshare_trim(struct fairshare *f);   /* leaves of unknown have used nothing */
void fairshare_forget(struct fairshare *f); /* no entity has used anything */

/* What a job that has just been ordered to run is going to use: counts in share_compare until forgotten. */
void fairshare_expect(struct fairshare *f, struct share *s, double amount);
void fairshare_forget_expected(struct fairshare *f);

/* What fairshare_use has added to leaves and no file has: a writing takes it along (fairshare_saving) and has come to its
 * end or failed (fairshare_saved). After reading usage that another process has written, fairshare_add_unsaved adds it. No
 * writing is under way then. */
void fairshare_saving(struct fairshare *f);
void fairshare_saved(struct fairshare *f, bool done);
void fairshare_add_unsaved(struct fairshare *f);

/* --- looking */
const char *fairshare_name(const struct share *s);
int fairshare_number(const struct share *s);                /* FAIRSHARE_NO_NUMBER: not in resource_group */
int fairshare_group_number(const struct share *s);          /* its group's; of the root FAIRSHARE_NO_NUMBER */
const struct share *fairshare_group(const struct share *s); /* NULL: it is the root */
int fairshare_depth(const struct share *s);                 /* 0: the root */
bool fairshare_is_leaf(const struct share *s);
int64_t fairshare_shares(const struct share *s);
double fairshare_usage(const struct share *s);
double fairshare_fraction(const struct share *s); /* 0 to 1: of everything */
bool fairshare_is_over(const struct share *s);    /* has used more than its fraction of what all have */
double fairshare_tree_usage(const struct share *s);
double fairshare_factor(const struct share *s); /* 2^(-tree usage / fraction), 0 without shares */

/* <0: a's jobs go before b's. 0: neither. */
int fairshare_compare(const struct share *a, const struct share *b);

#endif
