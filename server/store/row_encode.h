#ifndef ROW_ENCODE_H
#define ROW_ENCODE_H
/* One object as statements of a batch: only the parts that are dirty. Loop thread. */
#include "store_batch.h"
#include "object.h"
#include "resource.h"
#include "strbuf.h"

struct row_encode {
    struct resource_table *resources;
    struct strbuf hot, attrs, fixed, fixed_attrs; /* grown once, used again for every object */
    int64_t order;                                /* of creation of objects, rising */
};

void row_encode_init(struct row_encode *x, struct resource_table *t);
void row_encode_fini(struct row_encode *x);

/* Append what writes these parts (enum change_part) of the object. -1: no memory, or a value that cannot be
 * written; then nothing is appended and the object must stay dirty. */
int row_encode_object(struct row_encode *x, const struct object *o, unsigned parts, struct store_batch *out);

#endif
