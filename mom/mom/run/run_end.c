/* From the end record of a shepherd to Exit_status as PBS has it: the exit code, or 256 and the signal, or for a job that could
 * not begin the code of its setup. Where the MOM ended the job for a limit, the status is that of the limit: the job has died of
 * the MOM's own signal, which says nothing to its owner. ifl/def/exit_status.h has the numbers. */
#include "run_end.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "enforce.h"
#include "exit_status.h"
#include "mom_run.h"

static int wait_status(int status)
{
    return WIFSIGNALED(status) ? EXIT_STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The first row of a reason counts; reasons without a row keep the status of the process. */
static const struct {
    exec_reason reason;
    int status;
} limits[] = {
    {EXEC_END_NCPUS, EXIT_STATUS_NCPUS_SUM},
    {EXEC_END_VMEM, EXIT_STATUS_VMEM},
    {EXEC_END_MEM, EXIT_STATUS_MEM},
    {EXEC_END_LOST, EXIT_STATUS_LOST},
    {EXEC_END_CHECKPOINTED, EXIT_STATUS_CHECKPOINTED},
    {EXEC_END_CPUT, EXIT_STATUS_CPUT},
    {EXEC_END_WALLTIME, EXIT_STATUS_WALLTIME},
};

void run_end_judge(const struct shep_ended *ended, struct run_failure *out)
{
    out->reason = ended->reason;
    out->status = ended->how == SHEP_END_SETUP ? ended->code : wait_status(ended->status);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (ended->how != SHEP_END_SETUP && limits[i].reason == ended->reason)
            out->status = limits[i].status;
    if (out->status == EXIT_STATUS_NCPUS_SUM && ended->reason == EXEC_END_NCPUS &&
        strstr(ended->text, ENFORCE_BURST))
        out->status = EXIT_STATUS_NCPUS_BURST;
    snprintf(out->text, sizeof out->text, "%s", ended->text);
}
