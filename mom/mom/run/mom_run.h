#ifndef MOM_RUN_H
#define MOM_RUN_H
/* A run of a job on this host, and the table of all of them.
 *
 * The truth is in the run's directory (rundir.h); this is what the MOM has of it in memory. Plain data: the comment of a field
 * begins with the file that writes it, and fields below it belong to the same file until another is named. "note of the
 * journal" is a field that journal_restore sets again after a restart of the MOM. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <shep.h>
#include <uthash.h>

#include "err.h"
#include "run_fsm.h"

struct shepherd;
struct run_event_node;
struct spawn;
struct loop_timer;
struct prepare_fetch;
struct sampler;
struct site_action;
struct output_fetch;
struct image_in;
struct staging;
struct run_serialize;
struct terminal;
struct step_row;
struct host_event;

struct run_key {
    int64_t seq;
    int32_t index;
    uint32_t run;
};

struct run_failure {
    int status; /* PBS exit status */
    exec_reason reason;
    char text[ERR_TEXT_MAX];
};

struct run {
    struct run_key key; /* mom_run.c */
    UT_hash_handle hh;
    struct run *prev, *next; /* journal: list of those with events to send */
    bool is_listed;
    struct run_slot slot; /* run_fsm */
    char *id;             /* as people write it */
    char *path;           /* of its directory */

    struct exec_start_args start; /* prepare: without script; owned */
    unsigned ncpus;               /* prepare */
    char *cpus;       /* cgroup_limits, recover: the processors it is bound to, "0-3,8", or NULL */
    char *jobdir;     /* prepare, recover: the private directory, or NULL */
    char *owner_home; /* prepare: set as soon as the order is written */
    char owner_uid[12], owner_gid[12]; /* prepare, recover: digits, for scripts */
    bool has_start;
    struct image_in *image_in;           /* image_in: its checkpoint is on its way here */
    bool image_came;                     /* image_in */
    bool altered;                        /* by UPDATE: the order has other limits than start */
    struct prepare_fetch *fetch;         /* prepare: the script is on its way */
    struct run_serialize *run_serialize; /* it waits for an earlier run to end */

    int journal_fd; /* journal: -1 closed */
    bool has_journal;
    bool ready_said;  /* it is in the journal, or was */
    bool other_boot;  /* recover: begun before the host was booted; numbers may have been lost */
    bool before_boot; /* recover: the same, and stays so */
    bool
        foreign_pids; /* recover: begun in another PID namespace, or boot: recorded numbers of processes are others' now */
    struct run_event_node *first, *last; /* not acknowledged, in order */
    uint64_t last_seq, sent_seq, acked_seq;

    struct shepherd *shepherd; /* shepherds */
    bool started, ended;       /* records that were read */
    struct shep_started started_record;
    struct shep_ended ended_record; /* text owned */

    struct spawn *step; /* site_steps: a script that is running */
    struct loop_timer *step_timer;
    const struct step_row *step_row;
    bool prologue_done, epilogue_done; /* notes of the journal */

    struct host_event *hook_event; /* host_event: hooks that the run waits for */
    bool hook_waits;               /* act_start: for hook files that are on their way */
    bool begin_begun, begin_done;  /* act_start: hooks of execjob_begin; the first is a note of the journal */
    bool prologue_begun, launch_done; /* the same of execjob_prologue, execjob_launch */
    bool suspend_hooks_run;           /* act_running: hooks of execjob_postsuspend, in the journal too */
    bool end_done;                    /* act_leave: of execjob_end or execjob_abort */
    char *lost_hosts;             /* mom_orders: indices of hosts that have failed before LAUNCH, or NULL */
    char *release_hook, *release; /* host_release: vnodes that a hook gives back when the job runs, or NULL */
    bool preterm_begun, preterm_waits; /* mom_orders: of execjob_preterm, on a sister */

    struct terminal *terminal;     /* terminal: on its way */
    struct staging *staging;       /* staging: files are on their way here */
    bool staged_in;                /* note of the journal */
    struct output_fetch *fetching; /* output_fetch: output of the run before is on its way here */
    bool fetched;                  /* note of the journal: it has come, or was given up */
    struct site_action *action;    /* site_action: a script of $action that is running */
    struct {                       /* ckpt; attempt, leave: orders */
        unsigned attempt;          /* 0: of our own accord */
        bool leave;                /* the job ends when its image is whole */
        bool interrupted;          /* journal: a MOM has died in the middle of one */
        bool declared;             /* the server was told that its program saves itself */
        bool end_waits;            /* act_end: the job has ended, the script has not */
        uint64_t bytes, due_ms;
        unsigned took_ms;
    } ckpt;

