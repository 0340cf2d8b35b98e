#ifndef ASSIGN_H
#define ASSIGN_H
/* Claims of jobs on vnodes and shared resources. Every run request is checked here against what is free and not
 * earmarked.
 *
 * A run claims its amounts on each vnode of its exec_vnode and the consumables of server and queue; they are
 * given back host by host. Derived, never stored: after a restart each job in a run claims again. Only `force`
 * (qrun -H, restart) may take more than there is.
 */
#include "exec_vnode.h"
#include "job.h"
#include "node.h"

struct assign;
struct server_ctx;

struct assign *assign_create(struct server_ctx *s);
void assign_destroy(struct assign *a);

/* How a run is claimed. */
struct assign_ask {
    const struct exec_vnode *where;
    bool force; /* whatever is free */
};

/* Take it: all or nothing; same errors. */
int assign_claim(struct assign *a, struct job *j, const struct assign_ask *ask, struct err *e);

/* This job no longer uses this vnode. Silent if it does not. */
void assign_release_node(struct assign *a, struct job *j, const struct node *n);
/* What is left, and what it has of server and queue. */
void assign_release_all(struct assign *a, struct job *j);

/* Give back what it has of server and queue, or take it (again): around a change of its Resource_List. */
void assign_share(struct assign *a, struct job *j, bool take);

/* What a suspended job gives back. */
struct assign_gift {
    const char *only; /* amounts of the resources in this list; NULL: all */
    bool vnodes;      /* and its vnodes: others may have them alone meanwhile */
};
/* A suspended job stays on its vnodes but gives that back. It is taken again before the job resumes: -1 PBSE_RESCUNAV
 * when it has gone. */
void assign_suspend(struct assign *a, struct job *j, const struct assign_gift *gift);
int assign_resume(struct assign *a, struct job *j, bool force, struct err *e);

#endif
