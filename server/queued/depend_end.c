/* Ends of dependencies. See depend_end.h. A question about an end is answered from the job where it is here, else from its record,
 * which has what the other server said last; callers do not ask which. */
#include "depend_end.h"

#include <string.h>

#include "store_notes.h"
#include "server_ctx.h"

struct depend_end depend_end_find(const struct depends *w, struct job_key key)
{
    struct job *j = jobs_find(w->ctx->jobs, key);

    return (struct depend_end){.job = j,
                               .depend_remote = j ? NULL : depend_remotes_find(w->depend_remotes, key)};
}

unsigned depend_facts_of(const struct job *j)
{
    bool runs = j->state == JOB_RUNNING || j->state == JOB_SUSPENDED || j->state == JOB_EXITING;
    bool ran = j->exited && j->intent != INTENT_DELETE; /* its end may come with the news of its start */
    /* deleted subjobs do not count in an array's status, but an array that was deleted has not come to its end */
    bool cut_short = j->array && j->intent == INTENT_DELETE;
    unsigned facts = (unsigned)attr_list_number(&j->obj.attrs, JOB_ATTR_tie_facts, 0);

    if (runs || ran || j->stime_s != 0)
        facts |= DEPEND_FACT_STARTED;
    if (job_is_over(j))
        facts |= DEPEND_FACT_OVER;
    if (job_is_over(j) && j->exited && j->exit_status == 0 && !cut_short)
        facts |= DEPEND_FACT_OK;
    return facts;
}

unsigned depend_end_facts(struct depend_end t)
{
    return t.job ? depend_facts_of(t.job) : t.depend_remote->facts;
}

bool depend_end_is_over(struct depend_end t)
{
    return t.job ? job_is_over(t.job) : (t.depend_remote->facts & DEPEND_FACT_OVER) != 0;
}

bool depend_end_waits(struct depend_end t)
{
    return t.job ? job_is_waiting(t.job)
                 : !(t.depend_remote->facts & (DEPEND_FACT_STARTED | DEPEND_FACT_OVER));
}

const char *depend_end_name(struct depend_end t)
{
    return t.job ? t.job->obj.name : t.depend_remote->name;
}

const char *depend_end_user(struct depend_end t)
{
    return t.job ? t.job->user : t.depend_remote->user;
}

struct depend_item depend_end_item(struct depend_end t, enum depend_kind k)
{
    return (struct depend_item){.kind = k,
                                .key = t.job ? t.job->key : t.depend_remote->key,
                                .array =
                                    t.job ? strchr(t.job->obj.name, '[') != NULL : t.depend_remote->array};
}

void depend_end_list(const struct depends *w, struct depend_end t, struct depend_items *out)
{
    struct err ignored;

    if (t.job)
        depend_list_of(w->ctx, t.job, out);
    else
        depend_list_read(w->ctx, t.depend_remote->depend, out, &ignored);
}

const char *depend_gone(const struct depends *w, struct job_key key, bool array)
{
    char id[JOBID_TEXT_MAX];

    return store_notes_find(w->store_notes, "gone", jobid_format(id, key, array, w->ctx->name));
}
