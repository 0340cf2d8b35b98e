#ifndef NOTICE_HOSTS_H
#define NOTICE_HOSTS_H
/* What the hosts of a job have answered to its notice, and what that is as the answer of the job (doc/pmix.md, "Several hosts").
 *
 * A host takes part if its programs have declared themselves through PMIx, or have answered the present notice. Hosts that are over, lost,
 * or given back do not. What a host has answered is its last answer (run_host.answer); of several programs of a host the PMIx helper there
 * makes one answer. Without I/O; callers store the run. */
#include <stdbool.h>

struct run;

void notice_hosts_begin(struct run *r); /* a notice is given: no host has answered it */

/* Return true if a host has said that it is ready, or has saved itself, and so has every other host that takes part. A host that could not
 * tell its job (EXEC_NOTICE_REFUSE) keeps none waiting. */
bool notice_hosts_are_ready(const struct run *r);

/* The answer of the job, enum exec_notice_answer. The first of these that is true of a host: it would rather not, it offers vnodes, it
 * needs time. Else, where all are ready: SAVED if all have saved themselves, REFUSE if none could tell the job, READY. 0: neither. */
int notice_hosts_answer(const struct run *r);

#endif
