#ifndef HOST_RELEASE_H
#define HOST_RELEASE_H
/* job.release_nodes() of a prologue or launch hook, on the first host: kept until the job runs, then said to the server, which releases the
 * vnodes as pbs_release_nodes does. A MOM that dies between both has forgotten it. Loop thread only. */
#include <jansson.h>

struct mom;
struct run;

/* Keep what an answer asks for in the run; a later hook replaces it. */
void host_release_take(struct run *r, const char *hook, const json_t *answer);
/* START was said: say it. */
void host_release_say(struct mom *m, struct run *r);

#endif
