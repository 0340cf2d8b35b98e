/* The PBS face of a job's state. See job_view.h.
 *
 * Nothing of this is stored. The machine knows few states; what PBS shows as more (begun arrays, subjobs'
 * letters, substates) comes from fields of the job. Clients and scripts know these numbers: they are
 * PBS's, not ours. */
#include "job_view.h"

#include <assert.h>

static bool is_moving(const struct job *j)
{
    return job_is_waiting(j) && attr_list_is_set(&j->obj.attrs, JOB_ATTR_moving_to);
}

static bool is_begun_array(const struct job *j)
{
    return j->state == JOB_QUEUED && j->array && j->begun;
}

/* What a state shows unless a field of the job says more. */
static const struct job_face {
    char letter;
    int substate;
} faces[] = {
    [JOB_ARRIVING] = {'T', 0},   [JOB_QUEUED] = {'Q', 10},   [JOB_HELD] = {'H', 20},
    [JOB_WAITING] = {'W', 30},   [JOB_STARTING] = {'R', 41}, [JOB_RUNNING] = {'R', 42},
    [JOB_SUSPENDED] = {'S', 43}, [JOB_EXITING] = {'E', 51},  [JOB_FINISHED] = {'F', 92},
    [JOB_GONE] = {'F', 92},
};
static_assert(JOB_STATE_COUNT == 10, "a new state has its row in faces");

char job_view_letter(const struct job *j)
{
    if (is_moving(j))
        return 'T';
    if (j->moved_to)
        return 'M';
    if (is_begun_array(j))
        return 'B';
    if (j->state == JOB_HELD && job_is_subjob(j))
        return 'Q'; /* its array is what is held */
    if (job_is_over(j) && job_is_subjob(j))
        return 'X';
    return faces[j->state].letter;
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

/* It ends in order to run again. */
static bool goes_back(const struct job *j)
{
    return j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT;
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
    if (is_begun_array(j))
        return 70;
    if (j->state == JOB_HELD && j->dependent)
        return 22;
    if (job_is_placed(j) && goes_back(j))
        return j->state == JOB_EXITING ? 61 : 60;
    if (j->state == JOB_SUSPENDED && j->suspender == SUSPENDED_BY_SCHED)
        return 45;
    return job_is_over(j) ? finished_substate(j) : faces[j->state].substate;
}

const char *job_view_limit(int exit_status)
{
    static const char *const row[] = {"ncpus (burst)", "ncpus (sum)", "vmem", "mem", "cput", "walltime"};
    const int first = -24; /* as PBS numbers them, downwards */
    const int n = sizeof row / sizeof row[0];

    return exit_status <= first && exit_status > first - n ? row[first - exit_status] : NULL;
}
