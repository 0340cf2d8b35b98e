#ifndef WEB_LOG_H
#define WEB_LOG_H
/* What daemons have written about a job: `tracejob` for the page. */
struct web_call;

enum { WEB_LOG_DAYS_MAX = 31 };

void web_log_show(struct web_call *w);

#endif
