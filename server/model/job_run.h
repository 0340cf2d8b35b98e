#ifndef JOB_RUN_H
#define JOB_RUN_H
/* One run of a job: where it runs, the progress of each host, and the orders under way. Data only; it is
 * written by run/ (run_hosts.c and the methods) and by exec_take.c, and stored with the job.
 *
 * A stream of events belongs to (job, run, service): `seq` of a host is the last event applied, and is
 * stored in the same batch as what the event changed.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "job.h"
#include "preempt_method.h"

enum run_host_state {
    RUN_HOST_SENT,     /* START is on its way, or will be when the service says HELLO */
    RUN_HOST_READY,    /* prepared; waits for LAUNCH, or runs */
    RUN_HOST_RELEASED, /* final: nothing of the run is left there */
    RUN_HOST_LOST,     /* given up by the server */
    RUN_HOST_STATE_COUNT
};

/* What a host can save (job_saves.h); not stored: it is asked when the run starts there, and at its HELLO. */
enum run_saves {
    RUN_SAVES_UNKNOWN,
    RUN_SAVES_NOTHING,
    RUN_SAVES_PROGRAMS, /* that save themselves */
    RUN_SAVES_ALL,
    RUN_SAVES_COUNT
};

struct run_host {
    const char *service; /* interned */
    enum run_host_state state;
    uint64_t seq;   /* last event applied */
    bool suspended; /* has answered the present suspend attempt */
    bool
        start_waits; /* for a HELLO of another host of the job, which gives its address, or for its place in the queue; exec_send.c; not stored */
    const char *
        image; /* of the checkpoint under way, as the host said it; NULL: none yet; not stored: it is asked again */
    const char *
        kept; /* of a job on several hosts: the image of what its programs have saved in their notice, as the host said it at its end */
    enum run_saves saves;
    const char *declared; /* interned; what its programs have said or shown: "handler", "pmix"; or NULL */
    unsigned need_s;      /* that they need to save themselves; 0: not said */
    bool takes_part;      /* a program has declared through PMIx that it answers notices */
    int answer;           /* enum exec_notice_answer to the present notice; 0: none */
    bool leaving;         /* the job has given it back: its end there does not count as a loss */
    bool stays; /* has answered the present WITHDRAW: it runs on there; not stored: it is asked again */
    int status; /* of its finish; of a sister only values below 0 have a meaning */
    struct job_usage usage;
};

struct run {
    unsigned version;       /* run_version of the job */
    const char *exec_vnode; /* text, as the scheduler gave it */
    const char *exec_host;  /* text for users */
    const char *now_vnode;  /* what is left of both after vnodes were given back; NULL: all */
    const char *now_host;
    const char *freed;             /* "n2+n3": vnodes free before their host's last release, or NULL */
    struct job_usage before_phase; /* used when vnodes were last given back */
    bool forced;                   /* how it was claimed */
    bool starts_paced;             /* it is in the queue of exec_send.c; not stored */
    int64_t sent_mono_ms;          /* when a tolerant job was sent; not stored; join_wait.c */
    bool launched;                 /* the first host was told to run the script */
    bool started, finished;
    int status, reason; /* of finish: PBS exit status, enum exec_reason */
    const char *note;   /* of finish, or NULL */
    int hook_status; /* what a hook of a host has made of the run: PBS exit status -16 to -22; 0: nothing */
    bool hook_ends;  /* an epilogue hook has rejected it: the job does not run again */
    int lost;        /* a host was: PBS exit status of a job that cannot be rerun; 0: none was */
    const char *lost_host;     /* which, for people, or NULL */
    const char *deleted_by;    /* the user that asked for its end first, "anna@login2", or NULL */
    const char *no_image_why;  /* why it starts without its image, for the comment, or NULL; not stored */
    unsigned attempt;          /* number of the last order that has an outcome */
    unsigned notices;          /* how many the job was given in this run */
    unsigned terminations;     /* how many times it was ordered to end, each time with more force */
    bool withdrawing;          /* the last of these orders is being withdrawn */
    bool suspending, resuming; /* an attempt is under way */
    bool leaves_vnodes;        /* while suspended: others may have its vnodes alone */
    int64_t suspended_s;       /* since when it has been suspended; 0: it is not */
    int64_t paused_s;          /* how long it had been before that, in this run */
    bool checkpointing;        /* so is this one */
    bool over_limit;           /* its first host was notified; not stored */
    int64_t used_mono_ms;      /* when its first host last said what the job uses; 0: not known; not stored */
    int64_t due_ms;            /* when the next such is, in the job's time; 0: not known yet; not stored */
    int64_t interval_s;        /* -c auto: what was computed last; 0: nothing yet; not stored */
    bool staying;              /* after it the job continues (-c c=MINUTES on several hosts) */
    bool altered; /* its limits differ from those in START: they are sent to the hosts again at HELLO */
    const char *declared; /* of all its hosts together (job_saves_declare): "handler", "pmix"; or NULL */
    bool mistrusted;      /* a checkpoint has failed for which only a handler spoke; not stored */
    unsigned need_s;      /* likewise; 0: not said */
    size_t n_saves[RUN_SAVES_COUNT]; /* hosts, by run_host.saves */
    size_t n_hosts;
    struct run_host *hosts; /* hosts[0] runs the script */
};

