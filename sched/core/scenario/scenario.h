#ifndef SCENARIO_H
#define SCENARIO_H
/* Scheduling cases as text: a cluster in a few lines, and what the core decides about it.
 *
 *   sched NAME=VALUE                    an attribute of the sched object (blanks in VALUE as _)
 *   node NAME RES=N ... [@attr=value]   resources_available, or an attribute of the vnode
 *   queue NAME [attr=value ...]         started, an execution queue
 *   server attr.res=value ...
 *   job ID QUEUE STATE [attr=value ...] STATE is Q, R, E, S (suspended by the scheduler), H; attr may be
 *                                       Resource_List.x; select, place, exec are short for what they mean
 *   resv ID [attr=value ...]            a reservation: state, substate (numbers), start, end, retry, starts (seconds from the
 *                                       beginning), select, place, nodes (its exec_vnode), all (reserve_execvnodes), index, count
 *   gone KIND NAME
 *   cycle [SECONDS]                     decide, so long after the beginning; what follows is about that cycle
 *   run ID [EXEC_VNODE] / resume ID     it was decided to run this job next
 *   preempt ID VICTIM ...               ... to stop these, in this order
 *   top ID SECONDS|no [EXEC_VNODE]      ... to tell it that it will begin so long after the beginning; beside the others
 *   lasts ID SECONDS                    ... with this walltime, which it is given; 0: with its own; beside the others
 *   turn ID VICTIM ...                  ... to suspend these, since it is its turn
 *   refuse ID
 *   confirm ID [EXEC_VNODE] / deny ID ["WHY"]  a reservation is confirmed, or refused
 *   at ID SECONDS|never                 ... to begin, or it could begin, so long after the beginning; beside the others
 *   confirmed ID [CODE]                 the server's answer to that
 *   would ID confirmed|WHY              what would be decided about a reservation, between cycles
 *   idle                                what was told since the last cycle does not make another one due
 *   nothing                             no more decisions
 *   config NAME=VALUE ...               of sched_config, as far as the core knows it; sort keys as ncpus,HIGH,unused
 *   shares "LINE" ...                   resource_group
 *   holidays "LINE" ...                 the file; the cycle at 0 is on Monday, January 12, 1970, 13:46:40, in local time
 *   dedicated "LINE" ...                the file dedicated_time
 *   usage ENTITY N                      it has used so much
 *   used ENTITY N                       it shall have used so much
 *   clock SECONDS                       what time accrual is told
 *   comment ID TEXT                     what the job shall say
 *   explain ID VERDICT [OTHER=WHAT ...] what a cycle would do for it; WHAT of another job: S, S:LOST or S:LOST:BACK of
 *                                       a victim (BACK in seconds from now, "never" or "?"), or why it is spared
 *   because ID TEXT                     ... one of the reasons why it waits
 *   expect ID SECONDS|unknown [ALONE [PLACE]]  when it is expected, when without the jobs before it, where
 *   rests ID WHAT:NAME:SECONDS ...      what that rests on, all of it: runs, before, resv, and until when (-: not known)
 *   refusal ID N VNODE ... TEXT         so many vnodes, which are these, refuse it with these words (room: they do not)
 *   events MASK                         from now on, what the log takes; in the beginning 767
 *   log OBJECT TEXT / nolog OBJECT TEXT the cycle's lines have this one, or have it not; OBJECT - : of the cycle itself; TEXT
 * may be in quotes
 *   took ID / failed ID CODE            the server's answer to an order
 *   taken ID / refused ID               the server takes the plan for this job over, or will not have it
 *   answers ID VICTIM=LETTER ...        the server's answer to a preemption; decisions follow
 *   turned ID VICTIM=LETTER ...         the same of a turn: S suspended, 0 not
 *
 * For tests and for pbs_sim; jobs that run are counted on their vnodes by the reader.
 */
#include "err.h"

/* Play a file; for tests. 0, or -1 with the line and what was otherwise than it says. */
int scenario_play(const char *path, struct err *e);

#endif
