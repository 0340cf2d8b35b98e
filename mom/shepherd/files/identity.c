/* In both directions the order is the point: groups, group, user when rights are given up, since the last of
 * them takes the right to change the others away; user first when they come back. */
#include "identity.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

#include <shep.h>

int identity_become(const struct shep_order *o, struct err *e)
{
    if (!o->change_user)
        return 0;
    if (setgroups(o->gids.gids_len, o->gids.gids_val) < 0 || setresgid(o->gid, o->gid, o->gid) < 0 ||
        setresuid(o->uid, o->uid, o->uid) < 0)
        return err_errno(e, errno, "cannot become user %s", o->user);
    return 0;
}

int identity_enter(const struct shep_order *o, struct err *e)
{
    if (!o->change_user)
        return 0;
    if (setgroups(o->gids.gids_len, o->gids.gids_val) < 0 || setegid(o->gid) < 0 || seteuid(o->uid) < 0) {
        err_errno(e, errno, "cannot act as user %s", o->user);
        identity_leave(o);
        return -1;
    }
    return 0;
}

void identity_leave(const struct shep_order *o)
{
    if (!o->change_user)
        return;
    /* To continue with the wrong rights would be worse than to exit: the MOM finds the job without shepherd. */
    if (seteuid(0) < 0 || setegid(0) < 0 || setgroups(0, NULL) < 0)
        abort();
}
