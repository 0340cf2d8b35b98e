/* What happens, told to listeners. See server_events.h.
 *
 * Told at once, inside the call: a listener may tell further events, which are told in full before the present one goes to its next
 * listener. So a listener that must not act within another part's change asks for the end of the turn (loop_defer). To add a kind: its member
 * with the fields that it fills, and rows in assembly_events.c. */
#include "server_events.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LISTENERS = 6 }; /* of one kind: what the table of the assembly needs */

struct server_events {
    struct server_events_kind {
        size_t n;
        struct {
            server_listener_fn *fn;
            void *arg;
        } listeners[MAX_LISTENERS];
    } kinds[SERVER_EVENT_COUNT];
};

struct server_events *server_events_create(void)
{
    return calloc(1, sizeof(struct server_events));
}

void server_events_destroy(struct server_events *b)
{
    free(b);
}

void server_events_silence(struct server_events *b)
{
    if (b)
        memset(b, 0, sizeof *b);
}

void server_events_listen(struct server_events *b, enum server_event_kind k, server_listener_fn *fn,
                          void *arg)
{
    struct server_events_kind *of = &b->kinds[k];

    assert(of->n < MAX_LISTENERS);
    of->listeners[of->n].fn = fn;
    of->listeners[of->n++].arg = arg;
}

void server_events_tell(struct server_events *b, const struct server_event *ev)
{
    const struct server_events_kind *of = &b->kinds[ev->kind];

    if (ev->job)
        job_ref(ev->job);
    for (size_t i = 0; i < of->n; i++)
        of->listeners[i].fn(of->listeners[i].arg, ev);
    if (ev->job)
        job_unref(ev->job);
}
