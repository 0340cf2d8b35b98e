/* The PBS face of a job's state. See job_view.h.
 *
 * Nothing of this is stored. The machine knows few states; what PBS shows as more (begun arrays, subjobs'
 * letters, substates) comes from fields of the job. Clients and scripts know these numbers: they are
 * PBS's, not ours. */
#include "job_view.h"

static bool is_moving(const struct job *j)
{
    return job_is_waiting(j) && attr_list_is_set(&j->obj.attrs, JOB_ATTR_moving_to);
}

char job_view_letter(const struct job *j)
{
    if (is_moving(j))
        return 'T';
    if (j->moved_to)
        return 'M';
    switch (j->state) {
    case JOB_ARRIVING:
        return 'T';
    case JOB_QUEUED:
        return j->array && j->begun ? 'B' : 'Q';
    case JOB_HELD:
        return job_is_subjob(j) ? 'Q' : 'H'; /* its array is what is held */
    case JOB_WAITING:
        return 'W';
    case JOB_STARTING:
    case JOB_RUNNING:
        return 'R';
    case JOB_SUSPENDED:
        return 'S';
    case JOB_EXITING:
        return 'E';
    case JOB_FINISHED:
    case JOB_GONE:
        return j->key.index >= 0 ? 'X' : 'F';
    case JOB_STATE_COUNT:
        break;
    }
    return '?';
}

int job_view_number(const struct job *j)
{
    switch (job_view_letter(j)) {
    case 'T':
        return 0;
    case 'Q':
        return 1;
    case 'H':
        return 2;
    case 'W':
        return 3;
    case 'R':
    case 'S':
        return 4;
    case 'E':
        return 5;
    case 'X':
        return 6;
    case 'B':
        return 7;
    case 'M':
        return 8;
    default:
        return 9;
    }
}

static int running_substate(const struct job *j)
{
    if (j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT)
        return 60;
    if (j->state == JOB_STARTING)
        return 41;
    if (j->state == JOB_SUSPENDED)
        return j->suspender == SUSPENDED_BY_SCHED ? 45 : 43;
    return 42;
}

static int finished_substate(const struct job *j)
{
    if (j->moved_to)
        return 94;
    if (j->intent == INTENT_DELETE || !j->exited)
        return 91;
    return j->exit_status == 0 ? 92 : 93;
}

int job_view_substate(const struct job *j)
{
    if (is_moving(j))
        return 2;
    switch (j->state) {
    case JOB_ARRIVING:
        return 0;
    case JOB_QUEUED:
        return j->array && j->begun ? 70 : 10;
    case JOB_HELD:
        return j->dependent ? 22 : 20;
    case JOB_WAITING:
        return 30;
    case JOB_STARTING:
    case JOB_RUNNING:
    case JOB_SUSPENDED:
        return running_substate(j);
    case JOB_EXITING:
        return j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT ? 61 : 51;
    case JOB_FINISHED:
    case JOB_GONE:
        return finished_substate(j);
    case JOB_STATE_COUNT:
        break;
    }
    return 0;
}

const char *job_view_limit(int exit_status)
{
    static const char *const row[] = {"ncpus (burst)", "ncpus (sum)", "vmem", "mem", "cput", "walltime"};
    const int first = -24; /* as PBS numbers them, downwards */
    const int n = sizeof row / sizeof row[0];

    return exit_status <= first && exit_status > first - n ? row[first - exit_status] : NULL;
}
