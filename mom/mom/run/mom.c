/* Helpers of actions and orders: post an event, report one to the server, write a mark. They need not know where
 * the machine and the journal are. */
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
        log_err(LOGC_JOB, r->id, &e, "journal");
}

void mom_note(struct run *r, enum shep_note what)
{
    struct err e = {0};

    if (journal_note(r, what, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "journal");
}
