#ifndef PLACES_H
#define PLACES_H
/* Where the scheduler's files and logs are: what sched_priv and sched_log of its object say, else what it began with.
 *
 * Asked of the server before each registration. A directory that is not there, is not ours, or that others may write to
 * or replace, is said in the object's comment and in the log; the scheduler then does not register, so
 * that it is shown as down.
 */
#include <limits.h>
#include <stdbool.h>

#include "err.h"

struct places {
    char priv[PATH_MAX], logs[PATH_MAX]; /* in force; set by the caller before the first call */
    char first_priv[PATH_MAX], first_logs[PATH_MAX];
};

void places_init(struct places *p, const char *priv, const char *logs);

enum places_change { PLACES_SAME, PLACES_OTHER_PRIV = 1, PLACES_OTHER_LOGS = 2 };

/* Bits of places_change: what is otherwise than before. -1: PBSE_SYSTEM, they cannot be used; nothing is changed. Waits for
 * the server. */
int places_ask(struct places *p, int c, const char *sched, struct err *e);

/* Do these attributes (NULL: unset) still say what is in force? */
bool places_hold(const struct places *p, const char *priv, const char *logs);

#endif
