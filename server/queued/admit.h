#ifndef ADMIT_H
#define ADMIT_H
/* May this job enter this queue? In the order of the PBS guide (reference: commands, "Queue admission"). */
#include "err.h"
#include "job.h"
#include "level.h"
#include "queue.h"

struct server_ctx;

struct admit_ask {
    const struct job *job;     /* completed, and it has its identity */
    const char *owner;         /* user@host */
    const char *host;          /* where it comes from */
    const char *const *groups; /* names; the effective one first */
    size_t n_groups;
    bool new_job; /* not a move */
    bool routed;  /* by a route queue */
};

/* 0, or -1: PBSE_QUNOENB, PBSE_MAXQUED, PBSE_BADHOST, PBSE_PERM (ACLs), PBSE_QACESS, PBSE_ENTLIMCT,
 * PBSE_ENTLIMRESC, PBSE_EXCQRESC. */
int admit_check(const struct server_ctx *s, const struct queue *q, const struct admit_ask *ask,
                struct err *e);

/* The part of it that may change while its script arrives: is there room for one more job of this kind? -1: PBSE_MAXQUED,
 * PBSE_ENTLIMCT, PBSE_ENTLIMRESC. */
int admit_check_room(const struct server_ctx *s, const struct queue *q, const struct job *j, bool new_job,
                     struct err *e);

/* The part of it that an alteration must keep: resources_min and _max. -1: PBSE_EXCQRESC. */
int admit_check_bounds(const struct server_ctx *s, const struct queue *q, const struct job *j, struct err *e);

/* May one of this level submit now? -1: PBSE_PERM, the server is closed (server_obj.h) and this is no manager. */
int admit_check_open(const struct server_ctx *s, enum level level, struct err *e);

/* Is this person let in by the server's own ACLs? -1: PBSE_PERM, PBSE_BADHOST. */
int admit_check_server(const struct server_ctx *s, const char *who, const char *host, struct err *e);

#endif
