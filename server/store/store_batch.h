#ifndef STORE_BATCH_H
#define STORE_BATCH_H
/* Statements with their parameters as one block of finished bytes: made on the loop, run by the writer.
 *
 * A batch is filled statement by statement: batch_begin names one, then its parameters in order. Nothing in it
 * points to an object. Additions that find no memory mark the batch failed; it is then not to be used.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BATCH_PARAMS_MAX = 16 };

enum batch_type { BATCH_NULL, BATCH_NUMBER, BATCH_TEXT, BATCH_BYTES };

struct batch_param {
    enum batch_type type;
    int64_t number;
    const char *bytes; /* of TEXT (a NUL stands behind it) and BYTES */
    size_t n;
};

struct batch_stmt {
    unsigned id; /* enum stmt_id of schema.h */
    unsigned n;
    struct batch_param param[BATCH_PARAMS_MAX];
};

struct batch;

struct batch *batch_create(void); /* NULL: no memory */
void batch_destroy(struct batch *b);
void batch_clear(struct batch *b);

void batch_begin(struct batch *b, unsigned id);
void batch_null(struct batch *b);
void batch_number(struct batch *b, int64_t n);
void batch_text(struct batch *b, const char *text); /* NULL: null */
void batch_text_n(struct batch *b, const char *text, size_t n);
void batch_bytes(struct batch *b, const void *bytes, size_t n);

bool batch_is_ok(const struct batch *b);
bool batch_is_empty(const struct batch *b);
size_t batch_count(const struct batch *b); /* statements */
size_t batch_size(const struct batch *b);  /* bytes */

/* Walk: *at is 0 at first. false: no more. `out` points into the batch. */
bool batch_next(const struct batch *b, size_t *at, struct batch_stmt *out);

/* A statement alone, for queries: stmt_init, then its parameters (borrowed). */
void stmt_init(struct batch_stmt *s, unsigned id);
void stmt_number(struct batch_stmt *s, int64_t n);
void stmt_text(struct batch_stmt *s, const char *text);

#endif
