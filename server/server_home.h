#ifndef SERVER_HOME_H
#define SERVER_HOME_H
/* What pbs_server writes to below PBS_HOME, and who owns it.
 *
 *   as root: server_home_make, the lock, server_home_settle; from then on as PBS_DAEMON_SERVICE_USER, who owns all that
 * is written
 *
 * Root keeps PBS_HOME itself. So the socket of local commands lies in a folder of the service user, and root puts a
 * symbolic link to it where commands look (PBS_HOME/pbs_server.sock). */
#include "err.h"
#include "server_settings.h"

/* Create missing folders, as the user that starts the server. */
int server_home_make(const struct server_settings *s, struct err *e);

/* Give them to the service user, once; become that user for the life of the process; put `s->socket` where that user
 * may create it. Do nothing where the server does not change its user. The lock must be held: the link may point away
 * from the socket of an older server.
 *
 * -1: ENOENT there is no such user; else what the kernel refused. */
int server_home_settle(struct server_settings *s, struct err *e);

#endif
