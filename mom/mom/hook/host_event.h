#ifndef HOST_EVENT_H
#define HOST_EVENT_H
/* The hooks of one event of a run: begun, answered once; what they change and ask for goes to the server through the run's journal. Loop
 * thread only. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "hook_chain.h"

struct mom;
struct run;

struct host_verdict {
    bool accepted;
    enum hook_result result;
    bool rerun, del;     /* the hook that rejected has called job.rerun(), job.delete() */
    const char *message; /* why not, for people */
    const json_t *data;  /* of the event, with all changes */
};
typedef void host_event_fn(struct mom *m, struct run *r, const struct host_verdict *v);

/* Run them. False: there are none, and fn is not called. fn NULL: the run does not wait. Else fn is called once, perhaps inside this, unless
 * host_event_stop comes before. */
bool host_event_run(struct mom *m, struct run *r, uint32_t event, host_event_fn *fn);
/* The same for an order or a program that waits beside the run: many may at once. fn is called once, also when the run is gone by then (r
 * is NULL). `more`: members of the event beside those of the run; borrowed, or NULL. False: there are no hooks, and fn is not called. */
typedef void host_asked_fn(void *arg, struct run *r, const struct host_verdict *v);
bool host_event_ask(struct mom *m, struct run *r, uint32_t event, const json_t *more, host_asked_fn *fn,
                    void *arg);

bool host_event_is_under_way(const struct run *r);
/* The run does not wait any more; scripts that run end by themselves. */
void host_event_stop(struct run *r);

/* What the failure of a start is, by the verdict; `always_ends`: a reject deletes the job (launch). */
void host_event_fail(struct run *r, const struct host_verdict *v, bool always_ends);

/* What an answer asks of the host itself: pbs.reboot(). */
void host_event_heed(struct mom *m, const char *hook, const json_t *answer);
/* Bits of EXEC_HOOK_* that an answer asks for, beside the end of a job. */
unsigned host_event_wishes(const json_t *answer);

#endif
