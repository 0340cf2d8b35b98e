#ifndef JOB_SHOW_H
#define JOB_SHOW_H
/* What listings show of a job, made from its attributes, each in the caller's memory. */
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
/* Format a size with at most four digits and a unit, rounded up; NULL for NULL or an ill-formed size. */
const char *job_show_memory(const char *size, enum job_show_unit unit, char out[static JOB_SHOW_TEXT]);

/* Format how much of the job is done: "100", " 37 ", "-- ". The larger of cput and walltime; for an array the part of
 * its subjobs. */
const char *job_show_percent(const struct job_show *j, char out[static JOB_SHOW_TEXT]);

/* Return why the job waits: its comment, or, where there is none or the scheduler's comment is not the reason, a text
 * from its other attributes: the holder, the dependency that it waits for, its Execution_Time, the job for which it
 * is suspended. NULL: no reason is known. */
enum { JOB_SHOW_WHY = 512 };
const char *job_show_why(const struct batch_status *job, char out[static JOB_SHOW_WHY]);
/* Add the attributes that job_show_why reads. */
void job_show_why_attribs(struct attrs *out);

/* Return the number behind "Running:" in a list of counts; 0 if it is missing. */
long job_show_count(const char *counts, const char *state);

#endif
