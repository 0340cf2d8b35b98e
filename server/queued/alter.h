#ifndef ALTER_H
#define ALTER_H
/* Alters a job: checks the rights and what may be altered while it runs, and completes the job again. */
#include "attr_edit.h"
#include "err.h"
#include "job_identity.h"
#include "job.h"
#include "level.h"

struct arrays;
struct client;
struct depend_history;
struct eligible_time;
struct depends;
struct exec_send;
struct job_fsm;
struct names_user;
struct server_ctx;
struct start_time;

struct alter_ask {
    const struct attr_edit_change *changes;
    size_t n;
    enum level level;
    const char *who;
    const struct client *client;
    const struct names_user *user;     /* the user that alter_user names; not used if that is NULL */
    const struct depend_history *past; /* how targets of alter_depend ended that are not in memory */
    size_t n_past;
};

struct alter_parts { /* tells EVENT_RUN_LIMITS */
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct start_time *start_time;
    struct depends *depends;
    struct eligible_time *eligible_time;
    struct arrays *arrays;
};

/* The user that must be looked up before this alteration, because it changes the user the job runs as; NULL: it
 * does not. */
const char *alter_user(const struct job *j, const struct alter_ask *ask, char buf[JOB_IDENTITY_NAME_MAX]);

/* The new list of dependencies, for depend_history_ask; NULL: it is not altered, or emptied. */
const char *alter_depend(const struct alter_ask *ask);

/* 0, or -1 with nothing changed: PBSE_BADSTATE, PBSE_HISTJOBID, PBSE_MODATRRUN, PBSE_PERM, and what attr_edit_apply,
 * job_identity_set, eligible_time_check, depends_check, defaults_complete and admit_check_bounds say. *at is the change at fault (n: none in particular). */
int alter_job(const struct alter_parts *p, struct job *j, const struct alter_ask *ask, size_t *at,
              struct err *e);

#endif
