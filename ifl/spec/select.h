#ifndef SELECT_H
#define SELECT_H
/* What a job asks of hosts: "2:ncpus=4:mem=2gb+1:ncpus=1", chunk by chunk.
 *
 * Parsed once by the server at submission and once by a scheduler when a job comes into its mirror; all other code
 * walks the struct. Syntax only: a function of the caller says whether a resource exists and may be used in a chunk.
 * Public struct: read by all, written here only.
 */
#include <stdbool.h>
#include <stdint.h>

#include "amounts_text.h"
#include "err.h"

struct strbuf;

enum { SELECT_CHUNKS_MAX = 65536, SELECT_COUNT_MAX = 10000000 };

struct select_chunk {
    uint32_t count; /* >= 1 */
    struct amounts_text res;
};

struct select {
    size_t n;
    struct select_chunk *chunk;
};

/* Check that this resource may be used in a chunk. 0, or -1 with e->code
 *   PBSE_UNKRESC, PBSE_INVALSELECTRESC  e->text is the resource's name
 *   PBSE_BADATVAL                       the value is not of its type */
typedef int select_check(void *context, const char *name, const char *value, struct err *e);

/* A select from text; `check` may be NULL. NULL: what `check` said, and
 *   PBSE_BADATVAL  syntax; the text says what is wrong and at which character (from 1)
 *   PBSE_DUPRESC   a resource occurs twice in a chunk; the text ends with its name
 *   PBSE_SYSTEM    no memory */
struct select *select_parse(const char *text, select_check *check, void *context, struct err *e);
void select_destroy(struct select *s);

/* Add the pair to every chunk that does not have the resource: default_chunk. -1, PBSE_SYSTEM: no memory
 * (then some chunks may have it). */
int select_complete(struct select *s, const char *name, const char *value, struct err *e);

/* Write names of resources as `name_of` has them: users write them in letters of any case. NULL of it: the name stays. 1: a name was
 * written otherwise; 0: none was. -1, some may be written otherwise by then:
 *   PBSE_DUPRESC  two resources of a chunk are the same one; the text ends with its name
 *   PBSE_SYSTEM   no memory */
int select_spell(struct select *s, const char *(*name_of)(void *context, const char *name), void *context,
                 struct err *e);

/* Write the value in every chunk that has the resource. -1, PBSE_SYSTEM: no memory (then some may have it). */
int select_replace(struct select *s, const char *name, const char *value, struct err *e);

uint64_t select_count(const struct select *s); /* chunks in all: nodect */

/* How a resource is added up. */
enum select_kind { SELECT_INTEGER, SELECT_REAL, SELECT_SIZE };

/* What all chunks together ask of one resource: count times value. The text is as PBS shows sums: "16",
 * "2.5"; a size in the unit that all chunks use, "4gb", or else in kb. 1: there is a sum; 0: no chunk names it; -1, PBSE_BADATVAL: a value is
 * not of that kind, or the sum does not fit. */
enum { SELECT_SUM_TEXT_MAX = 32 };
struct select_sum {
    char text[SELECT_SUM_TEXT_MAX];
    double number; /* a size: kb */
};
int select_sum(const struct select *s, const char *name, enum select_kind kind, struct select_sum *out,
               struct err *e);

/* Call `each` once for every resource that some chunk has, in order of first appearance, until it does not return 0;
 * return its last result. */
int select_each_name(const struct select *s, int (*each)(void *context, const char *name), void *context);

/* The text again, each chunk with its count: "1:ncpus=1". -1: the buffer has failed. */
int select_format(const struct select *s, struct strbuf *out);

#endif
