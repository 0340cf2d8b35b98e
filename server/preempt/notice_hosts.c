/* What the hosts of a job have answered to its notice. See notice_hosts.h.
 *
 * preempt_notice.c writes the answers of hosts, exec_take.c and run_checkpoint.c what they have declared. Both are stored with the run, so
 * that a restarted server knows for which hosts the job still waits. Each question walks over the hosts, as each event of a host does. */
#include "notice_hosts.h"

#include <string.h>

#include <exec.h>

#include "job_run.h"

void notice_hosts_begin(struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        r->hosts[i].answer = 0;
}

/* A MOM of before tells of declarations alone. A handler for a signal answers nothing. */
static bool takes_part(const struct run_host *h)
{
    return job_run_host_stays(h) &&
           (h->answer || h->takes_part || (h->declared && strcmp(h->declared, "pmix") == 0));
}

static bool is_ready(const struct run_host *h)
{
    return h->answer == EXEC_NOTICE_READY || h->answer == EXEC_NOTICE_SAVED ||
           h->answer == EXEC_NOTICE_REFUSE;
}

bool notice_hosts_are_ready(const struct run *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n_hosts; i++) {
        if (!takes_part(&r->hosts[i]))
            continue;
        if (!is_ready(&r->hosts[i]))
            return false;
        any = true;
    }
    return any;
}

static bool any_answers(const struct run *r, int answer)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (takes_part(&r->hosts[i]) && r->hosts[i].answer == answer)
            return true;
    return false;
}

int notice_hosts_answer(const struct run *r)
{
    static const int speaks_for_all[] = {EXEC_NOTICE_DECLINE, EXEC_NOTICE_PARTIAL, EXEC_NOTICE_DEFER};

    for (size_t i = 0; i < sizeof speaks_for_all / sizeof speaks_for_all[0]; i++)
        if (any_answers(r, speaks_for_all[i]))
            return speaks_for_all[i];
    if (!notice_hosts_are_ready(r))
        return 0;
    if (any_answers(r, EXEC_NOTICE_READY))
        return EXEC_NOTICE_READY;
    return any_answers(r, EXEC_NOTICE_SAVED) ? EXEC_NOTICE_SAVED : EXEC_NOTICE_REFUSE;
}
