/* Ends of ties. See depend_end.h. */
#include "depend_end.h"

#include <string.h>

#include "store_notes.h"
#include "server_ctx.h"

struct depend_end depend_end_find(const struct depends *w, struct job_key key)
{
    struct job *j = jobs_find(w->site->jobs, key);

    return (struct depend_end){.job = j, .away = j ? NULL : aways_find(w->aways, key)};
}

unsigned depend_facts_of(const struct job *j)
{
    bool runs = j->state == JOB_RUNNING || j->state == JOB_SUSPENDED || j->state == JOB_EXITING;
    bool ran = j->exited && j->intent != INTENT_DELETE; /* its end may come with the news of its start */
    /* deleted subjobs do not count in an array's status, but an array that was deleted has not come to its end */
    bool cut_short = j->array && j->intent == INTENT_DELETE;
    unsigned facts = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_tie_facts, 0);

    if (runs || ran || j->stime_s != 0)
        facts |= TIE_STARTED;
    if (job_is_over(j))
        facts |= TIE_OVER;
    if (job_is_over(j) && j->exited && j->exit_status == 0 && !cut_short)
        facts |= TIE_OK;
    return facts;
}

unsigned depend_end_facts(struct depend_end t)
{
    return t.job ? depend_facts_of(t.job) : t.away->facts;
}

bool depend_end_is_over(struct depend_end t)
{
    return t.job ? job_is_over(t.job) : (t.away->facts & TIE_OVER) != 0;
}

bool depend_end_waits(struct depend_end t)
{
    return t.job ? job_is_waiting(t.job) : !(t.away->facts & (TIE_STARTED | TIE_OVER));
}

const char *depend_end_name(struct depend_end t)
{
    return t.job ? t.job->obj.name : t.away->name;
}

const char *depend_end_user(struct depend_end t)
{
    return t.job ? t.job->user : t.away->user;
}

struct depend_item depend_end_item(struct depend_end t, enum depend_kind k)
{
    return (struct depend_item){.kind = k,
                                .key = t.job ? t.job->key : t.away->key,
                                .array = t.job ? strchr(t.job->obj.name, '[') != NULL : t.away->array};
}

void depend_end_list(const struct depends *w, struct depend_end t, struct depend_items *out)
{
    struct err ignored;

    if (t.job)
        depend_list_of(w->site, t.job, out);
    else
        depend_list_read(w->site, t.away->depend, out, &ignored);
}

const char *depend_gone(const struct depends *w, struct job_key key, bool array)
{
    char id[JOBID_TEXT_MAX];

    return notes_find(w->notes, "gone", jobid_format(id, key, array, w->site->name));
}
