/* The attributes asked for and those shown are listed in two functions that must agree. The heading is written before
 * the first job: an empty listing has no output at all. */
#include "qstat_default.h"

#include "job_show.h"
#include "term_out.h"

void qstat_default_attribs(const struct qstat_default *q, struct attrs *out)
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

struct qstat_default_widths {
    size_t id, name, user, queue;
};

/* Widths in a pipe, and their bounds at a terminal. */
static struct qstat_default_widths widths(const struct qstat_default *q)
{
    const size_t text = q->wide ? 15 : 16;
    struct qstat_default_widths w = {q->wide ? 30 : q->long_ids ? 22 : 17, text, text, text};
    const struct term_out_column c[] = {
        {&w.name, 5, 60}, {&w.queue, 5, 16}, {&w.user, 5, 32}, {&w.id, 8, 40}};

    if (!q->wide)
        term_out_share_width(w.id + w.name + w.user + w.queue + 15, q->columns, c, sizeof c / sizeof c[0]);
    return w;
}

static void dashes(FILE *f, size_t n, const char *behind)
{
    while (n--)
        putc_unlocked('-', f);
    fputs(behind, f);
}

static void heading(FILE *f, const struct qstat_default *q)
{
    const struct qstat_default_widths w = widths(q);

    fprintf(f, "%-*s %-*s %-*s  %8s S Queue\n", (int)w.id, "Job id", (int)w.name, "Name", (int)w.user, "User",
            q->percent ? "% done " : "Time Use");
    dashes(f, w.id - 1, "  ");
    dashes(f, w.name, " ");
    dashes(f, w.user, "  -------- - ");
    dashes(f, q->wide ? w.queue : 5, "\n");
}

void qstat_default_job(FILE *f, struct qstat_default *q, const struct batch_status *job)
{
    const struct qstat_default_widths w = widths(q);
    char id[PBS_MAXCLTJOBID + 1], user[PBS_MAXUSER + 1], percent[JOB_SHOW_TEXT];
    struct job_show j;

    if (!q->headed)
        heading(f, q);
    q->headed = true;
    job_show_read(job, &j);
    (q->wide ? term_out_left : term_out_whole_left)(f, job_show_id(job->name, id, sizeof id), w.id);
    term_out_blanks(f, 1);
    term_out_left(f, j.name ? j.name : "", w.name);
    term_out_blanks(f, 1);
    term_out_left(f, job_show_user(j.owner, user, sizeof user), w.user);
    term_out_blanks(f, 2);
    term_out_right(f, q->percent ? job_show_percent(&j, percent) : j.used_cput ? j.used_cput : "0", 8);
    term_out_blanks(f, 1);
    term_out_left(f, j.state ? j.state : "", 1);
    term_out_blanks(f, 1);
    term_out_left(f, j.queue ? j.queue : "", w.queue);
    putc_unlocked('\n', f);
}
