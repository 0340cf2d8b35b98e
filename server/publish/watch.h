#ifndef WATCH_H
#define WATCH_H
/* Watchers: cursors on the change list. A watch is what a connection wants to see; NEXT gives a cursor and gets
 * everything that has changed since, oldest first, gone objects among them by number, then the tail.
 *
 * NEXT parks while there is nothing to say, and is answered at the end of a turn in which something changed or
 * a wake-up came in: at once, whatever waits in the background of the loop, as far as it is no more than a first
 * fragment (rpc_entries.h). A cursor of another epoch, or older than what the change list remembers of removals, is
 * answered from the beginning with `restart`. A watch of one job (extend "job=ID") is woken by that job alone, is
 * told of its end with the last attributes, and has ended then. A watch belongs to the connection that made it.
 * Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>

#include <ifl.h>

#include "level.h"
#include "server_ctx.h"
#include "server_events.h"
#include "status.h"

struct exit_cache;
struct loop;
struct rpc_request;
struct watches;

enum {
    WATCH_HOOK_ORDER = 20, /* end of a turn, after the batch was begun */
    WATCH_PER_OWNER_MAX = 16,
    WATCH_TOLD_A_TURN = 64, /* and all schedulers; the others soon after, in the background */
    WATCH_WAKES_MAX = 64    /* in one tail; more wait for the next */
};

struct watches *watches_create(struct loop *l, struct server_ctx *s, struct status *st);
void watches_destroy(struct watches *ws); /* parked requests are dropped */
/* Where ends are noted that may come before their watch. */
void watches_know_ends(struct watches *ws, const struct exit_cache *ends);

/* Who watches: `owner` is the address of the connection's own object, only compared. */
struct watch_owner {
    const void *owner;
    enum level level;
    const char *who; /* user@host, copied */
};

/* WATCH. -1: PBSE_UNKJOBID no such job, or none that the user may see; PBSE_NOATTR, PBSE_UNKRESC, PBSE_IVALREQ (an
 * unknown kind, the same kind twice), PBSE_SYSTEM. */
int watches_add(struct watches *ws, const struct watch_owner *o, const ifl_watch_args *args, unsigned *watch,
                struct err *e);
/* NEXT: answers `r`, now or later. -1, not answered: PBSE_IVALREQ no such watch of this owner, or one with a
 * NEXT under way. */
int watches_next(struct watches *ws, const void *owner, const ifl_next_args *args, struct rpc_request *r,
                 struct err *e);
/* Listener of EVENT_CLIENT_GONE: its watches go. */
void watches_on_gone(void *watches, const struct server_event *ev);

/* ^ Wake-ups for an owner (schedulers.c). `take` writes up to max and says how many; texts live until the next
 * call. */
struct watch_wakes {
    bool (*has)(void *arg, const void *owner);
    size_t (*take)(void *arg, const void *owner, ifl_wake *out, size_t max);
    /* The job that a wake-up with this answer asks about, if it is in no table; NULL: there is none. */
    struct job *(*unlisted)(void *arg, const void *owner, unsigned answer);
    /* The owner waits in NEXT with everything seen (true), or has been answered (false). May be NULL. */
    void (*waits)(void *arg, const void *owner, bool waiting);
};
void watches_on_wakes(struct watches *ws, const struct watch_wakes *w, void *arg);
/* Check the parked requests again at the end of this loop iteration. */
void watches_look(struct watches *ws);

/* Does every scheduler-like watcher wait at the newest number? For virtual time: return true if this
 * owner has a NEXT parked and nothing is waiting for it. */
bool watches_is_waiting(const struct watches *ws, const void *owner);

#endif
