/* The way of an event: an action calls journal_say, which numbers it, writes it and puts it on the run's list; the run joins
 * the outbox and the link is woken; journal_take_unsent hands it out; the server acknowledges it when it is durable there, and
 * journal_acked frees it. A lost connection sends everything that is not acknowledged again, so the server may see an event
 * twice, with the same number, and never sees one out of order.
 *
 * Invariants of a run: the list is in order of the numbers, without a gap; acked_seq <= sent_seq <= last_seq. A number
 * is given once, except by journal_renumber, after a boot that may have lost some. A run with an event that was not sent on this
 * connection is in the outbox, unless its events are for a server of another store.
 *
 * The file is created when the first event or note cannot be derived from the shepherd's records (is_derived), and then begins
 * with what the list has: so a run of which nothing else is said has no journal, and a journal may begin above 1. An event that
 * cannot be written is sent all the same: an event that a restart of this MOM forgets does less harm than a job whose end the
 * server never hears of. The format of the file is rundir's (mom/host/rundir.h). */
#include "journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utlist.h>

#include "clock.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "rundir.h"

/* A new file begins with the events that are not acknowledged: after a restart they are read from nowhere else. */
static int append_kept(struct run *r, struct err *e)
{
    for (const struct run_event_node *x = r->first; x; x = x->next) {
        struct shep_entry entry = {.kind = SHEP_ENTRY_EVENT, .shep_entry_u.event = x->event};

        if (rundir_log_append(r->journal_fd, (xdrproc_t)xdr_shep_entry, &entry, false, e) < 0)
            return -1;
    }
    return 0;
}

static int journal_append(struct run *r, const struct shep_entry *entry, bool sync, struct err *e)
{
    bool begun = r->has_journal;

    if (r->journal_fd < 0)
        r->journal_fd = rundir_log_open(r->path, RUNDIR_JOURNAL, e);
    if (r->journal_fd < 0)
        return -1;
    r->has_journal = true;
    if (!begun && append_kept(r, e) < 0)
        return -1;
    return rundir_log_append(r->journal_fd, (xdrproc_t)xdr_shep_entry, entry, sync, e);
}

/* A deep copy by encoding and decoding, so that a new kind of event needs no code here. */
static struct run_event_node *copy_event(const struct exec_event *event)
{
    struct run_event_node *n = calloc(1, sizeof *n);
    struct byte_buf b;

    byte_buf_init(&b);
    if (n && (rpc_buf_encode(&b, (xdrproc_t)xdr_exec_event, event) < 0 ||
              rpc_buf_decode(b.bytes, b.len, (xdrproc_t)xdr_exec_event, &n->event) < 0)) {
        xdr_free((xdrproc_t)xdr_exec_event, &n->event);
        free(n);
        n = NULL;
    }
    byte_buf_fini(&b);
    return n;
}

static int journal_keep(struct run *r, const struct exec_event *event)
{
    struct run_event_node *n = copy_event(event);

    if (!n)
        return -1;
    if (r->last)
        r->last->next = n;
    else
        r->first = n;
    r->last = n;
    r->last_seq = event->seq;
    return 0;
}

static void list(struct journal_outbox *box, struct run *r)
{
    if (r->is_listed)
        return;
    DL_APPEND(box->first, r);
    r->is_listed = true;
}

static void unlist(struct journal_outbox *box, struct run *r)
{
    if (!r->is_listed)
        return;
    DL_DELETE(box->first, r);
    r->is_listed = false;
}

/* Can this event be derived again from the shepherd's records? */
static bool is_derived(const struct run *r, const struct exec_event_data *d)
{
    if (d->kind == EXEC_EVENT_RELEASE)
        /* The last release always follows; whether room was given before depends on what was to be delivered. */
        return d->exec_event_data_u.release.final;
    return d->kind == EXEC_EVENT_START || (d->kind == EXEC_EVENT_FINISH && r->ended);
}

