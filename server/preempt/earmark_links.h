#ifndef EARMARK_LINKS_H
#define EARMARK_LINKS_H
/* Links between an earmark, its urgent job and the victims it waits for. Both ends are set and cut together:
 *
 *   earmark->job      <-> job->room
 *   earmark->victims  <-> job->gives_way_to    until the victim has settled
 *
 * An earmark references its jobs. Its row has the names of all victims, settled ones too. */
#include "err.h"

struct earmark_obj;
struct job;
struct server_ctx;
struct words;

/* Link the earmark to its urgent job, which counts as running from now on. */
void earmark_links_job(struct server_ctx *s, struct earmark_obj *h, struct job *j);
/* Link a victim to the earmark. -1: no memory. */
int earmark_links_victim(struct earmark_obj *h, struct job *j);
/* Unlink a victim that has settled, and drop the reference to it. The caller handles the victim's end. */
void earmark_links_strike(struct earmark_obj *h, struct job *j);
/* Unlink the job and all victims from the earmark. */
void earmark_links_cut(struct server_ctx *s, struct earmark_obj *h);

/* All victims by name, from the row. Replaces what is in `out`; the caller calls words_fini, also after -1: no memory. */
int earmark_links_names(const struct earmark_obj *h, struct words *out);

#endif
