#ifndef TM_SERVER_H
#define TM_SERVER_H
/* TM: the job's own processes ask their shepherd for tasks, here and on the other hosts of the job (protocol/tm.x).
 *
 * Their socket lies beside the nodefile ("<nodefile>" JOB_DIRS_TM_SUFFIX, job_dirs.h), so that it is found by the job's identifier. Connections
 * lead to the shepherd and therefore outlive MOM and server. Driven by poll like everything of the shepherd.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

struct confine;
struct mom_link;
struct mom_link_ticket;
struct poll_set;
struct shep_order;
struct task;
struct tm_server;
struct tmx_declare_args;
struct tmx_notice_args;
struct words;

struct tm_place { /* what it needs; borrowed for life */
    const struct shep_order *order;
    const struct task *first; /* the job's output files */
    const char *dir;          /* of the run */
    struct confine *confine;
    struct mom_link *mom_link;
    int records;                   /* of the run, to be appended to */
    bool (*is_running)(void *arg); /* may something be started? */
    int (*answer_notice)(void *arg, const struct tmx_notice_args *a, struct err *e); /* job_notice_answer */
    int (*declare)(void *arg, const struct tmx_declare_args *a, struct err *e);      /* job_declared_take */
    void *arg;
};

/* Listens at once. NULL: e. */
struct tm_server *tm_server_create(const struct tm_place *place, struct err *e);
void tm_server_destroy(struct tm_server *t); /* after the link; job_dirs.h removes the socket */

/* Start the job's PMIx helper, and wait some seconds for what the environment of the job's first process needs: appended to `env`. -1:
 * it did not come up; the job can run without. */
int tm_server_begin_helper(struct tm_server *t, struct words *env, struct err *e);

void tm_server_first(struct tm_server *t, pid_t pid); /* the job's first process: task 1 */

void tm_server_poll(struct tm_server *t, struct poll_set *polls);
int tm_server_wait_ms(const struct tm_server *t); /* -1: for ever */
void tm_server_turn(struct tm_server *t, const struct poll_set *polls);

void tm_server_reaped(struct tm_server *t, pid_t pid, int status); /* whatever it was */
void tm_server_resumed(struct tm_server *t);                       /* what was held back is done now */

/* A letter of another shepherd of the job (link_row.late). */
void tm_server_letter(struct tm_server *t, const void *args, const struct mom_link_ticket *from);

#endif
