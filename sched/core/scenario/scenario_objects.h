#ifndef SCENARIO_OBJECTS_H
#define SCENARIO_OBJECTS_H
/* The server's side of a scenario: its objects as lines of text say them, told to a cluster as the stream would.
 * The lines are those of scenario.h for server, queue, job, node, sched and resource. */
#include "sched_cluster.h"
#include "words.h"

enum { SCENARIO_NOW_S = 1000000 }; /* when every scenario begins */

struct scenario_objects;

struct scenario_objects *scenario_objects_create(void);
void scenario_objects_destroy(struct scenario_objects *o); /* NULL is fine */

/* What this line says of its object; what an earlier line said of it is forgotten. `w` is scratch.
 * -1: EINVAL, no such kind of object. */
int scenario_objects_take(struct scenario_objects *o, struct words *w, struct err *e);
void scenario_objects_gone(struct scenario_objects *o, struct cluster *cl, const char *kind,
                           const char *name);

/* Tell the cluster what has changed. What vnodes use is summed up here, so they are told each time. */
void scenario_objects_feed(struct scenario_objects *o, struct cluster *cl);

#endif
