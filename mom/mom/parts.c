/* The one thing that all parts do alike: post. It stands apart so that an action needs not know where the
 * machine is. */
#include "parts.h"

#include "run.h"

void parts_post(struct parts *m, struct run *r, enum run_event ev)
{
    run_fsm_post(&m->machine, r, &r->slot, ev);
}
