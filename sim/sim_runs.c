/* The simulator's form of a MOM's journal, without a disk. A run numbers its own events and keeps them in a list
 * until they are acknowledged; runs with events to send are in a second list. Sending does not remove an event: after
 * a new connection sim_runs_rewind sends all events again that were not acknowledged. */
#include "sim_runs.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

struct sim_event {
    struct sim_event *next;
    exec_event e;
};

struct sim_text {
    struct sim_text *next;
    char text[];
};

char *sim_runs_text(struct sim_run *r, size_t size)
{
    struct sim_text *x = calloc(1, sizeof *x + size);

    if (!x)
        abort(); /* as for an event */
    LL_PREPEND(r->texts, x);
    return x->text;
}

struct sim_run *sim_runs_add(struct sim_runs *t, const struct sim_run_key *key)
{
    struct sim_run *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->key.seq = key->seq; /* padding stays 0: it is hashed */
    r->key.index = key->index;
    r->key.run = key->run;
    HASH_ADD(hh, t->table, key, sizeof r->key, r);
    return r;
}

struct sim_run *sim_runs_find(const struct sim_runs *t, const wire_job *job, uint32_t run)
{
    struct sim_run_key key;
    struct sim_run *r;

    memset(&key, 0, sizeof key);
    key.seq = job->seq;
    key.index = job->index;
    key.run = run;
    HASH_FIND(hh, t->table, &key, sizeof key, r);
    return r;
}

static void drop_unsent(struct sim_runs *t, struct sim_run *r)
{
    if (r->is_unsent)
        DL_DELETE(t->unsent, r);
    r->is_unsent = false;
}

void sim_runs_drop(struct sim_runs *t, struct sim_run *r)
{
    drop_unsent(t, r);
    sim_runs_acked(r, UINT64_MAX);
    HASH_DEL(t->table, r);
    for (u_int i = 0; i < r->n_nodes; i++)
        free(r->nodes[i]);
    free(r->nodes);
    free(r->epilogue_ms);
    free(r->host);
    for (struct sim_text *x = r->texts, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    free(r);
}

static void add_unsent(struct sim_runs *t, struct sim_run *r)
{
    if (!r->is_unsent)
        DL_APPEND(t->unsent, r);
    r->is_unsent = true;
}

void sim_runs_post(struct sim_runs *t, struct sim_run *r, const exec_event_data *data, int64_t time_ns)
{
    struct sim_event *x = calloc(1, sizeof *x);

    if (!x)
        abort(); /* an event must not be lost, and there is no disk */
    x->e = (exec_event){.job = {.seq = r->key.seq, .index = r->key.index},
                        .run = r->key.run,
                        .seq = ++r->last_seq,
                        .time_ns = time_ns,
                        .data = *data};
    *(r->last ? &r->last->next : &r->first) = x;
    r->last = x;
    t->n_posted++;
    add_unsent(t, r);
    t->wake(t->arg);
}

size_t sim_runs_next(struct sim_runs *t, exec_event *out, size_t max)
{
    size_t n = 0;

    while (t->unsent && n < max) {
        struct sim_run *r = t->unsent;

        for (const struct sim_event *x = r->first; x && n < max; x = x->next)
            if (x->e.seq > r->sent_seq) {
                out[n++] = x->e;
                r->sent_seq = x->e.seq;
            }
        if (r->sent_seq < r->last_seq)
            break; /* the batch is full */
        drop_unsent(t, r);
    }
    return n;
}

void sim_runs_rewind(struct sim_runs *t)
{
    for (struct sim_run *r = t->table; r; r = r->hh.next) {
        if (!r->first)
            continue;
        r->sent_seq = r->first->e.seq - 1;
        add_unsent(t, r);
    }
}

void sim_runs_acked(struct sim_run *r, uint64_t seq)
{
    while (r->first && r->first->e.seq <= seq) {
        struct sim_event *x = r->first;

        r->first = x->next;
        if (!r->first)
            r->last = NULL;
        free(x);
    }
    if (r->sent_seq < seq && seq <= r->last_seq)
        r->sent_seq = seq;
}

bool sim_runs_all_acked(const struct sim_runs *t)
{
    for (const struct sim_run *r = t->table; r; r = r->hh.next)
        if (r->first)
            return false;
    return true;
}
