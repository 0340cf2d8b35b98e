#ifndef WEB_METRICS_H
#define WEB_METRICS_H
/* /metrics in the form of OpenMetrics 1.0. What there is now is asked of the server; what has happened is counted by web_watch.h, since
 * this program started. */
#include <stdint.h>

struct web_call;

void web_metrics_show(struct web_call *w);

/* A request has been answered with this status, after so many microseconds. Any thread. */
void web_metrics_answered(unsigned status, int64_t us);

#endif
