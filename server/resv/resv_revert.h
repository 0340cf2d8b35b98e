#ifndef RESV_REVERT_H
#define RESV_REVERT_H
/* What a reservation had before an alteration that has not been decided yet: reserve_alter_revert, "start end duration substate", with
 * " forced" behind it when the alteration holds whatever schedulers answer. */
#include "resv.h"
#include "resv_times.h"

bool resv_revert_get(const struct resv *r, struct resv_times *was, int *substate); /* false: none */
/* Keep the present times and substate. -1: no memory. */
int resv_revert_keep(struct resv *r, bool forced);
int64_t resv_revert_end(const struct resv *r); /* the end that it had; INT64_MAX: no alteration */
/* The alteration is one of the start; it is by force. */
bool resv_revert_moves_start(const struct resv *r);
bool resv_revert_is_forced(const struct resv *r);

#endif
