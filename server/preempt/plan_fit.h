#ifndef PLAN_FIT_H
#define PLAN_FIT_H
/* The arithmetic of a plan, before anything is done: would enough become free, and by which methods?
 *
 * Pure: reads uses, amounts and earmarks, changes nothing but the methods it is given. Linear in the uses of the
 * victims and the resources wanted. */
#include "err.h"
#include "job.h"
#include "preempt_method.h"
#include "run_demand.h"

struct server_ctx;

struct fit_victim {
    struct job *job;
    struct preempt_methods
        methods; /* that policy and job allow, in order; those that would not serve are taken out */
};

struct fit_ask {
    const struct job *urgent;
    const struct run_demand *wants; /* what the urgent job will claim, a vnode each */
    size_t n_wants;
    struct fit_victim *victims;
    size_t n_victims;
};

/* 0, with in each victim's methods only those that free enough while all others give way by their first. -1:
 *   PBSE_RESCUNAV   a vnode cannot take jobs, is used exclusively or earmarked for others, or too little would be free;
 *                   names the vnode and what is missing
 *   PBSE_SYSTEM     no memory */
int plan_fit(const struct server_ctx *s, const struct fit_ask *ask, struct err *e);

#endif
