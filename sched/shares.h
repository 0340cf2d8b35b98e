#ifndef SHARES_H
#define SHARES_H
/* Fairshare beside the cycle: its files, what running jobs use, and decay.
 *
 * resource_group and usage are read at start and after HUP. While the policy counts use (policy_counts_use), running jobs are
 * asked for what they have used (the stream of changes does not bring it), usage decays when that is due, and a thread writes
 * the usage file when it has changed. pbsfs may change the file meanwhile: what it wrote holds, and what was counted here since the
 * last writing is added to it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct accrual;
struct sched_link;
struct loop;
struct policy;
struct cluster;
struct shares;

struct shares_parts { /* borrowed */
    struct loop *loop;
    struct sched_link *link;
    struct cluster *cluster;
    struct accrual *accrual;
    const struct policy *policy;
};

struct shares *shares_create(const struct shares_parts *p, struct err *e);
void shares_destroy(struct shares *s); /* writes what is not written */

/* Read resource_group and usage of this directory; where there is something wrong with them it is in the log. */
void shares_read(struct shares *s, const char *priv);

/* Before a cycle: read usage again if pbsfs has changed it, or after HUP. true: it was read. */
bool shares_refresh(struct shares *s);

/* Once a second: what is due. now_s: wall clock of the server. true: usage is otherwise than
 * before, so jobs may be in another order. The cluster is whole. */
bool shares_tick(struct shares *s, int64_t now_s);

void shares_ask(struct shares *s);  /* what running jobs use, now; nothing while it is being asked */
void shares_lost(struct shares *s); /* the connection is: no answer will come */

#endif
