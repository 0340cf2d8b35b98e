/* sshd asks as root, about its own process, before that process belongs to the user: neither the process nor the session is the
 * owner's yet. So root's word counts, for it may signal any process itself: who root is, the kernel says; for whom, root says, and the
 * job must be that user's, since a job may have ended and its socket be another's by then.
 *
 * The answer never waits for a suspended job: a login that hangs helps no user, and one that is taken in would be frozen. A program
 * that has hung up has refused the login, or has asked another job, so its session is not taken in any more. */
#include "tm_login.h"

#include <stdbool.h>
#include <stddef.h>

#include <shep.h>

#include "confine.h"
#include "procs.h"
#include "rpc_buf.h"
#include "tm_.h"
#include "tm_asks.h"
#include "tm_attach.h"
#include "tm_hooks.h"
#include "tm_reply.h"
#include "tm_parts.h"

static bool tm_login_may_be_of(const struct shep_order *o, pid_t pid)
{
    unsigned real;

    return procs_real_uid(pid, &real) == 0 && (real == 0 || real == o->uid);
}

/* Would the job take a login of this user in? */
static int tm_login_check_job(const struct tm_server *t, const struct tmx_login *login,
                              const struct tm_reply *r, const char **why)
{
    const struct shep_order *o = t->place.order;

    if (!r->by_root) {
        *why = "only root says whose login it is";
        return TM_EOWNER;
    }
    if (!o->change_user || o->uid != login->uid) {
        *why = "the job belongs to another user";
        return TM_EOWNER;
    }
    if (!t->place.is_running(t->place.arg) || confine_is_suspended(t->place.confine)) {
        *why = confine_is_suspended(t->place.confine) ? "the job is suspended" : "the job is ending";
        return TM_ESYSTEM;
    }
    if (o->no_attach && !login->only_ask) {
        *why = "$attach_allow of this host's MOM forbids it";
        return TM_EOWNER;
    }
    return TM_SUCCESS;
}

/* *ours: the session is the job's already */
static int tm_login_check_session(const struct tm_server *t, pid_t pid, struct procs_entry *p, bool *ours,
                                  const char **why)
{
    if (procs_read(pid, p) < 0 || p->state == 'Z') {
        *why = "there is no such process";
        return TM_ENOPROC;
    }
    if (pid <= 1 || p->session != pid || !tm_login_may_be_of(t->place.order, pid)) {
        *why = "the process does not lead a session of root or of the job's owner";
        return TM_EOWNER;
    }
    if (tm_attach_is_ours(t, p->session, ours) < 0) {
        *why = "the host cannot look at its processes now";
        return TM_ESYSTEM;
    }
    return TM_SUCCESS;
}

static void tm_login_take_in(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer a = {.code = TM_SUCCESS};
    struct procs_entry p;
    const char *why = "";
    bool ours;
    int code = tm_login_check_session(t, ask->tmx_ask_u.attach.pid, &p, &ours, &why);

    if (code != TM_SUCCESS) {
        tm_reply_refuse(r, code, why);
        return;
    }
    if (!ours && tm_hooks_ask(t, ask, r, tm_ask_here))
        return;
    if (tm_listener_has_hung_up(t->listener, r->client)) {
        tm_reply_refuse(r, TM_ESYSTEM, "the login was given up");
        return;
    }
    if (!ours)
        a.task = tasks_number(t->tasks);
    if (ours ? confine_group_again(t->place.confine, p.session) < 0
             : !a.task || tm_attach_adopt(t, &p, a.task, tm_login_may_be_of) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, "no memory, or no descriptor left, for another task");
    else
        tm_reply_answer(r, &a);
}

void tm_login_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    const wire_ext *ext = &ask->tmx_ask_u.attach.ext;
    struct tmx_answer good = {.code = TM_SUCCESS};
    struct tmx_login login = {0};
    const char *why = "the words about a login cannot be read";
    int code = TM_EUNKNOWNCMD;

    if (!ext->wire_ext_len) {
        tm_attach_ask(t, ask, r);
        return;
    }
    if (rpc_buf_decode(ext->wire_ext_val, ext->wire_ext_len, (xdrproc_t)xdr_tmx_login, &login) == 0)
        code = tm_login_check_job(t, &login, r, &why);
    if (code != TM_SUCCESS)
        tm_reply_refuse(r, code, why);
    else if (login.only_ask)
        tm_reply_answer(r, &good);
    else
        tm_login_take_in(t, ask, r);
    xdr_free((xdrproc_t)xdr_tmx_login, (char *)&login);
}
