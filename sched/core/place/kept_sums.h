#ifndef KEPT_SUMS_H
#define KEPT_SUMS_H
/* What the vnodes of a stock leave alone for reservations, all together, by how long the asker would stay: the part of the sums of
 * stocks.h that depends on who asks.
 *
 *   kept_sums_begin    the vnodes have changed: nothing is known
 *   kept_sums_add      once for each bucket
 *   kept_sums_of       asked by any number of jobs that begin now
 *
 * So a job that waits beside reservations costs a bisection for each resource that it asks for, and not a look at each bucket. buckets.c
 * makes them when they are asked for and are not right any more. */
#include "stocks.h"

struct kept_sums;

struct kept_sums *kept_sums_create(void);
void kept_sums_destroy(struct kept_sums *s);

void kept_sums_begin(struct kept_sums *s, int64_t now_s);
/* `times` vnodes like this one. Its stock is borrowed until the next begin. */
void kept_sums_add(struct kept_sums *s, const struct stock *stock, const struct node *n, size_t times);
/* How much of this resource a job that begins at `now_s` of kept_sums_begin, and ends at until_s, must leave alone. The first call
 * after an addition is O(all × log of that), each other one O(log of all). */
int64_t kept_sums_of(struct kept_sums *s, const struct stock *stock, res_id res, int64_t until_s);
/* Does a reservation begin on a vnode of the stock before such a job would end? The same costs. */
bool kept_sums_any(struct kept_sums *s, const struct stock *stock, int64_t until_s);

#endif
