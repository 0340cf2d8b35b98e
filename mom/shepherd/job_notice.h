#ifndef JOB_NOTICE_H
#define JOB_NOTICE_H
/* A job is told that it is to give way, and answers.
 *
 *   MOM says NOTICE      -> the notice file is written as the owner; a new attempt is signalled as the job wished
 *   a task says TMX_ASK_NOTICE -> kept here, told to the MOM until one has it durably (NOTICE_REPLY)
 *   MOM says withdrawn   -> the file goes
 *
 * The file's path is in the job's environment (PBS_PREEMPT_NOTICE). Driven by poll like everything of the shepherd.
 */
#include <stdbool.h>

#include "err.h"

struct mom_link;
struct job_notice;
struct shep_notice_args;
struct shep_order;
struct tmx_notice_args;

/* What it needs; borrowed for life. */
struct job_notice_place {
    const struct shep_order *order;
    struct mom_link *mom_link;
    void (*signal_job)(void *arg, int signo, bool all); /* its script, or all its processes here */
    void (*tell)(void *arg, unsigned attempt,
                 const char *text); /* what the file says now; attempt 0: it has gone, and why */
    void *arg;
};

struct job_notice *job_notice_create(const struct job_notice_place *p); /* NULL: no memory */
void job_notice_destroy(struct job_notice *n);                          /* after the link; the file is left */

/* 0, or -1: the file could not be written (the signal is sent all the same); PBSE_NOSUP: the job has no place for one. */
int job_notice_take(struct job_notice *n, const struct shep_notice_args *a, struct err *e);
/* Keep the job's answer, in place of an earlier one. -1: TM_ENOTFOUND there is no notice, TM_EUNKNOWNCMD what is said makes
 * no sense, TM_ESYSTEM. */
int job_notice_answer(struct job_notice *n, const struct tmx_notice_args *a, struct err *e);
/* The job has ended: the file goes. */
void job_notice_over(struct job_notice *n);

int job_notice_wait_ms(
    const struct job_notice *n); /* until job_notice_turn has something to do; -1: nothing */
void job_notice_turn(struct job_notice *n);

#endif
