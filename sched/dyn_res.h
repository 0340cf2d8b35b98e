#ifndef DYN_RES_H
#define DYN_RES_H
/* server_dyn_res: amounts that scripts of the site tell at the begin of a cycle, one after the other.
 *
 *   server_dyn_res: "licences !/opt/site/count_licences tool"
 *
 * Each runs by the shell, in a session of its own, for at most server_dyn_res_alarm seconds (0: as long as it takes). The first
 * line that it writes is what is available; whatever goes wrong makes it 0 for the cycle. A script is not run that others
 * than root or us own or can change, or of whose directories that is so (trusted.h). Loop
 * thread only.
 */
#include "policy.h"

struct dyn_res;
struct loop;

/* ^ All have been asked: policy->dynamic has their amounts; is any another than before? */
typedef void dyn_res_fn(void *arg, bool changed);

struct dyn_res *dyn_res_create(struct loop *l, struct policy *p, dyn_res_fn *done, void *arg, struct err *e);
void dyn_res_destroy(struct dyn_res *d); /* a script that runs is killed */

/* Ask; `done` is called when they have answered. false: there is nothing to be asked. None may be under way. */
bool dyn_res_ask(struct dyn_res *d);
bool dyn_res_is_asking(const struct dyn_res *d);

/* The policy's list is another now. What is under way is stopped, and not told. */
void dyn_res_forget(struct dyn_res *d);

#endif
