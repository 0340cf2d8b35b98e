#ifndef CLASS_HEAP_H
#define CLASS_HEAP_H
/* The classes of a cycle that may run, the one whose next job goes first of all on top.
 *
 * With fair_share each job that starts changes the order of all classes of its entity against the others,
 * but not among themselves. So there is a heap for each entity, and a heap of these: a start costs
 * O(entities), not O(classes). Without shares all classes are of one entity.
 *
 * A cycle fills it (clear, add ..., order) and then takes from the top. It owns no class; one that is in it
 * has jobs, until its top_moved. Jobs of other classes may come and go meanwhile. */
#include <stddef.h>

#include "classes.h"

struct class_heap;

/* Never NULL. `cl` is borrowed for its policy. */
struct class_heap *class_heap_create(struct cluster *cl);
void class_heap_destroy(struct class_heap *h);

void class_heap_clear(struct class_heap *h);
/* Add a class that has jobs and its level; class_heap_order comes before the next look. O(1). */
void class_heap_add(struct class_heap *h, struct class *k);
/* Anything may have changed but the levels: put all into order. O(classes). */
void class_heap_order(struct class_heap *h);
/* The same, and find the level of each again: where levels follow soft limits or shares
 * (preempt_level_moves). */
void class_heap_relevel(struct class_heap *h);

size_t class_heap_size(const struct class_heap *h);
struct class *class_heap_top(const struct class_heap *h); /* NULL: none is left */
/* The top has another next job, or has used up some of its share: put it where it belongs. Without jobs it
 * leaves. O(log classes), or O(entities) where groups of entities are nested. */
void class_heap_top_moved(struct class_heap *h);
void class_heap_drop_top(struct class_heap *h);

#endif
