#ifndef EARMARK_LINKS_H
#define EARMARK_LINKS_H
/* A hold, the job that it is for and the victims that it awaits: who knows of whom. Both ends are set and cut together:
 *
 *   hold->job      <-> job->room
 *   hold->victims  <-> job->gives_way_to    until the victim has settled
 *
 * A hold references its jobs. The names of all victims, settled ones too, stand in its row. */
#include "err.h"

struct earmark_obj;
struct job;
struct server_ctx;
struct words;

/* The room is for this job, which counts as running from now on. */
void earmark_links_job(struct server_ctx *s, struct earmark_obj *h, struct job *j);
/* This one gives way to it. -1: no memory. */
int earmark_links_victim(struct earmark_obj *h, struct job *j);
/* It has settled: the hold no longer awaits it, and drops its reference. The victim's end is the caller's. */
void earmark_links_strike(struct earmark_obj *h, struct job *j);
/* Job and victims no longer know of the hold. */
void earmark_links_cut(struct server_ctx *s, struct earmark_obj *h);

/* All victims by name, from the row. `out` is filled anew; words_fini is the caller's, also after -1: no memory. */
int earmark_links_names(const struct earmark_obj *h, struct words *out);

#endif