    unsigned attempt;           /* mom_orders: of SUSPEND, RESUME, CHECKPOINT, WITHDRAW */
    const char *attempt_method; /* "suspend", "resume", "withdraw"; static */
    int attempt_code;           /* PBSE_ why it failed */
    char attempt_text[ERR_TEXT_MAX];
    unsigned notice_attempt; /* notice_order: of the last one */
    bool given_up;           /* mom_orders: the job has given this host back */
    unsigned n_given_up;     /* mom_orders: vnodes of any host that it has given back */
    unsigned grace_s;
    bool may_withdraw;              /* mom_orders: the end that was ordered */
    bool withdrawing;               /* mom_orders: it is withdrawn, and the job has not stayed yet */
    bool terminating;               /* act_running: the script of $action terminate has had its turn */
    exec_reason stop_reason;        /* EXEC_END_ITSELF: no end was ordered */
    char stop_text[128];            /* for the job's stderr */
    bool keep_output, purge_wanted; /* notes of the journal */
    bool unwanted;                  /* the same: the job has continued, or ended, without this run */
    bool room_given; /* its processes are gone and the server knows; it has its files to deliver still */
    struct run_failure failure;
    struct exec_usage usage;       /* shepherds: last known */
    struct {                       /* enforce: a moving average of cpu time */
        uint64_t cput_ms, wall_ms; /* of the sample before */
        double percent;            /* of one processor */
    } burst;
    struct loop_timer *sample_timer; /* usage */
    struct sampler *sampler;
    int64_t sample_ms;
    char *note;                 /* finish: for release, or NULL */
    bool harvested;             /* cycle_harvest: suspended; for the server it runs */
    int64_t harvested_since_ms; /* monotonic; when this host suspended it, for $action multinodebusy */
};

struct runs;

struct runs *runs_create(void);
void runs_destroy(struct runs *t); /* and every run; directories stay */

/* Owned by the table until run_drop. NULL: no memory, or the key is there. */
struct run *run_add(struct runs *t, const struct run_key *key, const char *id, const char *path);
void run_drop(struct runs *t,
              struct run *r); /* frees what mom_run.c owns; others have let go of theirs before */

struct run *run_find(const struct runs *t, const wire_job *job, unsigned run);
struct run *run_find_any(const struct runs *t, const wire_job *job); /* of this job, or NULL */
/* The run of this job of this store that writes the job's files on this host: a sister's part writes none, a released one
 * no more. Or NULL. */
const struct run *run_find_writer(const struct runs *t, const wire_job *job, const char *store);
bool run_has_other(const struct runs *t, const struct run *r); /* another run of the same job is here */
size_t runs_count(const struct runs *t);
/* In order of creation; `fn` may drop the run that it is given. */
void runs_each(struct runs *t, void (*fn)(void *arg, struct run *r), void *arg);

void run_set_owner(struct run *r, unsigned uid, unsigned gid);
wire_job run_job(const struct run *r);
/* An attribute of START, "" without resource; NULL: not there. Borrowed. */
const char *run_attr(const struct run *r, const char *name, const char *resource);
/* The key of the job's files: its digits, 0 of them when there is none. Borrowed, without NUL. */
const char *run_files_key(const struct run *r, int *n);
/* Give these other values; what was not there is added. What has no memory keeps its old value. */
void run_alter(struct run *r, const wire_attrs *attrs);
/* PBS's number of what it does here, as its logs name it: 41 starting, 42 running, 43 suspended, 51
 * ending. */
int run_substate(const struct run *r);
/* Is the job alive here: a shepherd is or will be there. */
bool run_is_active(const struct run *r);
/* Another host runs the script; here a shepherd holds the run, for tasks that the program may start. */
bool run_is_sister(const struct run *r);

/* Is this START the one that was taken before? The server repeats a START whose answer was lost. A server that was restored from an
 * older copy of its store may give the same job and run number to something else, which is another START: it is refused, so that no job
 * runs under the name of another. Compared are who, where and with which script; not attributes, which UPDATE may have changed, nor
 * addresses, which change with their hosts. Pure. */
bool run_start_is_same(const exec_start_args *a, const exec_start_args *b);

#endif
