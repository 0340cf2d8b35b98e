#ifndef PAM_JOBS_H
#define PAM_JOBS_H
/* The jobs of a user on this host, by the sockets of their shepherds in PBS_HOME/aux. The MOM is not asked: it may be away. */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

enum { PAM_JOBS_NAME_MAX = 256, PAM_JOBS_MAX = 4096 };

struct pam_jobs_entry {
    int64_t began_ns;             /* when the socket was made, which is when the job began here */
    char name[PAM_JOBS_NAME_MAX]; /* identifier of the job */
};

struct pam_jobs {
    struct pam_jobs_entry *list; /* the newest first; of equal ones the one whose name is the greater */
    size_t n;
};

/* All sockets below `aux` that belong to `uid`, of which some may be those of shepherds that were killed. A directory that is not
 * there has none. More than PAM_JOBS_MAX are not looked at. -1: EACCES a user other than root can change `aux` or what is above it;
 * an errno, it cannot be read. */
int pam_jobs_find(struct pam_jobs *j, const char *aux, uid_t uid, struct err *e);
void pam_jobs_fini(struct pam_jobs *j);

#endif
