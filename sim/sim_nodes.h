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

struct cluster;
struct words;

struct cluster *cluster_create(void); /* empty; NULL: no memory */
void cluster_destroy(struct cluster *c);

/* `names` in the short form ("s[1-4]"), amounts as "ncpus=4". -1: EINVAL what is wrong, E2BIG more than HELLO takes. */
int cluster_add(struct cluster *c, const char *names, const char *const *amounts, size_t n, struct err *e);
int cluster_read(struct cluster *c, const char *path, struct err *e);

exec_node *cluster_nodes(const struct cluster *c, size_t *n); /* borrow */

#endif
