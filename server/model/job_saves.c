/* Can a job that runs be saved? See job_saves.h.
 *
 * Counts of hosts by what they can do are kept in the run (n_saves), so an answer costs the same for one host and for 10,000. */
#include "job_saves.h"

#include <string.h>

#include "attr_list.h"
#include "intern.h"

static const char *checkpoint_of(const struct job *j)
{
    const char *when = attr_list_text(&j->obj.attrs, JOB_ATTR_Checkpoint);

    return when ? when : "u";
}

static bool wishes_checkpoint(const struct job *j)
{
    const char *wish = attr_list_text(&j->obj.attrs, JOB_ATTR_preempt_methods);
    struct preempt_methods m;

    return wish && preempt_methods_parse(wish, &m) && preempt_methods_has(&m, METHOD_CHECKPOINT);
}

bool job_saves_wanted(const struct job *j)
{
    return checkpoint_of(j)[0] != 'n';
}

const char *job_saves_declared(const struct job *j)
{
    char when = checkpoint_of(j)[0];

    if (when == 'n')
        return NULL;
    if (when == 'c' || when == 'w' || when == 's' || when == 'a') /* auto */
        return "-c";
    if (wishes_checkpoint(j))
        return "preempt_methods";
    return j->run ? j->run->declared : NULL;
}

const char *job_saves_by(const struct job *j)
{
    const struct run *r = j->run;
    const char *by;

    if (!r || r->n_saves[RUN_SAVES_UNKNOWN] == r->n_hosts)
        return NULL;
    if (r->n_saves[RUN_SAVES_NOTHING] || r->n_saves[RUN_SAVES_UNKNOWN] || !job_saves_wanted(j))
        return "none";
    if (!r->n_saves[RUN_SAVES_PROGRAMS])
        return "host";
    by = job_saves_declared(j);
    return by ? by : "none";
}

bool job_saves_note(struct run *r, struct run_host *h, enum run_saves can)
{
    if (h->saves == can)
        return false;
    r->n_saves[h->saves]--;
    r->n_saves[can]++;
    h->saves = can;
    return true;
}

void job_saves_declare(struct run_host *h, const char *how, unsigned need_s)
{
    intern_unref(h->declared);
    h->declared = *how ? intern_ref(how) : NULL;
    h->need_s = need_s;
}

bool job_saves_join(struct run *r)
{
    const char *how = NULL;
    unsigned need_s = 0;
    bool is_other;

    for (size_t i = 0; i < r->n_hosts; i++) {
        const struct run_host *h = &r->hosts[i];

        if (!h->declared || !job_run_host_stays(h))
            continue;
        if (!how || strcmp(h->declared, "handler") == 0)
            how = h->declared;
        need_s = h->need_s > need_s ? h->need_s : need_s;
    }
    is_other = how != r->declared || need_s != r->need_s; /* interned: one address */
    intern_again(how);
    intern_unref(r->declared);
    r->declared = how;
    r->need_s = need_s;
    return is_other;
}
