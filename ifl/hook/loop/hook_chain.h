#ifndef HOOK_CHAIN_H
#define HOOK_CHAIN_H
/* All hooks of one event, one after the other: each sees what those before it have set; the first that rejects ends it.
 *
 * The log lines about outcomes are written here. Loop thread only. */
#include "hook_changes.h"
#include "hook_pool.h"
#include "hooks.h"

/* What all chains of a daemon share. */
struct hook_chains {
    struct hooks *hooks;
    struct hook_pool *pool;
    /* ^ A hook has answered; what it asks of the daemon as a whole. May be NULL. */
    void (*heed)(void *arg, const char *hook, const json_t *answer);
    void *arg;
};

struct hook_verdict {
    bool accepted;
    bool dropped;            /* the daemon ends: do nothing */
    enum hook_result result; /* HOOK_ACCEPT, HOOK_REJECT, HOOK_ERROR, HOOK_ALARM, HOOK_DROPPED */
    unsigned fail_action;    /* of a hook that failed: enum hook_fail_action bits */
    const char *hook;        /* that rejected, or the last one that ran; NULL: none ran */
    const char *message;     /* for the client, where it is rejected */
};
typedef void hook_chain_done_fn(void *arg, const struct hook_verdict *v);
/* ^ One hook has accepted or rejected, with these changes; `answer` is the whole message. NULL: they are merged into the data only. */
typedef void hook_chain_changed_fn(void *arg, const char *hook, bool accepted, const struct hook_changes *c,
                                   const json_t *answer);

struct hook_chain_ask {
    uint32_t event;
    const char *requestor, *host; /* borrowed for the call */
    const char *
        job; /* the object of lines about a job's hooks; NULL: they are about the hook. Borrowed for the call */
    const char *user; /* who hooks of user pbsuser run as; NULL: they are skipped. Borrowed for the call */
    json_t *data;     /* taken, also when this fails */
    bool is_news;     /* no request waits for it */
    bool fails_open;  /* a hook that raises or is late has no say, and the next one runs; else it rejects */
    hook_chain_changed_fn *changed;
    hook_chain_done_fn *done;
    void *arg;
};

/* `done` is called once, also before this returns. -1: it is not; PBSE_SYSTEM. */
int hook_chain_start(const struct hook_chains *s, const struct hook_chain_ask *a, struct err *e);

#endif
