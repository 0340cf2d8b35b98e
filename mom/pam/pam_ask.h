#ifndef PAM_ASK_H
#define PAM_ASK_H
/* One question to the shepherd of a job: take the session of a login in, or would you? */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

enum { PAM_ASK_MS = 5000 };

struct pam_ask {
    const char *aux, *job;
    uid_t uid;   /* of the user who logs in */
    pid_t pid;   /* leader of the session */
    bool attach; /* false: only ask */
};

/* The result, within `limit_ms`.
 *   0             it has taken the session in, or would
 *   ENOENT        no shepherd has this socket: the job has ended, or its shepherd was killed
 *   ETIMEDOUT     the shepherd does not answer; it does not take the session in later either
 *   EPERM         the process that listens is not root's: it is not a shepherd
 *   ECONNRESET    it has ended, or broke the protocol
 *   EACCES        it refuses; e->text is the reason as people read it
 * For these e->text is the reason. */
int pam_ask(const struct pam_ask *a, int64_t limit_ms, struct err *e);

#endif
