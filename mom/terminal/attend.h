#ifndef ATTEND_H
#define ATTEND_H
/* qsub's end of an interactive job: `pbs_terminal attend JOB FD`, FD being a listening socket; the key is on descriptor
 * FD + 1, in hexadecimal digits. Waits for the host that knows the key, then our terminal is the job's until the job ends.
 * 0: the job has ended; 1: the connection was lost. */
int attend_run(const char *job, int listening);

#endif
