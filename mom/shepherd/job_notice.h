#ifndef JOB_NOTICE_H
#define JOB_NOTICE_H
/* A job is told that it is to give way, and answers.
 *
 *   MOM says NOTICE      -> the notice file is written as the owner; a new attempt is signalled as the job wished
 *   a task says TMX_ASK_NOTICE -> kept here, told to the MOM until one has it durably (NOTICE_REPLY)
 *   MOM says withdrawn   -> the file goes
 *
 * The file's path stands in the job's environment (PBS_PREEMPT_NOTICE). Driven by poll like everything of the shepherd.
 */
#include <stdbool.h>

#include "err.h"

struct link;
struct notice;
struct shep_notice_args;
struct shep_order;
struct tmx_notice_args;

/* What it stands on; borrowed for life. */
struct notice_place {
    const struct shep_order *order;
    struct link *link;
    void (*signal_job)(void *arg, int signo, bool all); /* its script, or all its processes here */
    void *arg;
};

struct notice *notice_create(const struct notice_place *p); /* NULL: no memory */
void notice_destroy(struct notice *n);                      /* after the link; the file is left */

/* 0, or -1: the file could not be written (the signal is sent all the same); PBSE_NOSUP: the job has no place for one. */
int notice_take(struct notice *n, const struct shep_notice_args *a, struct err *e);
/* Keep the job's answer, in place of an earlier one. -1: TM_ENOTFOUND there is no notice, TM_EUNKNOWNCMD what is said makes
 * no sense, TM_ESYSTEM. */
int notice_answer(struct notice *n, const struct tmx_notice_args *a, struct err *e);
/* The job has ended: the file goes. */
void notice_over(struct notice *n);

int notice_wait_ms(const struct notice *n); /* until notice_turn has something to do; -1: nothing */
void notice_turn(struct notice *n);

#endif
