#ifndef COMMENTS_H
#define COMMENTS_H
/* Telling waiting jobs why they wait, without keeping any job from starting.
 *
 * A comment is sent when the scheduler has nothing better to do, and only so many are open at a time; the rest
 * follows as answers come. A job that has the right comment already is not told again.
 */
struct comments;
struct cycle;
struct sched_link;
struct loop;

#include "err.h"

struct comments *comments_create(struct loop *l, struct sched_link *k, struct cycle *c, struct err *e);
void comments_destroy(struct comments *m);

void comments_poke(struct comments *m);   /* there may be something to tell */
void comments_busy(struct comments *m);   /* jobs are being started: later */
void comments_forget(struct comments *m); /* connection lost */

#endif