/* Does it still matter when the host has crashed? An image does. That a job was suspended ends with the job, and numbers
 * that the server knows and we do not are passed by journal_renumber. */
static bool outlives_the_host(exec_event_kind k)
{
    return k == EXEC_EVENT_CHECKPOINTED;
}

int journal_say(struct run *r, const struct exec_event_data *data, struct journal_outbox *box, struct err *e)
{
    struct shep_entry entry = {.kind = SHEP_ENTRY_EVENT};
    struct exec_event *event = &entry.shep_entry_u.event;
    int rc = 0;

    event->job = run_job(r);
    event->run = r->key.run;
    event->seq = r->last_seq + 1;
    event->time_ns = clock_wall_ns(clock_real());
    event->data = *data;
    if (r->has_journal || !is_derived(r, data))
        rc = journal_append(r, &entry, outlives_the_host(data->kind), e);
    if (journal_keep(r, event) < 0)
        return err_set(e, ENOMEM, "no memory for event %llu of run %u", (unsigned long long)event->seq,
                       r->key.run);
    r->ready_said |= data->kind == EXEC_EVENT_READY;
    list(box, r);
    box->wake(box->arg);
    return rc;
}

int journal_note(struct run *r, enum shep_note note, struct err *e)
{
    struct shep_entry entry = {.kind = SHEP_ENTRY_NOTE, .shep_entry_u.note = note};

    return journal_append(r, &entry, false, e);
}

int journal_attrs(struct run *r, const wire_attrs *attrs, struct err *e)
{
    struct shep_entry entry = {.kind = SHEP_ENTRY_ATTRS, .shep_entry_u.attrs = *attrs};

    return journal_append(r, &entry, true, e);
}

void journal_acked(struct run *r, uint64_t seq)
{
    while (r->first && r->first->event.seq <= seq) {
        struct run_event_node *n = r->first;

        r->first = n->next;
        if (!r->first)
            r->last = NULL;
        xdr_free((xdrproc_t)xdr_exec_event, &n->event);
        free(n);
    }
    if (seq > r->acked_seq)
        r->acked_seq = seq;
    if (r->sent_seq < r->acked_seq)
        r->sent_seq = r->acked_seq;
}

void journal_renumber(struct run *r, uint64_t acked)
{
    uint64_t seq = acked;

    for (struct run_event_node *x = r->first; x; x = x->next)
        x->event.seq = ++seq;
    r->last_seq = seq;
    r->acked_seq = acked;
    r->sent_seq = acked;
}

void journal_send_again(struct journal_outbox *box, struct run *r)
{
    r->sent_seq = r->acked_seq;
    if (r->first)
        list(box, r);
}

static size_t take_of(struct run *r, struct exec_event *out, size_t max)
{
    size_t n = 0;

    for (const struct run_event_node *x = r->first; x && n < max; x = x->next)
        if (x->event.seq > r->sent_seq) {
            out[n++] = x->event;
            r->sent_seq = x->event.seq;
        }
    return n;
}

size_t journal_take_unsent(struct journal_outbox *box, const char *store, struct exec_event *out, size_t max)
{
    size_t n = 0;

    while (box->first && n < max) {
        struct run *r = box->first;

        /* The run is of another store: journal_send_again() lists it when a server of that store has accepted us. */
        if (strcmp(r->start.store, store) != 0) {
            unlist(box, r);
            continue;
        }
        n += take_of(r, out + n, max - n);
        if (r->sent_seq < r->last_seq)
            break; /* `out` is full; the run stays in the outbox */
        unlist(box, r);
    }
    return n;
}

unsigned journal_unacked(const struct run *r)
{
    unsigned n = 0;

    for (const struct run_event_node *x = r->first; x; x = x->next)
        n++;
    return n;
}

struct journal_restoring {
    struct run *r;
    struct journal_past past;
};

