#ifndef JOB_IDENTITY_H
#define JOB_IDENTITY_H
/* Who a job runs as: the user that User_List names, else its owner, and the group that group_list names, else
 * that user's login group. */
#include <stddef.h>

#include "err.h"
#include "job.h"

struct client;
struct names_user;
struct server_ctx;

enum { JOB_IDENTITY_NAME_MAX = 257 }; /* a user's name of 256 bytes, as attributes may hold, and its end */

/* The user that a User_List names for this server, or `owner` if it names no user (NULL or ""). */
const char *job_identity_name(const char *user_list, const char *owner, char buf[JOB_IDENTITY_NAME_MAX]);

/* Whom to look up for a submission of this client: that user, or the client's own for a user of a simulated site
 * (stepped time), which need not exist. */
const char *job_identity_to_ask(const struct server_ctx *s, const struct client *c, const char *user_list,
                                char buf[JOB_IDENTITY_NAME_MAX]);

/* Why a job cannot run as `user`, for whom a look-up gave no user and `why` (names.h). Set `e` and return -1: PBSE_BADUSER there is no
 * such user; PBSE_TRYAGAIN it could not be asked. */
int job_identity_unknown(const char *user, const struct err *why, struct err *e);

/* Set euser and egroup, if this job of this client may run as `u` and in the group its group_list names. -1,
 * nothing changed: PBSE_BADUSER, PBSE_BADGRP. */
int job_identity_set(const struct server_ctx *s, struct job *j, const struct client *c,
                     const struct names_user *u, struct err *e);

#endif
