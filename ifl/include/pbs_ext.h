/* pbs_ext.h: what libpbs offers beyond OpenPBS's pbs_ifl.h: the delta stream, calls in two halves,
 * and what a scheduler needs. Errors are as in pbs_ifl.h: a function that returns a number of its own
 * returns -1 and sets pbs_errno; the text is pbs_geterrmsg(c). `c` is a connection of pbs_connect().
 *
 * Calls in two halves. A `..._send` sends a call and returns its ticket at once (> 0, or -1); many may be
 * under way on one connection, and are answered in any order. Each ticket is received exactly once, by
 * pbs_recv() unless its send names another function, or given up by pbs_drop(). So one thread with an
 * event loop serves many calls:
 *
 *     int t = pbs_runjob_send(c, "12.host", "(n1:ncpus=2)", NULL);
 *     ...                                          whenever pbs_fd(c) is readable:
 *     while ((t = pbs_next_ready(c)) > 0)
 *         code = pbs_recv(c, t);                   does not wait now
 *
 * When the connection is lost every ticket is ready, and is received with the reason. Several threads may use one
 * connection: a waiting thread reads for all. pbs_next_ready() belongs to one thread that receives all tickets of the
 * connection. */
#ifndef PBS_EXT_H
#define PBS_EXT_H

#include <stddef.h>
#include <stdint.h>

#include "pbs_ifl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- progress ---------------------------------------------------------------------------------- */

/* The descriptor to poll for reading, or -1. Never to be read. It stays the same for the life of the
 * connection. Poll only after pbs_next_ready() has said 0: an answer may have been read already. */
int pbs_fd(int c);

/* 1 when receiving this ticket will not wait, 0 when it would, -1 when there is no such ticket.
 * Reads what is there. */
int pbs_ready(int c, int ticket);

/* A ticket that is ready and not yet received, the one sent first; 0 when there is none; -1 when c is not a
 * connection. Reads what is there. The same again until it is received or dropped. */
int pbs_next_ready(int c);

/* Wait for a simple call. 0 or PBSE_*, which is in pbs_errno too. Its text is pbs_geterrmsg(c), and
 * attributes that were refused pbs_get_attributes_in_error(c), until this thread's next call on c. */
int pbs_recv(int c, int ticket);

/* Give a ticket up: its answer will be thrown away when it comes. The request itself continues. */
int pbs_drop(int c, int ticket);

/* ---- first halves of simple calls: arguments as in pbs_ifl.h, borrowed for the call ---------------- */

int pbs_runjob_send(int c, const char *jobid, const char *location, const char *extend);
int pbs_asyrunjob_send(int c, const char *jobid, const char *location, const char *extend);
int pbs_asyrunjob_ack_send(int c, const char *jobid, const char *location, const char *extend);
int pbs_deljob_send(int c, const char *jobid, const char *extend);
int pbs_rerunjob_send(int c, const char *jobid, const char *extend);
int pbs_sigjob_send(int c, const char *jobid, const char *signal, const char *extend);
int pbs_holdjob_send(int c, const char *jobid, const char *hold_type, const char *extend);
int pbs_rlsjob_send(int c, const char *jobid, const char *hold_type, const char *extend);
int pbs_alterjob_send(int c, const char *jobid, struct attrl *attrib, const char *extend);
int pbs_asyalterjob_send(int c, const char *jobid, struct attrl *attrib, const char *extend);
int pbs_confirmresv_send(int c, const char *resvid, const char *location, unsigned long start,
                         const char *extend);
int pbs_manager_send(int c, int command, int objtype, const char *objname, struct attropl *attrib,
                     const char *extend);

/* A script that is longer than 64 KB is PBSE_BADSCRIPT here: pbs_submit() sends such in pieces.
 * recv: the malloc'ed job identifier, or NULL. */
int pbs_submit_send(int c, struct attropl *attrib, const char *script, const char *destination,
                    const char *extend);
char *pbs_submit_recv(int c, int ticket);

/* ---- status, job by job ------------------------------------------------------------------------- */

/* Called for each job as it comes in; *job, whose `next` is NULL, lives for that call. It may make other calls,
 * also on this connection. Not 0: enough, the rest is thrown away. */
typedef int pbs_job_fn(const struct batch_status *job, void *arg);

