#ifndef ZYGOTE_H
#define ZYGOTE_H
/* Shepherds without exec: a process that waits, and forks itself for each run.
 *
 * Starting a program costs more than all else that a shepherd does for a short job, most of it in the C library's look
 * at the processor, which is slow in a virtual machine. The zygote has done that once. A MOM has one, starts it, and
 * sends it a packet for each run: the run's directory, with the shepherd's socket to the MOM as a descriptor. Nothing
 * is answered: a shepherd speaks for itself, and one that never began has let go of its socket. The zygote ends when
 * its MOM has; its shepherds stay.
 */

/* `mom`: a SOCK_SEQPACKET socket. `argv` is that of the program: its memory from argv[1] on is what `ps` shows, and each
 * shepherd writes its own command line there. Returns the exit status, of the zygote or of a shepherd. */
int zygote_run(int mom, char *argv[]);

#endif
