#ifndef USAGE_FILE_H
#define USAGE_FILE_H
/* sched_priv/usage: what each entity has used, and how much of each job that runs is in it; and its neighbours.
 *
 *   usage         text, replaced whole; its last line counts the others, so one that was cut short is known
 *   usage.bad     one that could not be read, kept for the administrator
 *   usage.bak     as it was before pbsfs changed it
 *   usage.touch   its time changes when pbsfs has written: the scheduler reads again
 *   usage.lock    held by the process that replaces usage
 *
 * Functions block for as long as a small file takes.
 */
#include <limits.h>
#include <stdint.h>

#include "err.h"

struct accrual_record;
struct fairshare;
struct strbuf;

struct usage {
    struct fairshare *shares;
    struct accrual_record *counted;
    int64_t decayed_s; /* when it faded last, wall clock; 0: never */
};

/* Read `dir`/usage in place of what `u` has. A missing one means that no entity has used anything. -1: EBADMSG it
 * is not a usage file, or cut short (e: where); then no entity has used anything. Else the errno of reading. */
int usage_file_read(const char *dir, struct usage *u, struct err *e);
int usage_file_put_aside(const char *dir, struct err *e); /* usage becomes usage.bad */

void usage_file_format(const struct usage *u, struct strbuf *out);
/* The lock: a descriptor to close, or -1 (EWOULDBLOCK: another has it). */
int usage_file_lock(const char *dir, struct err *e);
/* Replace the file; the caller has the lock. */
int usage_file_write(const char *dir, const char *text, size_t n, struct err *e);

int usage_file_keep(const char *dir, struct err *e);  /* a copy to usage.bak, if there is one */
int usage_file_touch(const char *dir, struct err *e); /* the scheduler shall read again */
int64_t usage_file_touched(const char *dir); /* a number that changes with usage.touch; 0: it is not there */

#endif