/* pbs_statjob() and pbs_selstat() without the list: a hundred thousand jobs take no more memory here than one.
 * 0, or PBSE_* (in pbs_errno too), before which some jobs may have come. */
int pbs_statjob_each(int c, const char *id, struct attrl *wanted, const char *extend, pbs_job_fn *fn,
                     void *arg);
int pbs_selstat_each(int c, struct attropl *criteria, struct attrl *wanted, const char *extend,
                     pbs_job_fn *fn, void *arg);

/* ---- preemption --------------------------------------------------------------------------------- */

/* pbs_selstat_each() in two halves. The ticket is ready when the answer begins to come in; recv reads it to its end and
 * calls fn for each job. */
int pbs_selstat_each_send(int c, struct attropl *criteria, struct attrl *wanted, const char *extend);
int pbs_selstat_each_recv(int c, int ticket, pbs_job_fn *fn, void *arg);

/* pbs_preempt_jobs() in two halves. jobids: NULL at its end. recv returns what pbs_preempt_jobs()
 * returns, a malloc'ed array with one element a job in order of completion, and its length in *n
 * (n may be NULL); NULL on error. order is "S", "C", "Q", "D", or "000" where no method was left. */
int pbs_preempt_jobs_send(int c, char **jobids);
preempt_job_info *pbs_preempt_jobs_recv(int c, int ticket, int *n);

/* One victim of a plan. */
struct pbs_victim {
    const char *jobid;
    int run_version; /* of the run that the plan saw */
    const char
        *methods; /* letters of SCRD that the plan can live with, in the order in which they are tried */
};

/* Plan and hold: run a job in the room of others, or preempt no job.
 *
 * The server examines jobid as if to run it (state, holds, queue, limits), then the victims (the run that the
 * plan saw, the methods it can live with and the server's policy allows) and the arithmetic: on each vnode of
 * exec_vnode what is free and what the victims give back must suffice. A method that would not free what is
 * needed is passed over (a suspended job keeps its memory). Then it makes a hold and answers when that is
 * durable: from now on what the victims give back is kept for the job, and the server itself starts it when the
 * room is there. A hold has the job's identifier as its name. It is undone, and the victims that are suspended
 * resume, when the job can no longer be started, when pbs_delhold() asks for it, or at its deadline.
 *
 * Only for the connection of a registered scheduler. A victim that has ended or is queued again is not an error. methods
 * NULL or "": all that the policy allows. extend: NULL, or "deadline=SECONDS" (default an hour beside what notices
 * may take).
 *   PBSE_BADSTATE   the job does not wait, or room is held for it already; a victim is in another run, gives way
 *                   to another job already, or no method is left for it
 *   PBSE_RESCUNAV   the room would not suffice; the text names vnode and resource
 *   PBSE_IVALREQ, PBSE_BADATVAL, PBSE_UNKNODE, PBSE_UNKRESC   a bad argument
 *   PBSE_PERM       this is not the connection of a scheduler */
int pbs_preempt_run(int c, const char *jobid, const char *exec_vnode, const struct pbs_victim victims[],
                    size_t n_victims, const char *extend);
int pbs_preempt_run_send(int c, const char *jobid, const char *exec_vnode, const struct pbs_victim victims[],
                         size_t n_victims, const char *extend); /* received by pbs_recv() */

/* The holds there are, or one: job, exec_vnode, victims, scheduler, ctime, deadline (pbs_hold_attributes(7)). */
struct batch_status *pbs_stathold(int c, const char *hold, struct attrl *attrib, const char *extend);

/* Undo a hold. By operators, managers and schedulers. PBSE_UNKJOBID: there is no such hold. */
int pbs_delhold(int c, const char *hold, const char *extend);

/* Ask the job's scheduler what it would do for the job at this moment, and why; nothing is done. For the job's owner,
 * operators and managers. The first entry is the job, the others are running jobs: victims in their order, then those
 * that are exempt (pbs_explain(3) has the attributes). Jobs that the asker may not see are left out. extend: NULL, or
 * "limit=SECONDS" to wait for the scheduler (1 to 60, default 10). NULL with PBSE_UNKJOBID, PBSE_PERM,
 * PBSE_HISTJOBID, PBSE_IVALREQ; PBSE_NOSCHEDULER: its scheduler is not connected, went away, or has not answered;
 * PBSE_NOSUP: it cannot explain. Freed by pbs_statfree(). */
