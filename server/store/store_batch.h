#ifndef STORE_BATCH_H
#define STORE_BATCH_H
/* Statements with their parameters encoded in one block of bytes: made on the loop, run by the writer.
 *
 * A batch is filled statement by statement: store_batch_begin names one, then its parameters in order. Nothing
 * in it points to an object. Additions that find no memory mark the batch failed; it is then not to be used.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_BATCH_PARAMS_MAX = 16 };

enum store_batch_type { STORE_BATCH_NULL, STORE_BATCH_NUMBER, STORE_BATCH_TEXT, STORE_BATCH_BYTES };

struct store_batch_param {
    enum store_batch_type type;
    int64_t number;
    const char *bytes; /* of TEXT (followed by a NUL) and BYTES */
    size_t n;
};

struct store_batch_stmt {
    unsigned id; /* enum stmt_id of schema.h */
    unsigned n;
    struct store_batch_param param[STORE_BATCH_PARAMS_MAX];
};

struct store_batch;

struct store_batch *store_batch_create(void); /* NULL: no memory */
void store_batch_destroy(struct store_batch *b);
void store_batch_clear(struct store_batch *b);

void store_batch_begin(struct store_batch *b, unsigned id);
void store_batch_null(struct store_batch *b);
void store_batch_number(struct store_batch *b, int64_t n);
void store_batch_text(struct store_batch *b, const char *text); /* NULL: null */
void store_batch_text_n(struct store_batch *b, const char *text, size_t n);
void store_batch_bytes(struct store_batch *b, const void *bytes, size_t n);

bool store_batch_is_ok(const struct store_batch *b);
bool store_batch_is_empty(const struct store_batch *b);
size_t store_batch_count(const struct store_batch *b); /* statements */
size_t store_batch_size(const struct store_batch *b);  /* bytes */

/* Walk: *at is 0 at first. false: no more. `out` points into the batch. */
bool store_batch_next(const struct store_batch *b, size_t *at, struct store_batch_stmt *out);

/* A statement alone, for queries: stmt_init, then its parameters (borrowed). */
void stmt_init(struct store_batch_stmt *s, unsigned id);
void stmt_number(struct store_batch_stmt *s, int64_t n);
void stmt_text(struct store_batch_stmt *s, const char *text);

#endif
