#ifndef PARTIAL_RELEASE_H
#define PARTIAL_RELEASE_H
/* Method P: a job gives the vnodes that it has offered in answer to a notice, and runs on with the rest. No request
 * names its letter; it comes before the others in the preempt record of a job whose offer was accepted. */
struct stop_methods;
struct partial_release;
struct release_nodes;

struct partial_release *partial_release_create(struct release_nodes *z, struct stop_methods *m);
void partial_release_destroy(struct partial_release *p);

#endif
