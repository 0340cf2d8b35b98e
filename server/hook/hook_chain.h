#ifndef HOOK_CHAIN_H
#define HOOK_CHAIN_H
/* All hooks of one event, one after the other: each sees what those before it have set; the first that rejects ends it.
 *
 * The log lines about outcomes are written here. Loop thread only. */
#include "hook_changes.h"
#include "hook_server.h"

struct hook_verdict {
    bool accepted;
    bool dropped;        /* the server ends: do nothing */
    const char *hook;    /* that rejected, or the last one that ran; NULL: none ran */
    const char *message; /* for the client, where it is rejected */
};
typedef void hook_chain_done_fn(void *arg, const struct hook_verdict *v);
/* ^ One hook has accepted or rejected, with these changes. NULL: they are merged into the data only. */
typedef void hook_chain_changed_fn(void *arg, const char *hook, bool accepted, const struct hook_changes *c);

struct hook_chain_ask {
    uint32_t event;
    const char *requestor, *host; /* borrowed for the call */
    json_t *data;                 /* taken, also when this fails */
    bool is_news;                 /* no request waits for it */
    bool fails_open; /* a hook that raises or is late has no say, and the next one runs; else it rejects */
    hook_chain_changed_fn *changed;
    hook_chain_done_fn *done;
    void *arg;
};

/* `done` is called once, also before this returns. -1: it is not; PBSE_SYSTEM. */
int hook_chain_start(struct hook_server *s, const struct hook_chain_ask *a, struct err *e);

/* "anna", "Scheduler": who a request is from, as hooks are told. */
struct request;
const char *hook_chain_requestor(struct request *r);

#endif
