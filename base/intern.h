#ifndef INTERN_H
#define INTERN_H
/* Strings that repeat, held once and counted.
 *
 * Equal texts have one address, so `a == b` compares them. The table is process-wide on purpose: what it
 * saves (owner, queue, select and environment of 100 000 jobs) it saves across all parts. Loop thread only.
 */
#include <stddef.h>

/* One more reference to this text; it stays until as many intern_unref. NULL: no memory. NULL in, NULL out.
 */
const char *intern_ref(const char *text);
const char *intern_ref_bytes(const char *bytes, size_t n); /* text of n bytes without NUL */

/* One more reference to what is interned already: cheap, cannot fail. NULL is allowed. */
const char *intern_again(const char *interned);

/* One reference less; the last one frees it. NULL is allowed. */
void intern_unref(const char *interned);

size_t intern_count(void); /* how many texts are held; for tests of leaks */
size_t intern_bytes(void); /* with what holds them; for tests */

#endif
