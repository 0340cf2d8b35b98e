/* qhold and qrls differ in one call, which each passes as a function. The default of -h is the user's hold. */
#include "hold_job.h"

#include "job_options.h"
#include "pbs_ifl.h"

static int hold_job_take_letters(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct hold_job *h = settings;

    h->letters = value;
    return job_options_is_good('h', value) ? 0 : cmd_bad_value(&h->a, row);
}

const struct option_row hold_job_rows[1] = {
    {'h', NULL, OPTION_VALUE, "hold_list", "which holds: letters of u, o, s, p; or n for none",
     hold_job_take_letters, 0},
};

int hold_job_run(struct hold_job *h, int n, char *operands[], each_job_call *act)
{
    return n ? each_job(&h->a, n, operands, act, (void *)(h->letters ? h->letters : USER_HOLD))
             : cmd_usage(&h->a);
}
