#ifndef HOOK_ALTER_H
#define HOOK_ALTER_H
/* Changes that hooks ask for, made in jobs and vnodes of this server. Loop thread only. */
#include "hook_alter.h"
#include "hook_changes.h"
#include "hook_server.h"

struct job;
struct node;

/* The first attribute of a job among the changes that is not one of `allowed`, which NULL ends; NULL: there is none. */
const char *hook_alter_forbidden(const struct hook_changes *c, const char *const allowed[]);

/* Alter a job as hook `by` asked, where the event permits it: only attributes of `allowed`. Others are an error in the log, which ends in
 * `when`: "after runjob request has been rejected". */
void hook_alter_job(const struct hook_server *s, struct job *j, const char *by, const struct hook_changes *c,
                    const char *const allowed[], const char *when);

/* Make those of `allowed` as one alteration of the job: all of them, or (-1, what alter_job says) none. Others are left out. */
int hook_alter_job_whole(const struct hook_server *s, struct job *j, const char *by,
                         const struct hook_changes *c, const char *const allowed[], struct err *e);

/* Change the vnodes that hook `by` has set: their state and attributes, as a manager may. What cannot be is said in the log. */
void hook_alter_vnodes(const struct hook_server *s, const char *by, const struct hook_changes *c);

/* Set the state of a vnode as a hook has written it: the number of the bits, or words. Offline is all that it decides. -1: it cannot be read. */
int hook_alter_vnode_state(const struct hook_server *s, struct node *n, const char *value, struct err *e);

#endif
