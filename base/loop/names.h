#ifndef NAMES_H
#define NAMES_H
/* Users, groups and host addresses, asked of the system by a worker, since that may take seconds.
 *
 * Answers are kept for a short time (found ones `keep_ms`, unknown ones a tenth of it), and the same
 * question asked twice meanwhile is asked of the system once. A callback is always made from the loop,
 * never inside the asking call, and exactly once; names_stop() makes those that are still missing. Loop
 * thread only.
 *
 * What could not be asked (a directory that does not answer) is not kept: the next question asks again. */
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "names_lookup.h"

struct loop;
struct names;

/* Borrowed for the call. NULL: ENOENT no such user (host), EAGAIN too many questions wait, others: could not
 * be asked. */
typedef void names_user_fn(void *arg, const struct names_user *u, const struct err *why);
typedef void names_host_fn(void *arg, const struct names_host *h, const struct err *why);

struct names *names_create(struct loop *l, int64_t keep_ms, struct err *e);
/* End the workers after the question under way, and make each callback that has not been made: with the answer where there is one, else with
 * ECANCELED. Questions of these callbacks are answered so, too; later ones are not answered. Not from a callback. */
void names_stop(struct names *n);
void names_destroy(
    struct names
        *n); /* NULL is accepted; without names_stop() callbacks not made are dropped; not from a callback */

void names_ask_user(struct names *n, const char *name, names_user_fn *fn, void *arg);
void names_ask_uid(struct names *n, uid_t uid, names_user_fn *fn, void *arg);
void names_ask_host(struct names *n, const char *name, names_host_fn *fn, void *arg);
/* The name of the host with this numeric address (names_lookup_address). */
void names_ask_address(struct names *n, const char *address, names_host_fn *fn, void *arg);

/* What is known already and fresh; NULL: ask. Borrow until the next turn. */
const struct names_user *names_find_user(const struct names *n, const char *name);
const struct names_user *names_find_uid(const struct names *n, uid_t uid);
const struct names_host *names_find_address(const struct names *n, const char *address);

void names_forget(struct names *n); /* drop what is known, e.g. on SIGHUP */

#endif
