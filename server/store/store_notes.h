#ifndef STORE_NOTES_H
#define STORE_NOTES_H
/* Short texts that outlive the object they are about: which token of a move became which job, what a job was
 * called at the server it came from, where one has gone. Kept for STORE_NOTES_KEEP_S, at most STORE_NOTES_MAX;
 * the oldest make room.
 *
 *   token:HEX   -> 12.svr2          was:7.svr1 -> 12.svr2          gone:7.svr1 -> host:port
 *
 * In the store each is an object of kind "note". Loop thread only. */
#include <stdint.h>

#include "err.h"

struct restore_errors;

struct clock;
struct commit;
struct store_notes;
struct store;

enum { STORE_NOTES_KEEP_S = 14 * 24 * 3600, STORE_NOTES_MAX = 100000, STORE_NOTES_NAME_MAX = 320 };

struct store_notes *store_notes_create(struct clock *clock, struct commit *c); /* NULL: no memory */
void store_notes_destroy(struct store_notes *n);
int store_notes_restore(struct store_notes *n, struct store *from, const struct restore_errors *errors,
                        struct err *e); /* at start */

/* Store a note with the next batch, in place of an older one of that name. "KIND:name" is cut at
 * STORE_NOTES_NAME_MAX. */
void store_notes_put(struct store_notes *n, const char *kind, const char *name, const char *text);
void store_notes_drop(struct store_notes *n, const char *kind, const char *name);        /* if it is there */
const char *store_notes_find(struct store_notes *n, const char *kind, const char *name); /* borrow, or NULL */
/* What the job is called here that had this identifier before it came, or came back. Borrow, or NULL. */
const char *store_notes_find_alias(void *store_notes, const char *id);

#endif
