/* From pbs.conf to log_open. See conf_log.h.
 *
 * Syslog replaces the file only where PBS_SYSLOG is set and PBS_LOCALLOG is not: a daemon never runs without a log. The
 * head of a file is made here once; log_open keeps a copy for the files of later days. */
#include "conf_log.h"

#include <stdlib.h>
#include <unistd.h>

#include "conf.h"
#include "log.h"
#include "log_head.h"

int conf_log_open(const struct conf *c, struct log_options *o, struct err *e)
{
    char host[256] = "";
    struct log_head says = {.version = conf_text(c, CONF_PBS_VERSION),
                            .own = CEDE_VERSION,
                            .host = host,
                            .leaf = conf_text(c, CONF_PBS_LEAF_NAME),
                            .mom = conf_text(c, CONF_PBS_MOM_NODE_NAME)};
    char *head;
    int rc;

    gethostname(host, sizeof host - 1);
    head = log_head_make(&says);
    o->head = head;
    o->highres = conf_int(c, CONF_PBS_LOG_HIGHRES_TIMESTAMP) != 0;
    o->syslog_facility = (int)conf_int(c, CONF_PBS_SYSLOG);
    o->syslog_severity = (int)conf_int(c, CONF_PBS_SYSLOGSEVR);
    o->keep_days = (int)conf_int(c, CONF_PBS_LOG_KEEP_DAYS);
    o->no_file = o->syslog_facility && !conf_int(c, CONF_PBS_LOCALLOG);
    rc = log_open(o, e);
    o->head = NULL;
    free(head);
    return rc;
}
