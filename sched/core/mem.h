#ifndef MEM_H
#define MEM_H
/* Memory for the scheduler's picture of the world.
 *
 * A scheduler keeps nothing that another process could not read again from the server, so there is no state to
 * save when memory ends: these never return NULL, the process aborts and is started again. This keeps error
 * paths out of the matching code, which runs a million times a second.
 */
#include <stddef.h>
#include <stdint.h>

void *mem_new(size_t n, size_t size);           /* zeroed */
void *mem_grow(void *p, size_t n, size_t size); /* realloc of an array */
char *mem_text(const char *text);               /* strdup; "" for NULL */
const char *mem_intern(const char *text);       /* intern_ref that does not fail; NULL for NULL */

/* A hash of the text's characters. Addresses of interned texts will not do where an old text may have been let go: the
 * new one often gets its place. NULL is a text of its own. */
uint64_t mem_hash(const char *text);

/* Room for one more element: grows `p` by doubling when `n` has reached *cap. Returns the array. */
void *mem_room(void *p, size_t n, size_t *cap, size_t size);

#endif