static void restore_note(struct run *r, enum shep_note note)
{
    switch (note) {
    case SHEP_NOTE_PROLOGUE_DONE:
        r->prologue_done = true;
        break;
    case SHEP_NOTE_EPILOGUE_DONE:
        r->epilogue_done = true;
        break;
    case SHEP_NOTE_KEEP_OUTPUT:
        r->keep_output = true;
        break;
    case SHEP_NOTE_GIVE_OUTPUT:
        r->keep_output = false;
        break;
    case SHEP_NOTE_UNWANTED:
        r->unwanted = true;
        break;
    case SHEP_NOTE_FETCHED:
        r->fetched = true;
        break;
    case SHEP_NOTE_STAGED_IN:
        r->staged_in = true;
        break;
    case SHEP_NOTE_CHECKPOINTING:
        r->ckpt.interrupted = true;
        break;
    case SHEP_NOTE_CHECKPOINT_OVER:
        r->ckpt.interrupted = false;
        break;
    case SHEP_NOTE_BEGIN_HOOKS:
        r->begin_begun = true;
        break;
    case SHEP_NOTE_PROLOGUE_BEGUN:
        r->prologue_begun = true;
        break;
    case SHEP_NOTE_SUSPEND_HOOKS:
        r->suspend_hooks_run = true;
        break;
    case SHEP_NOTE_SUSPEND_HOOKS_OVER:
        r->suspend_hooks_run = false;
        break;
    case SHEP_NOTE_PURGE:
        r->purge_wanted = true;
        break;
    }
}

static void restore_event(struct journal_restoring *s, const struct exec_event *event)
{
    /* A journal that begins above 1: what came before was derived, and acknowledged. */
    s->past.start |= event->seq > 1 && !s->r->first;
    switch (event->data.kind) {
    case EXEC_EVENT_START:
        s->past.start = true;
        break;
    case EXEC_EVENT_FINISH:
        s->past.finish = true;
        break;
    case EXEC_EVENT_RELEASE:
        s->past.release |= event->data.exec_event_data_u.release.final;
        break;
    case EXEC_EVENT_SUSPENDED:
        s->past.suspended = true;
        break;
    case EXEC_EVENT_RESUMED:
        s->past.suspended = false;
        break;
    case EXEC_EVENT_READY:
        s->r->ready_said = true;
        break;
    case EXEC_EVENT_EXCEPTION:
    case EXEC_EVENT_CHECKPOINTED:
    case EXEC_EVENT_FAILED:
    case EXEC_EVENT_NOTICE_REPLY:
    case EXEC_EVENT_HOOK:
    case EXEC_EVENT_DECLARED:
    case EXEC_EVENT_PARTY:
    case EXEC_EVENT_LEFT:
        break;
    }
    journal_keep(s->r, event);
}

static void journal_restore_entry(void *arg, void *item)
{
    struct journal_restoring *s = arg;
    const struct shep_entry *entry = item;

    s->r->has_journal = true;
    if (entry->kind == SHEP_ENTRY_EVENT)
        restore_event(s, &entry->shep_entry_u.event);
    else if (entry->kind == SHEP_ENTRY_NOTE)
        restore_note(s->r, entry->shep_entry_u.note);
    else if (entry->kind == SHEP_ENTRY_ATTRS)
        run_alter(s->r, &entry->shep_entry_u.attrs);
}

int journal_restore(struct run *r, struct journal_past *past, struct err *e)
{
    struct journal_restoring s = {.r = r};
    int rc = rundir_log_read(r->path, RUNDIR_JOURNAL, (xdrproc_t)xdr_shep_entry, sizeof(struct shep_entry),
                             journal_restore_entry, &s, e);

    *past = s.past;
    return rc;
}

void journal_close(struct journal_outbox *box, struct run *r)
{
    unlist(box, r);
    journal_acked(r, UINT64_MAX);
    if (r->journal_fd >= 0)
        close(r->journal_fd);
    r->journal_fd = -1;
}
