/* What is asked of the server and what is shown are two functions that must agree. The heading is written
 * before the first job, so that a listing of nothing is nothing at all. */
#include "qstat_short.h"

#include "job_show.h"
#include "table.h"

void qstat_short_wants(const struct qstat_short *q, struct attrs *out)
{
    attrs_add(out, ATTR_name, NULL, "", SET);
    attrs_add(out, ATTR_owner, NULL, "", SET);
    attrs_add(out, ATTR_used, "cput", "", SET);
    attrs_add(out, ATTR_state, NULL, "", SET);
    attrs_add(out, ATTR_queue, NULL, "", SET);
    attrs_add(out, ATTR_array, NULL, "", SET);
    if (!q->percent)
        return;
    attrs_add(out, ATTR_used, "walltime", "", SET);
    attrs_add(out, ATTR_l, "cput", "", SET);
    attrs_add(out, ATTR_l, "walltime", "", SET);
    attrs_add(out, ATTR_array_state_count, NULL, "", SET);
}

static void heading(FILE *f, const struct qstat_short *q)
{
    const char *time = q->percent ? "% done " : "Time Use";

    if (q->wide) {
        fprintf(f, "%-30s %-15s %-15s  %8s %s %s\n", "Job id", "Name", "User", time, "S", "Queue");
        fputs("-----------------------------  --------------- ---------------  -------- - ---------------\n",
              f);
    } else if (q->long_ids) {
        fprintf(f, "%-22s %-16s %-16s  %8s %s %s\n", "Job id", "Name", "User", time, "S", "Queue");
        fputs("---------------------  ---------------- ----------------  -------- - -----\n", f);
    } else {
        fprintf(f, "%-17s %-16s %-16s  %8s %s %s\n", "Job id", "Name", "User", time, "S", "Queue");
        fputs("----------------  ---------------- ----------------  -------- - -----\n", f);
    }
}

void qstat_short_job(FILE *f, struct qstat_short *q, const struct batch_status *job)
{
    const size_t text = q->wide ? 15 : 16;
    char id[PBS_MAXCLTJOBID + 1], user[PBS_MAXUSER + 1], percent[JOB_SHOW_TEXT];
    struct job_show j;

    if (!q->headed)
        heading(f, q);
    q->headed = true;
    job_show_read(job, &j);
    table_whole_left(f, job_show_id(job->name, id, sizeof id), q->wide ? 30 : q->long_ids ? 22 : 17);
    table_blanks(f, 1);
    table_left(f, j.name ? j.name : "", text);
    table_blanks(f, 1);
    table_left(f, job_show_user(j.owner, user, sizeof user), text);
    table_blanks(f, 2);
    table_right(f, q->percent ? job_show_percent(&j, percent) : j.used_cput ? j.used_cput : "0", 8);
    table_blanks(f, 1);
    table_left(f, j.state ? j.state : "", 1);
    table_blanks(f, 1);
    table_left(f, j.queue ? j.queue : "", text);
    putc_unlocked('\n', f);
}