/* The notice to a job before it is preempted. Times: wall clock, milliseconds. */
struct preempt_notice {
    int64_t grace_ms,
        grace_max_ms; /* from notice to method, and how far the job may stretch that; 0: no notice */
    int64_t given_ms, deadline_ms; /* 0: not given */
    unsigned attempt;              /* its number in the run */
    enum method_id method;         /* that it announced; METHOD_NONE: not given, or withdrawn */
    bool over;                     /* the methods continue */
    int reply; /* enum exec_notice_answer of all hosts together (notice_hosts.h); 0: none */
};

/* The preempt record: what is left to do of a preemption under way; stored, so that a restarted server
 * continues it. */
struct preempt_record {
    struct preempt_methods left;  /* not tried yet; RELEASE is what the job has offered */
    struct preempt_methods tried; /* in their order: the last is `method`, or has failed */
    enum method_id method;        /* the one under way; METHOD_NONE: none yet */
    double lost_core_s;           /* work that it destroys, as of its begin: charged, accounted and logged */
    int64_t since_ms;
    const char *by;        /* interned: the user that asked, for messages */
    const char *scheduler; /* interned: the sched object that asked, or NULL */
    const char *urgent;    /* interned: for which job; NULL if not given */
    const char *
        policy; /* interned: the line of the policy that gave the methods, "queue:workq:preempt_order=R"; or NULL */
    const char *authority; /* interned: by which level it may be done, "express_queue:express"; or NULL */
    const char *charged;   /* interned: the queue whose budget has paid for `method`; NULL: none */
    int64_t charged_s;     /* when */
    const char *offer;     /* interned "n3+n4": what method P takes, all else is left to it; NULL: none */
    bool noted;            /* its attributes say so already; not stored */
    bool came_late;        /* the job has ended by itself before the method reached it; not stored */
    struct preempt_notice notice;
};

/* Return true if a notice has been given to the job and is still valid. */
static inline bool preempt_notice_is_given(const struct preempt_record *m)
{
    return m && m->notice.given_ms && !m->notice.over;
}

struct run *job_run_create(unsigned version, const char *exec_vnode, const char *exec_host, size_t n_hosts);
void job_run_destroy(struct run *r);

json_t *job_run_encode(const struct run *r); /* NULL: no memory */
struct run *job_run_decode(const json_t *o); /* NULL: not a run, or no memory */

struct run_host *job_run_host(struct run *r, const char *service); /* by name, or NULL */
/* The name of a host for people: a service's without its kind. */
const char *job_run_host_name(const char *service);
/* Return true if the host holds the run and is to keep it: it is not over, lost, or given back by the job. */
bool job_run_host_stays(const struct run_host *h);
/* How long the job has been suspended in this run, without a suspension that is not over. */
int64_t job_run_paused_s(const struct job *j);
/* Walltime of the present run at this moment: what was last reported and, while the job runs, the time since then. */
int64_t job_run_walltime_ms(const struct job *j, int64_t now_s, int64_t mono_ms);
void job_run_sum_usage(const struct run *r, struct job_usage *out); /* of all hosts; walltime: the first */
const char *job_run_vnodes(const struct run *r);                    /* exec_vnode of what the job has now */
const char *job_run_where(const struct run *r);                     /* exec_host of it */
bool job_run_is_over(const struct run *r);                          /* every host released or lost */
/* Return true if an end was ordered and is being withdrawn: the job runs on, or it is too late. */
bool job_run_is_withdrawing(const struct job *j);
/* Return true if the run has not ended and no request has asked for its end. j->run is not NULL. */
bool job_run_is_wanted(const struct job *j);

#endif
