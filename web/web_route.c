/* Rows of requests. Parameters that several requests take are macros; a path is matched piece by piece, {id} takes one piece. */
#include "web_route.h"

#include <stdio.h>
#include <string.h>

#include "web_act.h"
#include "web_events.h"
#include "web_log.h"
#include "web_metrics.h"
#include "web_openapi.h"
#include "web_page.h"
#include "web_status.h"

enum { LIMIT_MAX = 10000, OFFSET_MAX = 100000000 };

#define FIELDS                                                                                               \
    {                                                                                                        \
        "fields", WEB_TEXT, 0, 0,                                                                            \
            "names of attributes that are wanted, with commas between; a resource behind a dot", false       \
    }
#define PAGING                                                                                               \
    {"offset", WEB_NUMBER, 0, OFFSET_MAX, "how many to leave out", false},                                   \
    {                                                                                                        \
        "limit", WEB_NUMBER, 0, LIMIT_MAX, "how many to show at most (1000)", false                          \
    }
#define END                                                                                                  \
    {                                                                                                        \
        NULL, WEB_TEXT, 0, 0, NULL, false                                                                    \
    }

static const struct web_param of_jobs[] = {
    {"state", WEB_TEXT, 0, 0, "letters of states: QR", false},
    {"queue", WEB_TEXT, 0, 0, "of this queue", false},
    {"user", WEB_TEXT, 0, 0, "of these users, with commas between", false},
    {"name", WEB_TEXT, 0, 0, "with this Job_Name", false},
    {"project", WEB_TEXT, 0, 0, "of this project", false},
    {"account", WEB_TEXT, 0, 0, "with this Account_Name", false},
    {"history", WEB_FLAG, 0, 0, "finished and moved jobs too", false},
    {"subjobs", WEB_FLAG, 0, 0, "subjobs of arrays too", false},
    FIELDS,
    PAGING,
    END};
static const struct web_param of_nodes[] = {
    {"state", WEB_TEXT, 0, 0, "whose state contains this word", false},
    {"queue", WEB_TEXT, 0, 0, "of this queue", false},
    FIELDS,
    PAGING,
    END};
static const struct web_param of_list[] = {FIELDS, PAGING, END};
static const struct web_param of_one[] = {FIELDS, END};
static const struct web_param of_events[] = {
    {"kinds", WEB_TEXT, 0, 0, "job, node, queue, reservation, with commas between", false},
    {"job", WEB_TEXT, 0, 0, "of this object alone", false},
    {"after", WEB_TEXT, 0, 0, "the cursor, or id, that was seen last; without it from now on", false},
    {"wait", WEB_NUMBER, 0, WEB_WAIT_MAX_S, "answer once, as JSON, after so many seconds at most", false},
    END};

static const struct web_param of_delete[] = {
    {"force", WEB_FLAG, 0, 0, "also where its host does not answer", false}, END};
static const struct web_param of_output[] = {{"file", WEB_TEXT, 0, 0, "out or err", false}, END};

static const struct web_param of_log[] = {
    {"days", WEB_NUMBER, 1, WEB_LOG_DAYS_MAX,
     "how many days back, today included (from its submission on, 7 at most)", false},
    END};

/* Members of bodies. */
static const struct web_param of_submit[] = {
    {"script", WEB_TEXT, 0, 0, "the text of the script, without #PBS lines", true},
    {"queue", WEB_TEXT, 0, 0, "the queue", false},
    {"attributes", WEB_OBJECT, 0, 0, "attributes as a status shows them", false},
    END};
static const struct web_param of_alter[] = {
    {"attributes", WEB_OBJECT, 0, 0, "attributes and their values; an empty text unsets one", true}, END};
static const struct web_param of_hold[] = {{"type", WEB_TEXT, 0, 0, "letters of u, o, s (u)", false}, END};
static const struct web_param of_signal[] = {
    {"signal", WEB_TEXT, 0, 0, "SIGUSR1, suspend, resume ... (SIGTERM)", false}, END};

