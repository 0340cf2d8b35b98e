/* See run_events.h. */
#include "run_events.h"

#include <assert.h>
#include <stdlib.h>

enum { MAX_LISTENERS = 4 }; /* of one kind: what the table of the assembly needs */

struct run_events {
    struct run_events_kind {
        size_t n;
        struct {
            run_listener_fn *fn;
            void *arg;
        } listeners[MAX_LISTENERS];
    } kinds[RUN_EVENT_COUNT];
};

struct run_events *run_events_create(void)
{
    return calloc(1, sizeof(struct run_events));
}

void run_events_destroy(struct run_events *b)
{
    free(b);
}

void run_events_listen(struct run_events *b, enum run_event_kind k, run_listener_fn *fn, void *arg)
{
    struct run_events_kind *of = &b->kinds[k];

    assert(of->n < MAX_LISTENERS);
    of->listeners[of->n].fn = fn;
    of->listeners[of->n++].arg = arg;
}

void run_events_tell(struct run_events *b, const struct run_event *ev)
{
    const struct run_events_kind *of = &b->kinds[ev->kind];

    job_ref(ev->job);
    for (size_t i = 0; i < of->n; i++)
        of->listeners[i].fn(of->listeners[i].arg, ev);
    job_unref(ev->job);
}
