#ifndef AMOUNTS_H
#define AMOUNTS_H
/* How much of which resources: a short array sorted by resource number.
 *
 * Numbers are those of the catalogue; an amount is in the resource's own unit (sizes in kb, times in seconds,
 * floats in millionths). What is not in the list is 0. Fields may be read; they are written here only.
 */
#include <stdbool.h>
#include <stdint.h>

typedef uint16_t res_id;

struct amount {
    res_id res;
    int64_t n;
};

struct amounts {
    uint32_t n, cap;
    struct amount *a;
};

void amounts_fini(struct amounts *l);
void amounts_clear(struct amounts *l); /* empty; keeps the memory */
void amounts_copy(struct amounts *to, const struct amounts *from);

int64_t amounts_get(const struct amounts *l, res_id res); /* 0 when missing */
bool amounts_has(const struct amounts *l, res_id res);
void amounts_set(struct amounts *l, res_id res, int64_t n);
void amounts_plus(struct amounts *l, res_id res, int64_t n);

void amounts_add(struct amounts *l, const struct amounts *other);
void amounts_add_times(struct amounts *l, const struct amounts *other, int64_t times); /* may be negative */
void amounts_sub(struct amounts *l, const struct amounts *other);

/* Return true if everything in `need` is there. A need of 0 or less always is. *missing: the first resource that is not. */
bool amounts_cover(const struct amounts *have, const struct amounts *need, res_id *missing);

/* How many times `need` fits into `have`, at most `most`; `most` when it needs nothing at all. Never below
 * 0. */
int64_t amounts_times(const struct amounts *have, const struct amounts *need, int64_t most);

bool amounts_equal(const struct amounts *a, const struct amounts *b);
uint64_t amounts_hash(const struct amounts *l, uint64_t seed);

#endif
