#ifndef RESTRICT_USER_H
#define RESTRICT_USER_H
/* $restrict_user: a user who has no job here may have no processes here either. Every ten seconds processes of such users are killed. Exempt
 * are root, users up to $restrict_user_maxsysid, those of $restrict_user_exceptions, and the user that runs PBS. */
#include "err.h"

struct mom;
struct restrict_user;

struct restrict_user *restrict_user_create(struct mom *m, struct err *e);
void restrict_user_destroy(struct restrict_user *s);
void restrict_user_configured(struct restrict_user *s); /* the configuration is another one */

#endif
