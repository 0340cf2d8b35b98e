#ifndef WEB_STATUS_H
#define WEB_STATUS_H
/* Handlers that show objects. Values are those of `qstat -F json`, `pbsnodes -F json` and `pbs_rstat -F json`: the same
 * functions write them. Each asks the server; nothing is kept. */

#include <stdbool.h>

struct batch_status;
struct json_out;
struct web_call;

void web_status_jobs(struct web_call *w);
void web_status_job(struct web_call *w);
/* These show the one object that the path names, or a page of all. */
void web_status_nodes(struct web_call *w);
void web_status_queues(struct web_call *w);
void web_status_resvs(struct web_call *w);
void web_status_server(struct web_call *w);
void web_status_scheds(struct web_call *w);
/* As `pbs_preempt --policy -F json` and `pbs_preempt --explain -F json`. */
void web_status_policy(struct web_call *w);
void web_status_explain(struct web_call *w);
/* The last preemptions that this program has seen. */
void web_status_preemptions(struct web_call *w);

#endif
