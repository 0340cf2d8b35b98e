#ifndef PLAN_OFFER_H
#define PLAN_OFFER_H
/* A job that is to give way offers some of its vnodes: are they enough, and where would the urgent job run then?
 *
 * The planner has chosen vnodes without knowing which the victim can spare; so where the plan wants one that is not
 * offered, an offered one of the same kind may replace it. */
#include "err.h"
#include "earmark.h"
#include "job.h"
#include "strbuf.h"

struct server_ctx;

/* "n3,n4" or "host3": into `out` the victim's vnodes that are named, "n3+n4". -1, PBSE_IVALREQ: one is not of it. */
int plan_offer_names(const struct job *victim, const char *text, struct strbuf *out, struct err *e);

/* The victim's preempt record has the offer, and the earmark keeps nothing at this moment (earmark_sums_drop). 0:
 * into `out` where the urgent job is to run, perhaps as planned. -1, PBSE_RESCUNAV: it is not enough; the text says
 * what is missing. */
int plan_offer_place(const struct server_ctx *s, const struct earmark_obj *h, struct job *victim,
                     struct strbuf *out, struct err *e);

#endif
