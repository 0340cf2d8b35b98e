#ifndef PRETERM_H
#define PRETERM_H
/* Hooks of execjob_preterm: the first host of each running job that a request would delete is asked before anything is deleted.
 *
 * Only the requests of people ask, and not with force: what the server ends by itself, and what gives way to an urgent job, is not refused.
 * While no hook has the event, nothing is asked. Loop thread only. */
#include <sys/types.h>

#include <stdbool.h>

#include "err.h"
#include "parts.h"
#include "request.h"

struct job;
struct preterm; /* what the hosts have said */

/* ^ All have answered. `said` is borrowed for the call. */
typedef void preterm_fn(struct parts *p, struct request *r, const struct preterm *said);

/* True: the request waits, and fn is called once, later. False: no host is asked. ids: jobs, arrays, subjobs and ranges. */
bool preterm_ask(struct parts *p, struct request *r, char *const *ids, u_int n, preterm_fn *fn);

/* 0: it may be deleted, also where said is NULL. -1, for an array if it is so for one of its subjobs: PBSE_HOOK_REJECT with the hook's
 * words, PBSE_NORELYMOM: its host cannot be asked. */
int preterm_check(const struct preterm *said, const struct job *j, struct err *e);

#endif
