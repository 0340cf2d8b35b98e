#ifndef JOBID_H
#define JOBID_H
/* Names of jobs and destinations as users write them: parsing and formatting.
 *
 *   41  41.svr1  41.svr1@other:15001      a job; the server to ask follows @
 *   41[].svr1                             an array
 *   41[7].svr1                            a subjob
 *   41[1,3-9:2].svr1                      a range of subjobs
 *   queue   @server   queue@server        a destination
 *
 * Inside the programs a job is a struct job_key, never a text.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "idset.h"
#include "pbs_ifl.h"

struct strbuf;

enum { JOBID_NO_INDEX = -1, JOBID_MAX_INDEX = 2147483646 };

struct job_key {
    int64_t seq;
    int32_t index; /* of a subjob; JOBID_NO_INDEX for a job or an array */
};

static inline bool job_key_is_equal(struct job_key a, struct job_key b)
{
    return a.seq == b.seq && a.index == b.index;
}

enum jobid_form { JOBID_JOB, JOBID_ARRAY, JOBID_SUBJOB, JOBID_RANGE };

struct jobid {
    enum jobid_form form;
    struct job_key key; /* of a RANGE: that of its array */
    const char *range;  /* RANGE: the text inside the brackets, n_range bytes; borrowed */
    size_t n_range;
    char server[PBS_MAXSERVERNAME + 1];             /* "" if not written */
    char ask[PBS_MAXHOSTNAME + PBS_MAXPORTNUM + 2]; /* what follows @, maybe host:port; "" if not written */
};

/* The whole text must be one name. -1, PBSE_IVALREQ: "illegally formed job identifier: TEXT". `out->range`
 * points into `text`. A range is checked only for its characters; jobid_check_indices and jobid_indices read it. */
int jobid_parse(const char *text, struct jobid *out, struct err *e);

/* Return true if the text begins with a digit, as names of jobs do and names of queues do not. */
bool jobid_is_jobid(const char *text);

/* The indices of an array that a RANGE or SUBJOB names, as a set that the caller destroys. Indices that the array
 * does not have cost nothing. -1: PBSE_IVALREQ; also where the array's indices are named more than twice. */
int jobid_indices(const struct jobid *id, struct idset_range array, struct idset **out, struct err *e);
/* Check that the range, if it is one, can be parsed. -1: PBSE_IVALREQ. For names whose array is not known yet. */
int jobid_check_indices(const struct jobid *id, struct err *e);

/* "41.svr1", "41[7].svr1"; with `array` and no index "41[].svr1". Empty server: no ".". Returns `out`. */
enum { JOBID_TEXT_MAX = PBS_MAXSVRJOBID + 16 };
const char *jobid_format(char out[static JOBID_TEXT_MAX], struct job_key key, bool array, const char *server);

/* The same without what follows @, and with `server` where the name has none: the name that this server knows the job
 * by. A range keeps its text. -1: the buffer has failed. */
int jobid_complete(const struct jobid *id, const char *server, struct strbuf *out);

/* "queue", "@server", "queue@server"; server may be host:port. Both outputs "" if not written.
 * -1, PBSE_IVALREQ: "illegally formed destination: TEXT". */
struct destination {
    char queue[PBS_MAXQUEUENAME + 1];
    char server[PBS_MAXHOSTNAME + PBS_MAXPORTNUM + 2];
};
int jobid_parse_destination(const char *text, struct destination *out, struct err *e);

#endif
