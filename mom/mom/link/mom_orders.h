#ifndef MOM_ORDERS_H
#define MOM_ORDERS_H
/* The orders of the server: each finds its run, checks that it may be said now, and posts. `arg` is struct mom. */
#include "exec_service.h"

extern const struct exec_service_order orders[];
extern const size_t orders_n;

struct mom;
struct run;

/* Ask the server for the rest of a script (^fetch of prepare). */
void mom_orders_fetch_script(void *arg, struct run *r, uint64_t offset);

#endif
