#ifndef ARRAY_MAP_H
#define ARRAY_MAP_H
/* The subjobs of one array as sets of indices, so that a million subjobs cost a few bits each.
 *
 * An index has one of four conditions:
 *
 *   QUEUED ---array_map_start--> LIVE ---array_map_end--> ENDED (well, or deleted) | FAILED
 *      ^-------array_map_back-----'
 *      '-----------array_map_end (deleted before it ran)----------> ENDED
 *
 * LIVE means that the subjob has an object of its own (queued/arrays.c): it runs, or has run and waits again.
 * The store keeps the sets in pages of 4096 indices. A page lists the indices that have not ended and those
 * that have failed; only pages that differ from "none has ended" have rows. LIVE indices are not written: the
 * rows of their jobs say it, so a subjob that starts writes its own row and nothing else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "idset.h"

struct array_map;
struct strbuf;

enum array_index { ARRAY_QUEUED, ARRAY_LIVE, ARRAY_ENDED, ARRAY_FAILED, ARRAY_NO_INDEX };

enum { ARRAY_NONE = -1 };

/* A new array of the indices "X-Y" or "X-Y:Z", all queued: 0 <= X < Y, Z >= 1. NULL: PBSE_BADATVAL with what is
 * wrong, PBSE_MaxArraySize more than `max_size` indices, PBSE_SYSTEM no memory. */
struct array_map *array_map_create(const char *range, size_t max_size, struct err *e);
void array_map_destroy(struct array_map *m);

/* ---- conditions */
enum array_index array_map_get(const struct array_map *m, int64_t index); /* NO_INDEX: not in the array */
/* Move one index. 0, or -1: no memory; nothing has changed. The index must be QUEUED (start), LIVE (back), or one
 * of both (end). */
int array_map_start(struct array_map *m, int64_t index);
int array_map_back(struct array_map *m, int64_t index);
int array_map_end(struct array_map *m, int64_t index, bool failed);
/* End every queued index of `these` (NULL: all). Return how many, or -1: no memory, a part may be done. */
int64_t array_map_end_queued(struct array_map *m, const struct idset *these);

/* For a new array: keep only the indices in `ranges`, e.g. "0-4,7" (the form of array_map_format_queued), and
 * end the others. -1: PBSE_BADATVAL it names no index, or one that the array does not have; PBSE_SYSTEM no
 * memory. */
int array_map_keep(struct array_map *m, const char *ranges, struct err *e);

/* Return true if any of `these` is QUEUED or LIVE. */
bool array_map_has_open(const struct array_map *m, const struct idset *these);
/* All indices that the array ever had. */
struct idset_range array_map_range(const struct array_map *m);

/* ---- walking: the first index >= `from`, or ARRAY_NONE */
int64_t array_map_next(const struct array_map *m, int64_t from);
int64_t array_map_next_other(const struct array_map *m, int64_t from); /* that is not QUEUED */

/* ---- counting: O(1) */
size_t array_map_size(const struct array_map *m);
size_t array_map_count(const struct array_map *m, enum array_index what);
bool array_map_is_over(const struct array_map *m); /* no index is QUEUED or LIVE */

/* Append the queued indices and those of `more` (NULL: none), e.g. "0-4,7"; "-" if there is none. -1: no memory */
int array_map_format_queued(const struct array_map *m, const struct idset *more, struct strbuf *out);

/* ---- the store */
enum { ARRAY_PAGE = 4096 };
bool array_map_is_dirty(const struct array_map *m); /* has a page to take */
/* Take a page in which an index has ended since the page was last taken; ARRAY_NONE: no more. Write it with the
 * same batch as the end of the index. */
int64_t array_map_take_dirty(struct array_map *m);
/* Append a page as two texts of ranges: the indices that have not ended, and those that failed. -1: no memory. */
int array_map_format_page(const struct array_map *m, int64_t page, struct strbuf *remaining,
                          struct strbuf *failed);
/* Restore a page as it was written; an index in neither text has ended. -1: PBSE_SYSTEM, it cannot be read. */
int array_map_read_page(struct array_map *m, int64_t page, const char *remaining, const char *failed,
                        struct err *e);
/* Call after all pages: the row of a job says that this index is live. -1: not an index of the array, or no
 * memory. */
int array_map_read_live(struct array_map *m, int64_t index);

#endif
