/* What actions and orders do with a run in one line: post an event to its machine, send one to the server, write a mark. A
 * journal that cannot be written is logged here and nowhere else; the run continues (journal.c says why). */
#include "mom.h"

#include "log.h"
#include "mom_run.h"

void mom_post(struct mom *m, struct run *r, enum run_event ev)
{
    run_fsm_post(&m->machine, r, &r->slot, ev);
}

void mom_say(struct mom *m, struct run *r, const struct exec_event_data *data)
{
    struct err e = {0};

    if (journal_say(r, data, &m->outbox, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: an event of kind %d is not in the journal", r->key.run,
                (int)data->kind);
}

void mom_note(struct run *r, enum shep_note what)
{
    struct err e = {0};

    if (journal_note(r, what, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: mark %d is not in the journal", r->key.run, (int)what);
}
