#ifndef AMOUNTS_TEXT_H
#define AMOUNTS_TEXT_H
/* "ncpus=2:mem=1gb": resources of a chunk or of a vnode, as a list of pairs of texts.
 *
 * Order is kept. Values that hold : + ( ) or blanks are quoted. Which resources there are and what types they have is
 * not known here. Public struct: select.h and exec_vnode.h hand it out to be walked fast; written here only.
 */
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct strbuf;

struct amount_text {
    char *name;
    char *value; /* without its quotes */
};

struct amounts_text {
    size_t n;
    struct amount_text *a;
};

void amounts_text_fini(struct amounts_text *l);

/* Read pairs from *at on until a character of `end` (or the end of the text) that no quote protects; *at is then
 * there. Appended to `l`. -1 with *at at the faulty character:
 *   PBSE_BADATVAL  no '=', no name, an empty value, a quote that is not closed
 *   PBSE_DUPRESC   a name occurs twice (case counts); the text ends with the name
 *   PBSE_SYSTEM    no memory */
int amounts_text_parse(const char **at, const char *end, struct amounts_text *l, struct err *e);

int amounts_text_add(struct amounts_text *l, const char *name, const char *value, struct err *e);
const char *amounts_text_find(const struct amounts_text *l,
                              const char *name); /* its value, NULL: not there */

/* "name=value:name=value"; nothing for an empty list. -1: the buffer has failed. */
int amounts_text_format(const struct amounts_text *l, struct strbuf *out);

#endif
