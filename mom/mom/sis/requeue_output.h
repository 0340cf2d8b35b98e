#ifndef REQUEUE_OUTPUT_H
#define REQUEUE_OUTPUT_H
/* Output that a run has left in the spool because its job comes back: kept for the host that runs it next.
 *
 *   spool/<job id>.OU .ER    what the job has written
 *   spool/<job id>.KEY       ours: the key of the job's files, and whose they are; where there is something in them
 *
 * The next host shows the key (START has given it one), and takes the files piece by piece (SIS FETCH). */
struct home;
struct rpc_request;
struct run;

/* The run is over here and keeps its output: before its last release is said. */
void requeue_output_keep(const struct home *h, const struct run *r);
/* The run was not wanted any more: what it has written is kept in undelivered/. */
void requeue_output_put_aside(const struct home *h, const struct run *r);
/* The job is over, or has fetched all: nothing stays. index -1: it is not a subjob. */
void requeue_output_remove(const struct home *h, long long seq, int index);
/* Answer a SIS_FETCH. */
void requeue_output_serve(const struct home *h, struct rpc_request *q);

#endif
