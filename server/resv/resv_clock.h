#ifndef RESV_CLOCK_H
#define RESV_CLOCK_H
/* Reservations, the clock, and their jobs: what has become due is posted to resv_fsm.
 *
 * resv_clock_look() compares a reservation with the clock and its jobs. It is called at the end of a turn in which something of one
 * changed (reservations_look_later), and by one timer. Without reservations nothing is called. Loop thread only. */
#include "job.h"
#include "job_fsm.h"
#include "reservations.h"
#include "server_events.h"

/* Bind the actions of the machine, and create the timer. Called once, before the first event. -1: no memory. */
int resv_clock_bind(struct reservations *all, struct err *e);
/* After a restart, when jobs are in their states: what became due meanwhile. */
void resv_clock_enter(struct reservations *all);

/* Listener of job_fsm: a job of a reservation has begun or ended; a job that has begun may be given a reservation of its own. */
void resv_clock_listen(void *reservations, struct job *j, enum job_state from, enum job_event ev);
/* Listener of EVENT_RUN_SAVABLE: the job may have stayed on vnodes that are drained for a maintenance. */
void resv_clock_on_savable(void *reservations, const struct server_event *ev);
/* Listener of EVENT_NODE_STATE: a reservation may have lost a vnode, or have it back. */
void resv_clock_on_vnode(void *reservations, const struct server_event *ev);
/* Listener of EVENT_RESV_LEFT: from now on it may be idle. */
void resv_clock_on_left(void *reservations, const struct server_event *ev);
/* A vnode was deleted. */
void resv_clock_vnode_gone(struct reservations *all);
/* The clock was set, or how long before their end reservations are over: stored times of the machine are not moved, so all are looked at. */
void resv_clock_set(struct reservations *all);

#endif
