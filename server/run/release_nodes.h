#ifndef RELEASE_NODES_H
#define RELEASE_NODES_H
/* A running job gives vnodes back: pbs_release_nodes, and release_nodes_on_stageout when the script is over.
 *
 * At once the job's exec_vnode, exec_host, Resource_List and schedselect say what it keeps; their _orig attributes keep
 * the earlier values until the run is over, and a requeue restores them. The vnodes themselves are
 * free when their host has reported the release, as at the end of a job. Accounting writes u and c records at EVENT_RUN_PHASE_OVER and _BEGUN.
 *
 * It is method P of preemptions too: a job gives the vnodes that it has offered in answer to a notice, and runs on with the rest. No
 * request names its letter; it comes before the others in the preempt record of a job whose offer was accepted. */
#include "err.h"
#include "job.h"
#include "job_fsm.h"

struct exec_send;
struct release_nodes;
struct server_ctx;
struct server_event;
struct stop_methods;

struct release_nodes *release_nodes_create(struct server_ctx *s, struct exec_send *x, struct stop_methods *m);
void release_nodes_destroy(struct release_nodes *z);

struct release_nodes_ask {
    const char *vnodes; /* "n2+n3"; NULL or "": every host but the first */
    const char *keep;   /* instead of vnodes: a select, or a number of hosts beside the first; NULL: not so */
    const char *by;     /* for the log */
    bool before_script; /* a hook of the first host has asked for it: no phase of the job ends */
};

/* -1 with nothing changed: PBSE_BADSTATE the job is not running, PBSE_IVALREQ what is named cannot be released,
 * PBSE_BADATVAL, PBSE_DUPRESC the select. */
int release_nodes_release(struct release_nodes *z, struct job *j, const struct release_nodes_ask *ask,
                          struct err *e);

/* Could that be done? As release_nodes_release, with nothing changed. */
int release_nodes_check(const struct release_nodes *z, const struct job *j,
                        const struct release_nodes_ask *ask, struct err *e);

/* Listener of the machine, bound before accounting: the script is over. */
void release_nodes_listen(void *resize, struct job *j, enum job_state from, enum job_event ev);

/* Listener of EVENT_RUN_HOOK: what job.release_nodes() of a hook has asked for, said by the host when the job runs. arg: struct
 * release_nodes. */
void release_nodes_on_hook(void *arg, const struct server_event *ev);

/* The run is gone and the job waits again: it asks for what it asked for at first. */
void release_nodes_forget(struct job *j);

#endif
