#ifndef CONF_LOG_H
#define CONF_LOG_H
/* A daemon's log as pbs.conf wants it. */
#include "err.h"

struct conf;
struct log_options;

/* log_open (base/log.h) with `o`, in which the caller has set where and what to write. The rest is filled in here:
 * the time stamps of PBS_LOG_HIGHRES_TIMESTAMP, syslog by PBS_SYSLOG, PBS_SYSLOGSEVR and PBS_LOCALLOG, and what each
 * file begins with (log_head.h). 0, or -1 as log_open. */
int conf_log_open(const struct conf *c, struct log_options *o, struct err *e);

#endif
