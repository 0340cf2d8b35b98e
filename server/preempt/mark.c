/* Facts about an end are noted once: the end of a job is noted before it becomes history, which is before it is settled. */
#include "mark.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "clock.h"
#include "held.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "site.h"

int mark_make(struct site *s, struct job *j, const struct mark_ask *ask, struct err *e)
{
    struct preempt_mark *m = calloc(1, sizeof *m);

    if (!m)
        return err_set(e, PBSE_SYSTEM, "no memory to preempt %s", j->obj.name);
    snprintf(m->left, sizeof m->left, "%s", ask->letters);
    m->by = intern_ref(ask->by);
    m->scheduler = intern_ref(ask->scheduler);
    m->urgent = intern_ref(ask->urgent);
    m->since_ms = clock_wall_ms(s->clock);
    m->notice.grace_ms = ask->grace_ms;
    m->notice.grace_max_ms = ask->grace_max_ms;
    j->preempt = m;
    return 0;
}

void mark_drop(struct site *s, struct job *j)
{
    intern_unref(j->preempt->by);
    intern_unref(j->preempt->scheduler);
    intern_unref(j->preempt->urgent);
    intern_unref(j->preempt->offer);
    free(j->preempt);
    j->preempt = NULL;
    held_review_job(s, j);
    if (j->state != JOB_GONE)
        jobs_touch(s->jobs, j, PART_HOT);
}

void mark_take_letter(struct preempt_mark *m)
{
    size_t n = strlen(m->tried);

    if (n + 1 < sizeof m->tried)
        m->tried[n] = m->left[0];
    memmove(m->left, m->left + 1, strlen(m->left));
}

/* What people see of it. */
static void note(struct site *s, struct job *j, char code)
{
    struct preempt_mark *m = j->preempt;

    if (m->noted)
        return;
    m->noted = true;
    j->ptime_s = j->preempt_time_s = site_now_s(s);
    j->preempt_count++;
    j->preempt_method = code;
    job_set_text(&j->preempted_by, m->urgent ? m->urgent : m->by);
}

bool mark_went_otherwise(const struct job *j, const char *code)
{
    return code[0] == 'D' && (j->preempt->method != 'D' || j->preempt->came_late);
}

void mark_note_end(struct site *s, struct job *j, const char *code)
{
    if (strcmp(code, "000") == 0) {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job failed to be preempted");
        j->preempt_failed_s = site_now_s(s);
    } else if (code[0] == 'P') {
        j->preempt->noted = true; /* it runs on: it has not been preempted */
    } else if (!mark_went_otherwise(j, code)) {
        note(s, j, code[0]);
    }
}

void mark_note_gone(struct site *s, struct job *j)
{
    struct preempt_mark *m = j->preempt;

    if (!m)
        return;
    m->came_late = j->run && j->run->finished && j->run->reason == EXEC_END_ITSELF;
    if (m->method == 'D' && !m->came_late)
        note(s, j, 'D');
}
