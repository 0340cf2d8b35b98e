#ifndef ORDER_MAKE_H
#define ORDER_MAKE_H
/* A run and its owner make the shepherd's order. No file is touched. */
#include "err.h"

struct home;
struct names_user;
struct run;
struct shep_order;

/* Fill *out, which the caller has zeroed and frees with xdr_free in either case. -1: PBSE_BADGRP, PBSE_BADATVAL a limit
 * cannot be read, PBSE_SYSTEM. */
int order_make(const struct home *h, const struct run *r, const struct names_user *u, struct shep_order *out,
               struct err *e);

#endif
