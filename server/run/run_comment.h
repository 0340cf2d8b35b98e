#ifndef RUN_COMMENT_H
#define RUN_COMMENT_H
/* The comment of a job that is sent to its hosts, runs, or runs again after it was suspended:
 * "Job run at Tue Mar 03 at 10:15 on (n1:ncpus=1)", and why it was started again, where that is so. */
struct job;
struct server_ctx;

/* `what`: "run", "was sent for execution". The caller touches the job. */
void run_comment_set(const struct server_ctx *s, struct job *j, const char *what);
/* Instead of "was sent for execution", of a job that a person runs: "Job manually qrun.", or on these vnodes (NULL:
 * those that the scheduler chose). It stays until the job has started. The caller touches the job. */
void run_comment_set_by_hand(struct job *j, const char *location);

/* The run is over and the job waits again: what its comment says of the run goes, whatever else it says stays (a
 * hold, why it could not be started). The caller touches the job. */
void run_comment_forget(struct job *j);

#endif
