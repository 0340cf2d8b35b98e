#ifndef TM_ATTACH_H
#define TM_ATTACH_H
/* Processes that were started by others and become tasks of the job, with all of their session: they are counted, are suspended and end
 * with it. Private to TM's parts. */

struct poll_set;
struct tm_reply;
struct tm_server;
struct tmx_ask;

void tm_attach_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);

/* The end of such a process is seen here, since it is not our child; its exit status is not: 0. */
void tm_attach_poll(struct tm_server *t, struct poll_set *polls);
void tm_attach_turn(struct tm_server *t, const struct poll_set *polls);

#endif
