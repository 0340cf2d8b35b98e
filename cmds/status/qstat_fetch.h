#ifndef QSTAT_FETCH_H
#define QSTAT_FETCH_H
/* An operand of qstat: the server and the object that it names, and how they are fetched. Errors are those of libpbs
 * (pbs_errno); a list is freed by pbs_statfree. */
#include "attrs.h"
#include "pbs_ext.h"
#include "qstat_options.h"
#include "strbuf.h"

struct qstat_target {
    char server[PBS_MAXHOSTNAME + PBS_MAXPORTNUM + 2];
    char queue[PBS_MAXQUEUENAME + 1];
    struct strbuf ids; /* job identifiers, comma list; "" none */
    char shown[PBS_MAXCLTJOBID + 1];
};

/* Parse an operand; NULL: the default server's objects. Return -1 after a message. In both cases the caller frees
 * t->ids (strbuf_fini). */
int qstat_fetch_target(const struct qstat *q, const char *operand, struct qstat_target *t);

struct qstat_fetch {
    const struct qstat *q;
    const struct qstat_target *t;
    struct attrl *wants; /* NULL: all attributes */
    int connection;
};

void qstat_fetch_jobs_each(const struct qstat_fetch *f, pbs_job_fn *fn, void *arg); /* as they come in */
struct batch_status *qstat_fetch_jobs(const struct qstat_fetch *f);
/* Fetch queues or servers, of which there are few. */
struct batch_status *qstat_fetch_objects(const struct qstat_fetch *f);

#endif
