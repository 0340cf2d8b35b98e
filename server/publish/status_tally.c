/* The sums of a query. See status_tally.h. */
#include "status_tally.h"

#include "pbs_error.h"

void status_tally_miss(struct status_tally *t, const struct err *why)
{
    if (!t->missing++)
        t->first = *why;
}

void status_tally_miss_name(struct status_tally *t, int code, const char *text, const char *name)
{
    if (!t->missing++)
        err_set(&t->first, code, "%s %s", text, name);
}

void status_tally_miss_finished(struct status_tally *t, const char *name)
{
    status_tally_miss_name(t, PBSE_HISTJOBID,
                           "Job has finished, use -x or -H to obtain historical job information:", name);
}

void status_tally_result(const struct status_tally *t, struct err *out)
{
    err_clear(out);
    if (!t->missing)
        return;
    *out = t->first;
    if (t->served)
        out->code = 1;
}
