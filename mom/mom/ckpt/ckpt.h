#ifndef CKPT_H
#define CKPT_H
/* Checkpoints of a run: by the site's scripts, on order of the server or as the job asked for by -c. The files: images.h.
 */
#include <stdbool.h>

#include "err.h"

struct config;
struct exec_usage;
struct home;
struct mom;
struct run;
struct shep_declared;
struct shep_order;
struct strbuf;

bool ckpt_is_offered(const struct config *c); /* there is a script for it */

/* Directory and restart of an order. -1, PBSE_CKPSHORT: START names an image that is not here. */
int ckpt_plan(const struct home *h, const struct run *r, struct shep_order *o, struct err *e);

/* Begin the attempt that the run describes. CHECKPOINTED or ATTEMPT_FAILED is posted, perhaps inside this. */
void ckpt_begin(struct mom *m, struct run *r);
void ckpt_say(struct mom *m, struct run *r); /* the event, for the server */

/* To be called before FINISH. A run that ended badly after a notice, or was ended by order, may go back: what its program has saved for
 * itself by then (notice_save.h) counts as its image, which the server drops where the job is over. */
void ckpt_keep_saved(struct mom *m, struct run *r);

/* Signals for which a program of the job has a handler (shep_seen): with the one of ckpt-app it counts as one that saves itself, where
 * that adapter is used without a word of the site. The server is told once. */
bool ckpt_wants_handlers(const struct mom *m, const struct run *r); /* it would be news, and count */
void ckpt_saw_handlers(struct mom *m, struct run *r, unsigned handlers);

/* shepherds_hooks.declared: its programs say through PMIx that they save themselves, or not any more, and whether they take part. */
void ckpt_declared(void *mom, struct run *r, const struct shep_declared *a);

/* A sample of usage has come: is a checkpoint due that the job has asked for? (On several hosts the server looks.) */
void ckpt_look(struct mom *m, struct run *r, const struct exec_usage *used);

#endif