static const struct web_route rows[] = {
    {"GET", "/", WEB_OPEN, web_page_index, "page", "The page.", NULL, NULL, "text/html"},
    {"GET", "/assets/{id}", WEB_OPEN, web_page_asset, "asset", "A file of the page.", NULL, NULL,
     "text/plain"},
    {"GET", "/metrics", WEB_READ, web_metrics_show, "metrics", "Numbers in the form of OpenMetrics.", NULL,
     NULL, "application/openmetrics-text"},
    {"GET", "/api/v1/openapi.json", WEB_READ, web_openapi_show, "getOpenApi",
     "This interface as an OpenAPI document.", NULL, NULL, "Any"},
    {"GET", "/api/v1/jobs", WEB_READ, web_status_jobs, "listJobs", "Jobs.", of_jobs, NULL, "JobList"},
    {"POST", "/api/v1/jobs", WEB_WRITE, web_act_submit, "submitJob", "Submit a job.", NULL, of_submit,
     "Created"},
    {"GET", "/api/v1/jobs/{id}", WEB_READ, web_status_job, "getJob",
     "A job, also a finished one where history is kept.", of_one, NULL, "Object"},
    {"PATCH", "/api/v1/jobs/{id}", WEB_WRITE, web_act_alter, "alterJob", "Alter attributes of a job.", NULL,
     of_alter, ""},
    {"DELETE", "/api/v1/jobs/{id}", WEB_WRITE, web_act_delete, "deleteJob", "Delete a job.", of_delete, NULL,
     ""},
    {"GET", "/api/v1/jobs/{id}/explain", WEB_READ, web_status_explain, "explainJob",
     "What its scheduler would do for it now, and why: victims, methods, what would be lost.", NULL, NULL,
     "Plan"},
    {"GET", "/api/v1/jobs/{id}/output", WEB_READ, web_act_output, "getOutput",
     "The end of the output of a job that runs.", of_output, NULL, "text/plain"},
    {"GET", "/api/v1/jobs/{id}/log", WEB_READ, web_log_show, "getLog",
     "What daemons have written about a job: lines of the logs on this host that the user who runs pbs_web may read.",
     of_log, NULL, "Log"},
    {"POST", "/api/v1/jobs/{id}/hold", WEB_WRITE, web_act_hold, "holdJob", "Hold a job.", NULL, of_hold, ""},
    {"POST", "/api/v1/jobs/{id}/release", WEB_WRITE, web_act_release, "releaseJob", "Release holds of a job.",
     NULL, of_hold, ""},
    {"POST", "/api/v1/jobs/{id}/signal", WEB_WRITE, web_act_signal, "signalJob",
     "Send a signal to a job that runs, or suspend or resume it.", NULL, of_signal, ""},
    {"GET", "/api/v1/policy", WEB_READ, web_status_policy, "getPolicy",
     "The policy of preemption that is in force.", NULL, NULL, "Policy"},
    {"GET", "/api/v1/preemptions", WEB_READ, web_status_preemptions, "listPreemptions",
     "The last 500 preemptions since this service started.", NULL, NULL, "PreemptionList"},
    {"GET", "/api/v1/nodes", WEB_READ, web_status_nodes, "listNodes", "Vnodes.", of_nodes, NULL, "NodeList"},
    {"GET", "/api/v1/nodes/{id}", WEB_READ, web_status_nodes, "getNode", "A vnode.", of_one, NULL, "Object"},
    {"GET", "/api/v1/queues", WEB_READ, web_status_queues, "listQueues", "Queues.", of_list, NULL,
     "QueueList"},
    {"GET", "/api/v1/queues/{id}", WEB_READ, web_status_queues, "getQueue", "A queue.", of_one, NULL,
     "Object"},
    {"GET", "/api/v1/reservations", WEB_READ, web_status_resvs, "listReservations", "Reservations.", of_list,
     NULL, "ReservationList"},
    {"GET", "/api/v1/reservations/{id}", WEB_READ, web_status_resvs, "getReservation", "A reservation.",
     of_one, NULL, "Object"},
    {"GET", "/api/v1/schedulers", WEB_READ, web_status_scheds, "listSchedulers",
     "Schedulers, with the policy of preemption.", of_list, NULL, "SchedulerList"},
    {"GET", "/api/v1/server", WEB_READ, web_status_server, "getServer", "The server.", of_one, NULL,
     "Object"},
    {"GET", "/api/v1/events", WEB_READ, web_events_show, "listEvents",
     "Changes as they happen: server-sent events, or with `wait` one answer.", of_events, NULL, "EventList"},
};

const struct web_route *web_routes(size_t *n)
{
    *n = sizeof rows / sizeof *rows;
    return rows;
}

/* Does the path fit the pattern? id becomes the piece that {id} takes. */
static bool web_route_fits(const char *pattern, const char *path, char *id, size_t size)
{
    const char *hole = strstr(pattern, "{id}");
    size_t before = hole ? (size_t)(hole - pattern) : strlen(pattern), n;

    *id = '\0';
    if (!hole)
        return strcmp(pattern, path) == 0;
    if (strncmp(pattern, path, before) != 0)
        return false;
    n = strcspn(path + before, "/");
    if (!n || n >= size || strcmp(path + before + n, hole + 4) != 0)
        return false;
    memcpy(id, path + before, n);
    id[n] = '\0';
    return true;
}

const struct web_route *web_route_find(const char *method, const char *path, char *id, size_t size,
                                       unsigned *status, char *allow, size_t size_allow)
{
    const char *asked = strcmp(method, "HEAD") == 0 ? "GET" : method;
    size_t used = 0;

    *allow = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!web_route_fits(rows[i].path, path, id, size))
            continue;
        if (strcmp(rows[i].method, asked) == 0)
            return &rows[i];
        used += (size_t)snprintf(allow + used, size_allow - used, "%s%s", used ? ", " : "", rows[i].method);
        used = used < size_allow ? used : size_allow - 1;
    }
    *status = used ? 405 : 404;
    *id = '\0';
    return NULL;
}
