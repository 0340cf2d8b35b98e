#ifndef JOB_H
#define JOB_H
/* A job: its attributes (what it asked for), its state (fields), and the run it is in. There may be a million
 * jobs: small fields are placed together, so that padding costs little.
 *
 * Who may write what: state belongs to fsm/job_fsm.c alone; run to server/run, and to exec_take.c what hosts report; hold bits to
 * server/queued, and to job_end.c and run_checkpoint.c where the end of a run holds the job; the links to jobs.c. All other code only
 * reads. What requests may set is in obj.attrs. To add a stored field, add it here and to the table of job.c.
 *
 * Times are wall clock seconds; 0 is "never".
 */
#include <stdbool.h>
#include <stdint.h>

#include "jobid.h"
#include "object.h"
#include "pqueue.h"
#include "type_words.h"

struct array_map;
struct earmark_obj;
struct node_use;
struct queue;
struct run;
struct preempt_record;
struct victim;
struct parked;

enum job_state {
    JOB_ARRIVING, /* pieces of its script are missing; only its owner and operators see it */
    JOB_QUEUED,
    JOB_HELD,
    JOB_WAITING,  /* for its Execution_Time */
    JOB_STARTING, /* resources claimed, hosts told */
    JOB_RUNNING,
    JOB_SUSPENDED,
    JOB_EXITING,  /* its script has ended; hosts clean up */
    JOB_FINISHED, /* history, in memory for some minutes */
    JOB_GONE,     /* out of every table */
    JOB_STATE_COUNT
};

/* What happens to the job when its run is over. A later request overrides an earlier one only if it is
 * stronger: delete beats requeue. */
enum job_intent { INTENT_NONE, INTENT_REQUEUE, INTENT_CHECKPOINT, INTENT_DELETE };

/* Beside enum hold_bit of type_words.h: DEPEND is shown as s, ARRAY (a subjob's array is held, or waits) not at all. */
enum { HOLD_DEPEND = 16, HOLD_ARRAY = 32 };

enum job_suspender {
    SUSPENDED_BY_NOBODY,
    SUSPENDED_BY_CLIENT,
    SUSPENDED_BY_SCHED,
    SUSPENDED_BY_ADMIN /* its vnodes are in maintenance meanwhile */
};

enum { JOB_TOKEN_SIZE = 16 };

/* Exit_status of a job that was deleted by force or before it ran: as if SIGKILL had ended it (PBS). */
enum { KILLED_STATUS = 256 + 9 };

enum job_index_of { JOB_BY_KEY, JOB_BY_TOKEN, JOB_INDEXES };

struct job_usage { /* of the present run, as last reported, summed over hosts */
    int64_t cput_ms, walltime_ms, mem_kb, vmem_kb;
    unsigned ncpus, cpupercent;
};

struct job {
    struct object obj; /* name: the identifier with the server's name */
    struct job_key key;
    struct job *next_in[JOB_INDEXES]; /* job_index.c */

    enum job_state state;
    enum job_intent intent;
    enum job_suspender suspender;
    unsigned hold;                        /* enum hold_bit bits, and HOLD_DEPEND */
    bool dependent;                       /* system hold comes from depend */
    bool no_history;                      /* deleted, and no history is kept of it */
    bool begun;                           /* an array: some subjob has started */
    bool broken;                          /* an array: a subjob was ended by an error of PBS, not its own */
    bool exited;                          /* exit_status has meaning */
    bool shares_resv;                     /* ... of the queue only: its reservation has those of the server */
    bool shares;                          /* it counts in the sums of server and queue (assign.c) */
    unsigned char tallied, tallied_state; /* how it is counted (limit_counts.c) */

    struct array_map
        *array; /* of an array: its subjobs; else NULL. queued/arrays.c writes it, begun, broken, n_running */

    struct queue *queue;                 /* NULL once finished */
    const char *queue_name;              /* interned; stays for history */
    const char *moved_to;                /* interned: "queue@server" to which it has gone; else NULL */
    const char *resv_name;               /* interned: the reservation in which it has ended; in memory only */
    struct job *queue_prev, *queue_next; /* by queue rank; jobs.c */
    struct job *all_prev, *all_next;     /* by number; jobs.c */
    int64_t queue_rank; /* order in the queue: microseconds at which it entered, or what qorder made of it */

    const char *owner;          /* interned user@host */
    const char *user;           /* interned: who owns it */
    const char *host;           /* interned: where it was submitted */
    const char *euser, *egroup; /* interned: who it runs as */
    const char *project;        /* interned */

