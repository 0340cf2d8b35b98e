#ifndef TM_ATTACH_H
#define TM_ATTACH_H
/* Processes that were started by others and become tasks of the job, with all of their session: they are counted, are suspended and end
 * with it. Private to TM's parts. */

#include <stdbool.h>
#include <sys/types.h>

struct poll_set;
struct procs_entry;
struct shep_order;
struct tm_reply;
struct tm_server;
struct tmx_ask;

void tm_attach_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);

/* *out: the session is below us, or was adopted before. -1: the host's processes cannot be looked at. */
int tm_attach_is_ours(const struct tm_server *t, pid_t session, bool *out);
/* Make `p` task `id`, and its session the job's. -1: it has ended, `may` (asked again) says no to it, or there is no memory. */
int tm_attach_adopt(struct tm_server *t, const struct procs_entry *p, unsigned id,
                    bool (*may)(const struct shep_order *o, pid_t pid));

/* The end of such a process is seen here, since it is not our child; its exit status is not: 0. */
void tm_attach_poll(struct tm_server *t, struct poll_set *polls);
void tm_attach_turn(struct tm_server *t, const struct poll_set *polls);

#endif
