#ifndef RM_H
#define RM_H
/* The resource monitor interface: what does a host offer?
 *
 *   int s = openrm("n1", 0);
 *   addreq(s, "ncpus");
 *   char *line = getreq(s);          "ncpus=8"; the caller frees it
 *   closerm(s);
 *
 * Names are resources (ncpus, mem, arch, custom ones) and attributes of the host (state, pcpus, jobs ...) as pbsnodes
 * shows them; the answers come from the server, which hears of them from the MOM. One that is not known is answered
 * by "name=? 15201". Requests may have qualifiers in brackets behind the name; they are not looked at.
 *
 * Errors are -1 or NULL with pbs_errno: RM_ERR_BADPARAM no such stream, RM_ERR_SYSTEM no memory or too many streams, what
 * pbs_connect and pbs_stathost say. A stream belongs to one thread at a time.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* A stream to the monitor of this host, >= 0. port: 0, or that of its MOM; the server is asked in either case. */
int openrm(char *host, unsigned int port);
int closerm(int stream);

/* In PBS these two are orders to a MOM over the network, from any privileged port. A MOM of Cede does not take them:
 * send it SIGTERM or SIGHUP on its host. Always -1, PBSE_NOSUP. */
int downrm(int stream);
int configrm(int stream, char *file);

int addreq(int stream, char *line); /* one request more; 0 */
int allreq(char *line);             /* the same to all streams; their number */

/* The answer to the request that has waited longest on this stream, malloc'ed; NULL with pbs_errno 0: there is none. */
char *getreq(int stream);
int flushreq(void); /* ask now what has been added, on all streams; the number of streams that had anything */
int activereq(void); /* a stream with an answer to be fetched; -1 with pbs_errno 0: none */

/* 1 (as at first): getreq answers "name=value"; 0: "value". */
void fullresp(int flag);

#ifdef __cplusplus
}
#endif
#endif
