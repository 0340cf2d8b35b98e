#ifndef JOURNAL_H
#define JOURNAL_H
/* The events of a run: numbered, written to its journal, kept until the server has acknowledged them.
 *
 * What the shepherd's records imply (start, the finish that they tell, release) gets the same number whenever it is
 * derived again, so as long as nothing else is said there is no journal at all. The first event or note that cannot
 * be derived makes one, and everything after it is there. It survives this process; what counts beyond a crash of
 * the host as well (a checkpoint, altered attributes) is synced. A journal that begins above 1 means: start was said,
 * and acknowledged.
 */
#include <stdbool.h>
#include <stdint.h>

#include <shep.h>

#include "err.h"

struct run;

struct run_event_node {
    struct run_event_node *next;
    struct exec_event event; /* owned */
};

/* The runs that have something to send, in the order in which they got it; `wake` is called for each. */
struct journal_outbox {
    struct run *first;
    void (*wake)(void *arg);
    void *arg;
};

/* Number and keep an event; its data is copied. -1: it could not be written, and is sent from memory all the same; ENOMEM: it is
 * lost. */
int journal_say(struct run *r, const struct exec_event_data *data, struct journal_outbox *box, struct err *e);

/* Write a mark that the server does not see: journal_restore sets the field of `r` that belongs to it. A new mark is a member of
 * shep_note (ifl/protocol/shep.x) and a case in restore_note. -1: it could not be written. */
int journal_note(struct run *r, enum shep_note note, struct err *e);

/* Write attributes that UPDATE has changed, synced: after a restart of the MOM they are in r->start as they are now. */
int journal_attrs(struct run *r, const wire_attrs *attrs, struct err *e);

/* Free the events up to `seq`, which are durable at the server. Repeated and old acknowledgements do no harm. */
void journal_acked(struct run *r, uint64_t seq);
/* Count everything that is not acknowledged as not sent: the connection is another one. */
void journal_send_again(struct journal_outbox *box, struct run *r);
/* Take up to `max` events that have not been sent, the oldest of each run first: shallow copies, valid until an event is acknowledged. They
 * count as sent. Events of a run of another store than `store` (the server's) stay, and wait for journal_send_again(). Return how many. */
size_t journal_take_unsent(struct journal_outbox *box, const char *store, struct exec_event *out, size_t max);
unsigned journal_unacked(const struct run *r);

/* After a crash of the host, numbers that the server knows may be lost here: what is not acknowledged gets numbers
 * behind `acked`. */
void journal_renumber(struct run *r, uint64_t acked);

/* After a restart: read the journal into `r` (events, numbers, notes), and what has been said. */
struct journal_past {
    bool start, finish, release, suspended;
};
int journal_restore(struct run *r, struct journal_past *past, struct err *e);

void journal_close(struct journal_outbox *box, struct run *r); /* the file, and what is kept in memory */

#endif
