#ifndef PARTIAL_RELEASE_H
#define PARTIAL_RELEASE_H
/* Method P: a job gives the vnodes that it has offered in answer to a notice, and runs on with the rest. Nobody asks for
 * it by its letter; it stands before the others in the mark of a job whose offer was accepted. */
struct methods;
struct partial;
struct resize;

struct partial *partial_create(struct resize *z, struct methods *m);
void partial_destroy(struct partial *p);

#endif
