#ifndef ADMIT_H
#define ADMIT_H
/* Checks that a job may enter a queue, in the order of the PBS guide ("Queue admission"). */
#include "err.h"
#include "job.h"
#include "level.h"
#include "queue.h"

struct client;

struct server_ctx;

struct admit_ask {
    const struct job *job; /* completed, and it has its identity */
    const char *owner;     /* user@host */
    const char *host;      /* where it comes from */
    bool new_job;          /* not a move */
    bool routed;           /* by a route queue */
};

/* 0, or -1: PBSE_QUNOENB, PBSE_MAXQUED, PBSE_BADHOST, PBSE_PERM (ACLs), PBSE_QACESS, PBSE_ENTLIMCT,
 * PBSE_ENTLIMRESC, PBSE_EXCQRESC. */
int admit_check(const struct server_ctx *s, const struct queue *q, const struct admit_ask *ask,
                struct err *e);

/* The part of it that a manager and the server keep, too. -1: PBSE_QUNOENB, the reservation of the queue is being deleted, and its jobs
 * with it, though the queue may have been opened. */
int admit_check_lasts(const struct queue *q, struct err *e);

/* The part of it that may change while the script arrives: check that there is room for one more such job. -1:
 * PBSE_MAXQUED, PBSE_ENTLIMCT, PBSE_ENTLIMRESC. */
int admit_check_room(const struct server_ctx *s, const struct queue *q, const struct job *j, bool new_job,
                     struct err *e);

/* The part of it that an alteration must keep: resources_min and _max. -1: PBSE_EXCQRESC. */
int admit_check_bounds(const struct server_ctx *s, const struct queue *q, const struct job *j, struct err *e);

/* Check that a client of this level may submit now. -1: PBSE_PERM, the server is closed (server_obj.h) and the
 * client is not a manager. */
int admit_check_open(const struct server_ctx *s, enum level level, struct err *e);

/* Check that the server's own ACLs allow this user. -1: PBSE_PERM, PBSE_BADHOST. */
int admit_check_server(const struct server_ctx *s, const char *who, const char *host, struct err *e);
/* The same of whom a request comes from, at each request. Managers are always served, so that a wrong list can be mended; schedulers and
 * servers of the pair are not users. */
int admit_check_client(const struct server_ctx *s, const struct client *c, struct err *e);

#endif
