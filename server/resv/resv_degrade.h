#ifndef RESV_DEGRADE_H
#define RESV_DEGRADE_H
/* Reservations that have lost vnodes: when it is seen, when other vnodes are asked for. */
#include "node.h"
#include "reservations.h"

/* Post LOST or BACK, if its vnodes say so; ask for others when it is time; `next`: when it will be. Not from an action. */
void resv_degrade_look(struct reservations *all, struct resv *r, int64_t now, int64_t *next);
/* Actions. */
void resv_degrade_begin(void *arg, struct resv *r);
void resv_degrade_end(void *arg, struct resv *r);
void resv_degrade_retry(void *arg, struct resv *r);
/* A maintenance reservation is gone: others may have the vnodes again that it took. */
void resv_degrade_released(struct reservations *all);

#endif
