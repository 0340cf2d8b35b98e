#ifndef NEW_JOB_H
#define NEW_JOB_H
/* A job made from a submission: attributes checked and completed, identity fixed, admitted to its queue. The
 * job is in no table yet, and a refused submission has changed nothing but the sequence of numbers. */
#include <stdbool.h>

#include <ifl.h>

#include "job.h"
#include "queue.h"

struct client;
struct names_user;
struct server_ctx;

struct new_job_ask {
    const ifl_submit_args *args;
    const struct names_user *user; /* the user it will run as */
    struct queue *queue;
    const struct client *client;
    const char *remaining; /* of an array that was elsewhere before: the indices that are left; NULL: all */
    bool unlisted;         /* it will be in no table: it takes no number */
    bool arrives; /* it was at another server before, which is the origin that its environment names */
};

/* NULL: what attr_list_change, defaults_complete and admit_check say; PBSE_BADUSER, PBSE_BADGRP, PBSE_NOSUP for
 * what this server cannot do yet. *at is the attribute at fault, where there is one. */
struct job *new_job(struct server_ctx *s, const struct new_job_ask *ask, const wire_attrop **at,
                    struct err *e);

#endif