struct batch_status *pbs_explain(int c, const char *jobid, const char *extend);

/* Ask what would be done for a job if it were submitted with these attributes to this queue (pbs_submit(3)) at this moment. It is
 * checked as a submission is, hooks aside, and nothing is left of it: no number, no row, no record. The entries are those of
 * pbs_explain(). extend: as there, or "qsub" (PBSE_FORCE_QSUB_UPDATE, as pbs_submit()). NULL with what refuses the submission, or
 * as pbs_explain(). Freed by pbs_statfree(). */
struct batch_status *pbs_when(int c, struct attropl *attrib, const char *destination, const char *extend);

/* ---- the delta stream ----------------------------------------------------------------------------
 *
 * pbs_watch() says what this connection wants to see and gets a watch; pbs_watch_next() is asked again
 * and again with the cursor that the last answer gave: it tells what has changed since, and parks in
 * the server while nothing has. The first cursor is {0, 0}: everything there is. When `restart` is
 * called the watcher forgets all it knew; what follows is everything. A mirror is right, and of use,
 * when an answer ended with caught_up. Only the newest state of an object is sent, never each step.
 * What follows from the jobs (state_count and total_jobs of queues and server, resources_used) is not a change
 * of its own: it is as it was at the object's last change.
 * One NEXT of a watch at a time. A scheduler asks only when its own orders are answered. */

enum pbs_kind {
    PBS_KIND_SERVER,
    PBS_KIND_QUEUE,
    PBS_KIND_JOB,
    PBS_KIND_NODE,
    PBS_KIND_RESV,
    PBS_KIND_RESOURCE,
    PBS_KIND_SCHED,
    PBS_KIND_HOLD,
    PBS_KIND_COUNT
};

/* Not to be watched: told to a scheduler that is asked about such a job (PBS_WAKE_WHEN), with what it watches of jobs. */
#define PBS_KIND_UNLISTED 100

struct pbs_watch_want {
    enum pbs_kind kind;
    struct attrl *attribs; /* names and resources wanted (a name without resource: all its resources);
                              NULL: every attribute the caller may read */
};

struct pbs_cursor {
    uint64_t epoch;
    uint64_t number;
};

/* An object as it is now, or that is gone (or no longer to be seen by this watcher). */
struct pbs_change {
    enum pbs_kind kind;
    int gone;
    uint64_t number; /* of the change; they ascend */
    const char *name;
    struct attrl *attribs; /* all that is wanted and set; NULL when gone, but for a watch of one job */
};

/* Called as entries come in, from pbs_watch_next() or pbs_watch_next_recv(). Everything in *ch is borrowed
 * for the call. No libpbs call on the same connection from inside. */
struct pbs_watch_reader {
    void (*restart)(void *arg); /* may be NULL */
    void (*change)(const struct pbs_change *ch, void *arg);
    void *arg;
};

#define PBS_WAKES_MAX 64

/* A reason for a scheduler to act, only for a connection that has registered. Commands: PBS's scheduler commands, and
 * PBS_WAKE_EXPLAIN: a client asks what would be done for the job (pbs_explain); answer by pbs_explain_reply(), or by
 * pbs_sched_reply() with the reason why not. answer != 0: a client waits; send the outcome by pbs_sched_reply(); of a
 * command that the scheduler does not know, PBSE_NOSUP. */
#define PBS_WAKE_EXPLAIN 101
/* The same of a job that is not submitted (pbs_when): it has come as a change of the kind PBS_KIND_UNLISTED, whose number is
 * `answer`, and has no other sign of life. */
#define PBS_WAKE_WHEN 102

struct pbs_wake {
    int command;
    char job[PBS_MAXCLTJOBID + 1]; /* the job to run at once, or "" */
    unsigned answer;
};

/* The end of an answer. */
struct pbs_news {
    int restarted;            /* restart was called */
    int caught_up;            /* nothing more at this moment */
    struct pbs_cursor cursor; /* to ask with next time */
    int64_t now_ns;           /* the server's wall clock */
    size_t n_wakes;
    struct pbs_wake wakes[PBS_WAKES_MAX];
};

/* extend "job=ID": one job (of the kinds PBS_KIND_JOB alone is wanted). Its end comes as gone with its last
 * attributes, Exit_status among them, and the watch has ended then.
 * 0 and *watch (> 0), or PBSE_*: PBSE_NOATTR an attribute is unknown, PBSE_IVALREQ a kind named twice,
 * PBSE_UNKJOBID the one job is not there. */
