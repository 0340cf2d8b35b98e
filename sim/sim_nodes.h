#ifndef SIM_NODES_H
#define SIM_NODES_H
/* The simulated vnodes: names and what each offers, ready for HELLO.
 *
 * A file has a line for each kind: names in the short form, then amounts:
 *
 *     s[1-1000]      ncpus=64 mem=256gb
 *     gpu[01-16]     ncpus=32 mem=512gb ngpus=4
 */
#include <exec.h>
#include <stddef.h>

#include "err.h"

struct sim_nodes;
struct words;

struct sim_nodes *sim_nodes_create(void); /* empty; NULL: no memory */
void sim_nodes_destroy(struct sim_nodes *c);

/* Add vnodes: `names` in the short form ("s[1-4]"), amounts as "ncpus=4". -1: EINVAL what is wrong, E2BIG more than
 * HELLO takes. */
int sim_nodes_add(struct sim_nodes *c, const char *names, const char *const *amounts, size_t n,
                  struct err *e);
int sim_nodes_read(struct sim_nodes *c, const char *path, struct err *e);

exec_node *sim_nodes_get(const struct sim_nodes *c, size_t *n); /* borrow */

#endif
