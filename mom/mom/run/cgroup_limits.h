#ifndef CGROUP_LIMITS_H
#define CGROUP_LIMITS_H
/* What a run is held within on this host by cgroups: memory, number of processes, processors, devices. doc/cgroups.md */
#include <stddef.h>

#include <shep.h>

#include "err.h"

struct home;
struct run;
struct runs;

/* Choose the processors of `r`, as many of each vnode's share as its chunks ask for, those that other runs use least; they
 * are in r->cpus until it is over. NULL there: it is not bound. */
void cgroup_limits_choose_cpus(const struct home *h, struct runs *all, struct run *r);

/* Into the order: a group for each bound that this host can hold and the site wants held. -1: no memory. */
int cgroup_limits_make(const struct home *h, const struct run *r, struct shep_order *o, struct err *e);

/* The same where there are no groups: how many processes the owner may have on the host altogether; 0: no matter. */
uint64_t cgroup_limits_processes_of_user(const struct home *h);

/* "suspend:cgroup v2,memory:cgroup v1,...": what holds jobs here. And what a person should know of it, "" is nothing. */
void cgroup_limits_describe(const struct home *h, char *text, size_t max);
void cgroup_limits_warn(const struct home *h, char *text, size_t max);

#endif