    int64_t ctime_s, mtime_s, qtime_s, etime_s, stime_s, obittime_s, history_s, exec_time_s;
    int64_t ptime_s;        /* when it was last preempted; 0: not since its last start */
    int64_t eligible_s;     /* eligible time that had added up at accrue_since_s */
    int64_t accrue_since_s; /* 0: none is kept */
    int accrue_type;        /* what passes since then: 0 initial 1 ineligible 2 eligible 3 run 4 exit */

    unsigned run_version; /* of the present or last run; raised and durable before START is sent */
    unsigned run_count;
    int exit_status;
    int session;
    unsigned preempt_count;
    unsigned ckpt_cost_ms;    /* what its last checkpoints took, on average; 0: it had none */
    unsigned restarts_failed; /* from an image, since one has succeeded or the job was held for it */
    int preempt_method;       /* letter of the reply by which it was preempted last: S C Q D; 0: never */
    unsigned n_running;       /* an array: subjobs that hold hosts and are not suspended; derived */
    uint32_t depend_search;   /* the last search for a cycle that visited it (queued/depend.c) */
    const char
        *preempted_by;      /* interned: for which job, or on whose request, it gives way or gave way last */
    int64_t preempt_time_s; /* when it was preempted last */
    int64_t preempt_failed_s; /* when no method was left; not stored */
    int64_t start_failed_s; /* when its last run ended before its script began; 0: it has begun. Not stored */
    struct job_usage usage;

    struct run *run;                /* while hosts are held (job_run.h); stored */
    struct preempt_record *preempt; /* while it is being preempted (job_run.h); stored */
    struct node_use *uses;          /* what it has claimed (assign.c) */
    struct queue
        *tallied_queue; /* where it is counted, with what amounts, as so many jobs (limit_counts.c) */
    struct resc_list *tallied_amounts;
    size_t tallied_as;
    struct resc_list *shares_given;   /* what of that a suspended job has given back, or NULL (assign.c) */
    struct earmark_obj *room;         /* room is kept for it; plan_earmark.c */
    struct earmark_obj *gives_way_to; /* whose victim it is; plan_earmark.c */
    size_t gives_way_at;              /* its place there */
    struct victim *victim;            /* while a preemption is under way */
    struct route_move *route_move;    /* while its route queue sends it to another server (queued/route.c) */
    struct parked *parked;            /* requests that wait for an event of this job */
    struct pqueue_entry due;          /* start time, or the end of its history in memory */

    const char *restart_from; /* interned: its last checkpoint, or NULL (job_image.h) */
    const char
        *output_at; /* interned: the service that has the output of earlier runs, or NULL (job_end.c) */
    const char *
        left_at; /* interned: services where something of it waits for its next run, "mom:n1 mom:n2", or NULL (job_end.c) */
    const char *unbound; /* interned: schedselect before it was bound to the host of that, or NULL */

    uint64_t script_bytes;
    uint64_t script_have; /* ARRIVING: bytes that have come */
    unsigned char token[JOB_TOKEN_SIZE];
};

extern const struct object_kind job_kind;

/* A new job in state ARRIVING without queue. `id` as people write it. NULL: no memory. */
struct job *job_create(struct job_key key, const char *id);

static inline struct job *job_ref(struct job *j)
{
    object_ref(&j->obj);
    return j;
}
static inline void job_unref(struct job *j)
{
    if (j)
        object_unref(&j->obj);
}

bool job_is_waiting(const struct job *j); /* queued, held or waiting: no resources, may be altered */
bool job_is_placed(const struct job *j);  /* holds hosts */
bool job_is_over(const struct job *j);    /* finished or gone */

/* For limits: an array counts as its queued subjobs that have no object of their own; any other job counts as
 * one. */
size_t job_count(const struct job *j);

static inline bool job_is_subjob(const struct job *j)
{
    return j->key.index != JOBID_NO_INDEX;
}

/* Replace an interned text field, e.g. job_set_text(&j->owner, "anna@login2"). -1: no memory. */
int job_set_text(const char **field, const char *text);

/* Eligible time at this moment (queued/eligible_time.c). */
static inline int64_t job_eligible_s(const struct job *j, int64_t now_s)
{
    bool adds_up = j->accrue_since_s && j->accrue_type == 2 && now_s > j->accrue_since_s;

    return j->eligible_s + (adds_up ? now_s - j->accrue_since_s : 0);
}

const char *job_state_name(enum job_state s); /* for logs and the store: "running" */
int job_state_find(const char *name);         /* -1: unknown */

/* What the store keeps of a job (object_kind.encode), and back: both parts of a row into a new job. */
int job_decode(struct job *j, const char *hot_json, const char *fixed_json, struct err *e);
/* Check a decoded job: it has an owner, it has a run exactly if its state has hosts, and its numbers are in
 * their ranges. -1 with the first fault. */
int job_check(const struct job *j, struct err *e);

#endif
