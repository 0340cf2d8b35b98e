#ifndef RESTRICT_USER_H
#define RESTRICT_USER_H
/* $restrict_user: who has no job here has no processes here either. Every ten seconds processes of such users are killed. Spared
 * are root, users up to $restrict_user_maxsysid, those of $restrict_user_exceptions, and whoever runs PBS. */
#include "err.h"

struct parts;
struct strangers;

struct strangers *strangers_create(struct parts *m, struct err *e);
void strangers_destroy(struct strangers *s);
void strangers_configured(struct strangers *s); /* the configuration is another one */

#endif
