/* The server is asked for the job first: the log of one that it does not show to this user is not looked for. The files are those of
 * this host, read with the rights of the user who runs this program, as by tracejob. A log of a day may be large, so a moment's work
 * is bounded by the number of days, and one such search runs at a time. */
#include "web_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attrs.h"
#include "conf.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "trace_files.h"
#include "trace_log.h"
#include "web_call.h"
#include "web_pbs.h"

enum { DAY_S = 86400, DAYS = 7, REPEATS = 15 };

struct web_log_job {
    char name[PBS_MAXCLTJOBID + 1];
    int64_t ctime_s; /* 0: not known */
};

static int web_log_job_ask(struct web_call *w, int c, void *arg)
{
    static char history[] = "x";
    struct attrl wanted = {.name = (char *)ATTR_ctime, .value = (char *)""};
    struct web_log_job *job = arg;
    struct batch_status *found = pbs_statjob(c, w->id, &wanted, NULL);
    const char *ctime;

    if (!found && pbs_errno == PBSE_HISTJOBID)
        found = pbs_statjob(c, w->id, &wanted, history);
    if (!found)
        return -1;
    ctime = attrs_value(found->attribs, ATTR_ctime, NULL);
    job->ctime_s = ctime ? strtoll(ctime, NULL, 10) : 0;
    snprintf(job->name, sizeof job->name, "%s", found->name);
    pbs_statfree(found);
    return 0;
}

/* From the day on which it was submitted, a week at most where no number is asked for. */
static long web_log_days(const struct web_call *w, const struct web_log_job *job)
{
    int64_t age_s = job->ctime_s ? time(NULL) - job->ctime_s : 0;
    int64_t days = age_s > 0 ? age_s / DAY_S + 2 : 1; /* the clock may have passed midnight once more */

    return (long)web_call_number(w, "days", days < DAYS ? days : DAYS);
}

static void web_log_put(struct web_call *w, const struct web_log_job *job, const struct trace_files *files,
                        const struct trace_log *log)
{
    if (!files->n_read && files->n_kept)
        web_call_problem(w, 403, 0, "the logs below %s are not open to the user who runs pbs_web",
                         files->home);
    else if (!files->n_read)
        web_call_problem(w, 404, 0, "there are no logs of these days below %s on this host", files->home);
    else if (web_call_json(w)) {
        json_out_string(&w->json, "id", job->name);
        json_out_number(&w->json, "days", files->days);
        trace_files_json(&w->json, "lines", log, REPEATS);
        web_call_json_end(w, 200);
    }
}

static void web_log_search(struct web_call *w, const struct web_log_job *job)
{
    static pthread_mutex_t one =
        PTHREAD_MUTEX_INITIALIZER; /* of the process: searches, one after the other */
    struct trace_log log = {.n = 0};
    struct jobid id;
    struct err e;
    struct conf *conf = conf_load(&e);
    struct trace_files files = {.origins = "ASLM", .days = web_log_days(w, job)};

    if (!conf) {
        web_call_problem(w, 503, 0, "%s", e.text);
        return;
    }
    files.home = conf_text(conf, CONF_PBS_HOME);
    if (jobid_parse(job->name, &id, &e) < 0)
        web_call_problem(w, 404, PBSE_UNKJOBID, "%s", e.text);
    else if (pthread_mutex_trylock(&one) != 0)
        web_call_problem(w, 503, 0, "another log is being searched; try again in a moment");
    else {
        int rc = trace_files_read(&files, &log, &id);

        pthread_mutex_unlock(&one);
        if (rc < 0)
            web_call_problem(w, 503, 0, "no memory");
        else
            web_log_put(w, job, &files, &log);
    }
    trace_log_fini(&log);
    conf_destroy(conf);
}

void web_log_show(struct web_call *w)
{
    struct web_log_job job;

    if (!pbs_isjobid(w->id))
        web_call_problem(w, 404, PBSE_UNKJOBID, "%s is not the identifier of a job", w->id);
    else if (web_pbs_ask(w, web_log_job_ask, &job))
        web_log_search(w, &job);
}
