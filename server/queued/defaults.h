#ifndef DEFAULTS_H
#define DEFAULTS_H
/* Completing a request: defaults of queue and server, select and place from old forms, sums over chunks, and
 * schedselect (select with default_chunk). What is added is marked "defaulted", so that completing again after
 * an alteration starts from what the user asked for. */
#include "attr_list.h"
#include "err.h"
#include "queue.h"

struct server_ctx;

/* -1, with `l` changed in part (complete a copy):
 *   PBSE_INVALJOBRESC   a chunk resource job-wide beside select      PBSE_PLACENOSELECT place without select
 *   PBSE_INVALNODEPLACE nodes beside select or place                 PBSE_INVALSELECTRESC not a host resource
 *   PBSE_MAX_NO_MINWT, PBSE_MIN_GT_MAXWT, PBSE_SOFTWT_STF   walltimes of a job that shrinks
 *   PBSE_UNKRESC, PBSE_BADATVAL, PBSE_DUPRESC in select or place */
int defaults_complete(struct server_ctx *s, struct attr_list *l, const struct queue *q, struct err *e);

/* A select with names of resources as their rows have them, new, to be freed. NULL: `text` has them so, or cannot be read. */
char *defaults_spell_select(const struct server_ctx *s, const char *text);

/* Before a new select is set: remove what was asked of hosts in other forms (nodes=, ncpus= and similar). */
void defaults_make_way(const struct server_ctx *s, struct attr_list *l);

#endif
