#ifndef HOLD_JOB_H
#define HOLD_JOB_H
/* What qhold and qrls share: [-h hold_list] job_identifier... and one call for each job. */
#include "cmd.h"
#include "each_job.h"

struct hold_job {
    struct cmd_args a;
    const char *letters; /* -h; NULL: not given */
};

/* The row of -h, for settings that are a struct hold_job. */
extern const struct option_row hold_job_rows[1];

/* Run the command: `act` gets the letters as its context ("u" where none were given). Return the exit code. */
int hold_job_run(struct hold_job *h, int n, char *operands[], each_job_call *act);

#endif
