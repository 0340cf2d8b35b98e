/* Who a job runs as. See job_identity.h.
 *
 * The caller (new_job.c, alter.c) has looked the user up already, in a worker; only the rights are checked here. A
 * server that is not root can run jobs of its own user only, and says so at submission, not when a host fails.
 *
 * Rules: only root names another user (User_List); jobs of root want the submitter in acl_roots, and with its host
 * where it is root of another host. Hosts check nothing of this again: they take the names from START and only look
 * them up. Which entry of User_List names this server is not looked for: the first entry counts. */
#include "job_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "clock.h"
#include "names.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "server_ctx.h"

const char *job_identity_name(const char *user_list, const char *owner, char buf[JOB_IDENTITY_NAME_MAX])
{
    if (!user_list || !*user_list)
        return owner;
    snprintf(buf, JOB_IDENTITY_NAME_MAX, "%.*s", (int)strcspn(user_list, "@,"), user_list);
    return buf;
}

int job_identity_unknown(const char *user, const struct err *why, struct err *e)
{
    if (why && why->code != ENOENT)
        return err_set(e, PBSE_TRYAGAIN, "user %s cannot be looked up (%s): try again later", user,
                       why->text);
    return err_set(e, PBSE_BADUSER, "Bad UID for job execution: user %s is unknown on the server", user);
}

/* In stepped time nothing is executed: who may manage the server submits as users that need not exist, of the group that
 * group_list names or one called "users". */
static bool is_pretended(const struct server_ctx *s, const struct client *c, const char *user_list)
{
    return clock_is_driven(s->clock) && user_list && *user_list && client_level(c) == LEVEL_MANAGER;
}

static int job_identity_pretend(struct job *j, const char *user_list, struct err *e)
{
    const char *group = attr_list_text(&j->obj.attrs, JOB_ATTR_group_list);
    char user[JOB_IDENTITY_NAME_MAX];

    job_identity_name(user_list, NULL, user);
    if (job_set_text(&j->euser, user) < 0 || job_set_text(&j->egroup, group ? group : "users") < 0 ||
        job_set_text(&j->user, user) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for the user of a job");
    return 0;
}

const char *job_identity_to_ask(const struct server_ctx *s, const struct client *c, const char *user_list,
                                char buf[static JOB_IDENTITY_NAME_MAX])
{
    return job_identity_name(is_pretended(s, c, user_list) ? NULL : user_list, client_user(c), buf);
}

/* Root may run jobs as any user; to run them as root it must be listed like everyone. */
static int check_user(const struct server_ctx *s, const struct job *j, const struct client *c,
                      const struct names_user *u, struct err *e)
{
    const char *roots = attr_list_text(&s->server->obj.attrs, SERVER_ATTR_acl_roots);

    if (!s->serves_all && u->uid != geteuid())
        return err_set(e, PBSE_BADUSER,
                       "Bad UID for job execution: this complex runs as %s's own and takes no jobs of %s",
                       s->name, u->name);
    if (u->uid == 0 && client_is_root(c) && !access_acl_allows(roots, ACL_USER, "root", false))
        return err_set(e, PBSE_BADUSER, "Bad UID for job execution: root is not in acl_roots");
    if (u->uid == 0 && !client_is_root(c) &&
        !access_acl_allows_either(roots, ACL_USER_OF_HOST, client_who(c), client_other(c), false))
        return err_set(e, PBSE_BADUSER, "Bad UID for job execution: %s is not in acl_roots with its host",
                       client_who(c));
    if (strcmp(u->name, j->user) != 0 && !client_is_root(c))
        return err_set(e, PBSE_BADUSER, "Bad UID for job execution: %s may not run jobs as %s", j->user,
                       u->name);
    return 0;
}

/* The first group of group_list, which the user must be in; else the login group. */
static int find_group(const struct job *j, const struct names_user *u, const char **group, struct err *e)
{
    const char *list = attr_list_text(&j->obj.attrs, JOB_ATTR_group_list);
    char name[PBS_MAXGRPN + 1];

    *group = u->group;
    if (!list)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(list, "@,"), list);
    for (size_t i = 0; i < u->n_groups; i++)
        if (strcmp(u->groups[i], name) == 0) {
            *group = u->groups[i];
            return 0;
        }
    return err_set(e, PBSE_BADGRP, "Bad GID for job execution: %s is not in group %s", u->name, name);
}

int job_identity_set(const struct server_ctx *s, struct job *j, const struct client *c,
                     const struct names_user *u, struct err *e)
{
    const char *group, *list = attr_list_text(&j->obj.attrs, JOB_ATTR_User_List);

    if (is_pretended(s, c, list))
        return job_identity_pretend(j, list, e);
    if (check_user(s, j, c, u, e) < 0 || find_group(j, u, &group, e) < 0)
        return -1;
    if (job_set_text(&j->euser, u->name) < 0 || job_set_text(&j->egroup, group) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for the user of a job");
    return 0;
}
