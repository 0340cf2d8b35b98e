#ifndef CLIENT_END_H
#define CLIENT_END_H
/* qsub's end of an interactive job: `pbs_terminal client JOB FD`, FD being a listening socket; on descriptor FD + 1
 * is the key, in hexadecimal digits; where X11 is wanted an X behind it and the digits of the display's cookie, if it has one.
 * Waits for the host that knows the key, then our terminal is the job's until the job ends, or the user leaves.
 * 0: the job has ended; 1: the connection was lost; 4: the user has said that it is to end (escape.h). */
int client_end_run(const char *job, int listening);

#endif
