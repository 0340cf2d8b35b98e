#ifndef JOB_SHOW_H
#define JOB_SHOW_H
/* What listings say of a job, made from its attributes; each in caller's memory. */
#include <stdbool.h>
#include <stddef.h>

#include "attrs.h"
#include "pbs_ifl.h"

/* The attributes that listings show, found in one walk; NULL where the job has none. */
struct job_show {
    const char *name, *owner, *state, *queue, *session, *exec_host, *comment, *array, *array_states, *stime;
    const char *used_cput, *used_walltime, *want_cput, *want_walltime, *nodect, *ncpus, *mem, *estimated;
};

void job_show_read(const struct batch_status *job, struct job_show *out);

enum { JOB_SHOW_TEXT = 64 };

/* "41.svr1": the server's name up to its first dot. */
const char *job_show_id(const char *name, char *out, size_t size);
/* The owner without the host. */
const char *job_show_user(const char *owner, char *out, size_t size);
/* "01:00" of "01:00:59"; NULL stays NULL. */
const char *job_show_hhmm(const char *duration, char out[static JOB_SHOW_TEXT]);

enum job_show_unit { JOB_SHOW_OWN, JOB_SHOW_GB, JOB_SHOW_MW };
/* At most four digits and a unit, rounded up; NULL for NULL or what is no size. */
const char *job_show_memory(const char *size, enum job_show_unit unit, char out[static JOB_SHOW_TEXT]);

/* How much of it is done: "100", " 37 ", "-- ". The larger of cput and walltime; of an array its subjobs. */
const char *job_show_percent(const struct job_show *j, char out[static JOB_SHOW_TEXT]);

/* Why it waits, in the words of its comment; where it has none, or one of the scheduler that is not the reason, made of its
 * other attributes: who holds it, the dependency that it waits for, its Execution_Time, the job for which it is suspended.
 * NULL: there is nothing to say. */
enum { JOB_SHOW_WHY = 512 };
const char *job_show_why(const struct batch_status *job, char out[static JOB_SHOW_WHY]);
/* The attributes that it looks at. */
void job_show_why_attribs(struct attrs *out);

/* The number behind "Running:" in a list of counts; 0 if it is not there. */
long job_show_count(const char *counts, const char *state);

#endif
