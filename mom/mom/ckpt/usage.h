#ifndef USAGE_H
#define USAGE_H
/* What running jobs use: sampled after $min_check_poll, then less and less often up to $max_check_poll, told to the
 * server, and held against their limits ($enforce; cput and vmem always). Where a program's handlers count (ckpt.h), more often
 * until $min_check_poll has passed. */

struct exec_usage;
struct mom;
struct run;

void usage_begin(struct mom *m, struct run *r);
void usage_end(struct run *r);

/* As the site counts it: $cputmult, $wallmult applied. */
struct exec_usage usage_counted(const struct mom *m, const struct run *r);

#endif
