#ifndef SERVER_HOME_H
#define SERVER_HOME_H
/* What pbs_server writes to below PBS_HOME, and whose that is.
 *
 *   as root: server_home_make, the lock, server_home_settle; from then on as PBS_DAEMON_SERVICE_USER, who owns all that is written
 *
 * PBS_HOME itself stays root's. So the socket of local commands lies in a folder of the service user, and root puts a
 * symbolic link to it where commands look (PBS_HOME/pbs_server.sock). */
#include "err.h"
#include "server_settings.h"

/* The folders, where they are missing. As whoever starts the server. */
int server_home_make(const struct server_settings *s, struct err *e);

/* Give them to the service user, once; be that user, for good; put `s->socket` where he may make it. Nothing of this where
 * the server stays who it is. The lock must be held: the link may point away from the socket of an older server.
 *
 * -1: ENOENT there is no such user; else what the kernel refused. */
int server_home_settle(struct server_settings *s, struct err *e);

#endif