int pbs_watch(int c, const struct pbs_watch_want wants[], size_t n_wants, const char *extend,
              unsigned *watch);

/* Ask and wait. 0 with *news, or PBSE_*; entries read until then were true. */
int pbs_watch_next(int c, unsigned watch, struct pbs_cursor from, const struct pbs_watch_reader *reader,
                   struct pbs_news *news);

/* The same in two halves. The ticket is ready when the answer begins to come in; recv reads it to its
 * end. A ticket that is dropped loses nothing: ask again with the same cursor. */
int pbs_watch_next_send(int c, unsigned watch, struct pbs_cursor from);
int pbs_watch_next_recv(int c, int ticket, const struct pbs_watch_reader *reader, struct pbs_news *news);

/* ---- waiting for a job ---------------------------------------------------------------------------- */

struct pbs_job_end {
    int exited;      /* it has run to an end: exit_status has meaning. 0: deleted before it ran */
    int exit_status; /* as in Exit_status: 256 + n where signal n ended it, negative where PBS did */
};

/* Wait until this job is over. A server that is lost meanwhile is connected to again, for some minutes. A job that
 * is over already is known as long as history is kept, or for ten minutes where it was submitted with ATTR_block "1":
 * give it that wherever it is waited for, since a short job may be over before this call.
 * 0 and *end; or PBSE_*: PBSE_UNKJOBID, PBSE_IVALREQ no job's identifier, PBSE_PROTOCOL the server stays away. */
int pbs_waitjob(int c, const char *jobid, const char *extend, struct pbs_job_end *end);

/* ---- counts ------------------------------------------------------------------------------------------- */

/* What has been counted since the server started, of all users together: requests and how long they took, batches of the store,
 * cycles of schedulers, MOMs, notices. pbs_statcounts(3) has the entries and their attributes. extend: NULL. NULL with PBSE_*.
 * Freed by pbs_statfree(). */
struct batch_status *pbs_statcounts(int c, const char *extend);

/* ---- scripts ----------------------------------------------------------------------------------------- */

/* Write a job's script to the descriptor fd, as its owner or an operator; a subjob's is its array's.
 * 0, or PBSE_*: PBSE_UNKJOBID, PBSE_PERM, PBSE_SYSTEM it cannot be written (the text says why). */
int pbs_jobscript(int c, const char *jobid, int fd, const char *extend);

/* ---- output ------------------------------------------------------------------------------------------ */

enum { PBS_PEEK_MAX = 32768 }; /* bytes of a piece */

struct pbs_peek {
    unsigned long long offset; /* of the first byte of data in the file */
    unsigned long long size;   /* of the file, as it is now */
    unsigned n;                /* bytes of data; 0: nothing is behind offset yet */
    char data[PBS_PEEK_MAX];   /* not ended by a null byte */
};

/* A piece of an output file of a job that runs or is suspended, read on its first host as it is now, as the job's owner or an
 * operator. file: MSG_OUT or MSG_ERR (pbs_ifl.h; of a joined file either). offset: where the piece begins; below 0 from the end of the
 * file; beyond the file it is the end.
 * 0 and *piece; or PBSE_*: PBSE_UNKJOBID, PBSE_PERM, PBSE_BADSTATE it does not run, PBSE_HISTJOBID, PBSE_NORELYMOM its host is
 * away, PBSE_NOSUP the output does not go to a file (interactive, /dev/null), or the host is of an older version; PBSE_SYSTEM the file cannot
 * be read. */
int pbs_peekjob(int c, const char *jobid, int file, long long offset, const char *extend,
                struct pbs_peek *piece);

/* ---- schedulers ---------------------------------------------------------------------------------- */

/* pbs_register_sched(name, primary, secondary) of pbs_ifl.h: name NULL is "default"; primary is the
 * connection whose watch gets the wake-ups, and which holds the name until it is closed; secondary is for
 * orders, or the same, or -1. PBSE_SCHEDCONNECTED: a live connection holds the name. */

/* The outcome of a wake with an answer: 0 or the reason (PBSE_*, text) why the job was not run. */
int pbs_sched_reply(int c, unsigned answer, const char *jobid, int code, const char *text);
int pbs_sched_reply_send(int c, unsigned answer, const char *jobid, int code, const char *text);

