#ifndef HELPER_TALK_H
#define HELPER_TALK_H
/* The conversation about preemption (doc/pmix.md): what the job's notice says goes to the programs as an alert, what they answer goes
 * to the shepherd as pbs_preempt_ack says it, and what the server has decided comes back to them. Loop thread only, but for the
 * making of wishes. */
#include <stdbool.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

#include <tm.h>

#include "err.h"
#include "helper_queue.h"

struct helper;
struct helper_talk;

enum helper_talk_what {
    TALK_CONNECTED,
    TALK_LEFT,    /* finalized, or died */
    TALK_CONTROL, /* PMIx_Job_control: a declaration, or an answer */
    TALK_RELEASE, /* PMIx_Allocation_request: hosts that may be taken */
    TALK_SAVED,   /* the event PMIX_JCTRL_CHECKPOINT_COMPLETE */
    TALK_POLICY,  /* PMIx_Query_info */
    TALK_DEADLINE /* the same, for pbs.preempt.deadline */
};

enum { TALK_TEXT_MAX = 256, TALK_NODES_MAX = 4096 };

/* What a program says; made in the library's thread, owned by the queue. */
struct helper_talk_wish {
    struct helper_event event; /* .take is helper_talk_take */
    enum helper_talk_what what;
    pmix_proc_t proc;
    char id[TALK_TEXT_MAX]; /* of the alert that it answers; "" */
    char reply[16];         /* "ready", "defer", "partial", "refuse"; "": it declares */
    char nodes[TALK_NODES_MAX];
    bool has_path; /* TALK_SAVED: pbs.ckpt.path was said */
    bool declares; /* some member below was said */
    bool preemptible, by_event;
    int signal;      /* 0: none */
    uint32_t need_s; /* 0: not said */
    pmix_info_cbfunc_t done;
    void *done_arg;
};

/* Read what was said into the wish. */
void helper_talk_read(struct helper_talk_wish *w, const pmix_info_t info[], size_t n);
void helper_talk_take(struct helper *h, struct helper_event *ev);

struct helper_talk *helper_talk_create(unsigned run); /* NULL: no memory */

/* What the job's notice says now. */
void helper_talk_told(struct helper *h, const struct tmx_told_args *a);
/* The host wants the programs saved now: SIGUSR1 has come. */
void helper_talk_checkpoint(struct helper *h);
bool helper_talk_has_event(
    const struct helper *h); /* a program has declared that an event makes it save itself */

#endif
