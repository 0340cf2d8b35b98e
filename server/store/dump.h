#ifndef DUMP_H
#define DUMP_H
/* Dumps a whole store to a file of lines, and fills a store from such a file or from another store.
 *
 *   {"cede_dump":1,"schema":2,"store":"SQLite","made":"2026-05-01T10:00:00Z","version":"0.1.0"}
 *   ["meta","epoch","7"]                 a row each, dump_line.h; doc/running.md tells the columns
 *   ...
 *   {"rows":41,"sha256":"HEX"}           of every byte before this line
 *
 * A fill is one transaction: a fill that is interrupted, or finds a fault in its last line, leaves the
 * store as it was. A filled store begins EPOCH_STRIDE epochs above the copy, so that MOMs obey its server, and
 * no server of an older copy.
 */
#include <stdint.h>
#include <stdio.h>

#include "store.h"
#include "store_table.h"

/* A choice: more activations than a store can have had since it was dumped. */
enum { DUMP_FORMAT = 1, DUMP_EPOCH_STRIDE = 1 << 20 };

struct dump_counts {
    uint64_t rows, jobs; /* of all tables; of table job */
};

/* Write the store as it is at one moment; its server may be running. -1: the store cannot be read, was made by
 * another version of the tables, or was used by no server yet; or the file cannot be written. */
int dump_write(struct store *from, FILE *to, struct dump_counts *out, struct err *e);

/* Fill a store of which the lease is held (lease_hold) from a dump. -1, with the store as it was:
 *   EEXIST   it is in use (has an identity), and `replace` is false
 *   EINVAL the file is not a dump, is of another version, is cut off or altered: the text names the line */
int dump_read(struct store *to, FILE *from, bool replace, struct dump_counts *out, struct err *e);

/* The same from another store, as it is at one moment. */
int dump_copy(struct store *to, struct store *from, bool replace, struct dump_counts *out, struct err *e);

#endif