/* A heartbeat. A scheduler that has sent one promises more: at least one every 15 seconds, or half of
 * heartbeat_timeout if that is less, while it has received news and has not called pbs_watch_next() again. Then a
 * cycle may take any time, and a scheduler that hangs is replaced soon (pbs_register_sched(3)). The ticket is
 * received by pbs_recv(). */
int pbs_sched_alive(int c);
int pbs_sched_alive_send(int c);

/* What this scheduler has counted since it began, for pbs_statcounts(): sums, not differences. Once a second is often enough. A
 * server that does not count refuses it. NULL: nothing. */
#define PBS_TOOK 13
struct pbs_sched_counts {
    uint64_t jobs; /* that cycles have looked at */
    uint64_t us;   /* microseconds that cycles took together */
    uint64_t took
        [PBS_TOOK]; /* cycles that took up to 0.1, 0.3, 1, 3, 10 ... 30,000 ms and more than the bound before; longer ones */
};
int pbs_sched_counts(int c, const struct pbs_sched_counts *counts);
int pbs_sched_counts_send(int c, const struct pbs_sched_counts *counts);

/* The answer to PBS_WAKE_EXPLAIN: the entries that pbs_explain() returns, at most PBS_EXPLAIN_MAX and together less
 * than a megabyte. PBSE_IVALREQ: there are more, or no client asked. */
#define PBS_EXPLAIN_MAX 2048
int pbs_explain_reply(int c, unsigned answer, const char *jobid, const struct batch_status *found);
int pbs_explain_reply_send(int c, unsigned answer, const char *jobid, const struct batch_status *found);

/* pbs_submit() for a job with a credential: PBSE_NOSUP where cred_len is not 0. */
char *pbs_submit_with_cred(int c, struct attropl *attrib, const char *script, const char *destination,
                           const char *extend, int cred_type, size_t cred_len, char *cred);

/* ---- tasks (tm.h) -------------------------------------------------------------------------------- */

/* As tm_spawn, but what the task writes comes to the standard output and error of this program, while it is in
 * tm_poll; the end of the task (tm_obit) is told after all of its output. */
int pbs_tm_spawn_relay(int argc, char *argv[], char *envp[], int where, unsigned *tid, int *event);

/* The same, with where the task begins: the processors of its host ("0-3,8") and the directory; NULL: those of the job. What cannot be
 * had is left as it is. */
struct pbs_tm_place {
    const char *cpus, *cwd;
};
int pbs_tm_spawn_in(int argc, char *argv[], char *envp[], int where, const struct pbs_tm_place *place,
                    unsigned *tid, int *event);

/* Output of tasks goes to `fn` from now on, in pieces as they were written; called inside tm_poll. */
typedef void pbs_tm_output_fn(void *arg, unsigned task, int is_error, const char *bytes, size_t n);
void pbs_tm_on_output(pbs_tm_output_fn *fn, void *arg);

/* The descriptor to poll for reading beside others, then call tm_poll with wait 0 until it has no event. -1: not initialised. */
int pbs_tm_fd(void);

/* Say `bytes` to the PMIx helper of the host of node `where`, which is started when there is none (pbs_launch(1)). With the event
 * *answer is heap, the caller's. */
int pbs_tm_helper(int where, const void *bytes, size_t n, char **answer, size_t *n_answer, int *event);

/* Answer the notice that this job will be preempted (pbs_preempt_ack(1)): an event as those of tm.h. READY: do it
 * now. NEED: that many seconds from now. OFFER: take `nodes`, "n3+n4", and leave the job the rest. DECLINE: rather not; it is recorded, and the deadline remains. SAVED: it has saved itself. TM_ENOTFOUND:
 * there is no notice. The job's shepherd passes it on, however long that takes; the result is written to the notice
 * file. */
enum pbs_tm_answer {
    PBS_TM_READY = 1,
    PBS_TM_NEED = 2,
    PBS_TM_OFFER = 3,
    PBS_TM_DECLINE = 4,
    PBS_TM_SAVED = 5
};
int pbs_tm_notice(enum pbs_tm_answer answer, unsigned need_s, const char *nodes, int *event);

/* Why the last function of tm.h failed, or the last event that was polled: a sentence, perhaps "". */
const char *pbs_tm_reason(void);

#ifdef __cplusplus
}
#endif
#endif
