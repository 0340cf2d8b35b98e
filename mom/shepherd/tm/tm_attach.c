/* The answer to "make this process a task": checked, adopted as a session, recorded, answered, all in one
 * turn. An adopted process is not our child. So its end is seen by a pidfd among the polls, and its exit
 * status is not known to us. A suspended job takes no process in: the request is held back until it runs
 * on, or the newcomer would run alone. */

#include "tm_attach.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shep.h>

#include "confine.h"
#include "file.h"
#include "poll_set.h"
#include "procs.h"
#include "tm_.h"
#include "tm_parts.h"
#include "tm_reply.h"
#include "tm_asks.h"
#include "tm_hooks.h"

enum { NAME_SIZE = 64 };

static bool tm_attach_is_owners(const struct shep_order *o, pid_t pid)
{
    unsigned real;

    return procs_real_uid(pid, &real) == 0 && real == (o->change_user ? o->uid : geteuid());
}

/* All of it is signalled with the job, with our rights: so all of it is what its owner may signal. */
static int is_owners_session(const struct shep_order *o, pid_t session, bool *out)
{
    const struct procs_sessions one = {.list = &session, .n = 1};
    struct procs all;
    bool owners = true;
    int rc;

    procs_init(&all);
    rc = procs_of(&all, getpid(), &one, NULL);
    for (size_t i = 0; i < all.n && owners; i++)
        owners = all.list[i].session != session || all.list[i].state == 'Z' ||
                 tm_attach_is_owners(o, all.list[i].pid);
    procs_fini(&all);
    *out = owners;
    return rc;
}

/* Sessions below us are the job's already; so are those adopted before. */
int tm_attach_is_ours(const struct tm_server *t, pid_t session, bool *out)
{
    struct procs all;
    bool found = false;
    int rc;

    procs_init(&all);
    rc = procs_of(&all, getpid(), confine_adopted(t->place.confine), NULL);
    for (size_t i = 0; i < all.n && !found; i++)
        found = all.list[i].session == session;
    procs_fini(&all);
    *out = found;
    return rc;
}

static int tm_attach_check(const struct tm_server *t, pid_t pid, struct procs_entry *p, const char **why)
{
    bool owners, ours;

    *why = "";
    if (!t->place.is_running(t->place.arg)) {
        *why = "the job is ending";
        return TM_ESYSTEM;
    }
    if (t->place.order->no_attach) {
        *why = "$attach_allow of this host's MOM forbids it";
        return TM_EOWNER;
    }
    if (procs_read(pid, p) < 0 || p->state == 'Z') {
        *why = "there is no such process";
        return TM_ENOPROC;
    }
    if (is_owners_session(t->place.order, p->session, &owners) < 0 ||
        tm_attach_is_ours(t, p->session, &ours) < 0) {
        *why = "the host cannot look at its processes now";
        return TM_ESYSTEM;
    }
    /* The leader of its session may be a process of another user that has let this process in. */
    if (!tm_attach_is_owners(t->place.order, pid) || p->session <= 1 || !owners) {
        *why = "the process, or its session, is not that of the job's owner";
        return TM_EOWNER;
    }
    if (ours) {
        *why = "its session is part of the job already";
        return TM_ESESSION;
    }
    return TM_SUCCESS;
}

/* What it is called in its /proc. */
static char *tm_attach_name_of(pid_t pid, char out[static NAME_SIZE])
{
    char path[64];
    char *text = NULL;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    if (file_read(AT_FDCWD, path, NAME_SIZE, &text, NULL, NULL) < 0)
        text = NULL;
    snprintf(out, NAME_SIZE, "%.*s", text ? (int)strcspn(text, "\n") : 1, text ? text : "?");
    free(text);
    return out;
}

int tm_attach_adopt(struct tm_server *t, const struct procs_entry *p, unsigned id,
                    bool (*may)(const struct shep_order *o, pid_t pid))
{
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    struct procs_entry again;
    char name[NAME_SIZE];
    /* again, now that the number cannot pass to another */
    bool same = fd >= 0 && procs_read(p->pid, &again) == 0 && again.session == p->session &&
                may(t->place.order, p->pid);
    struct tasks_entry *x = same ? tasks_add(t->tasks, id, p->pid) : NULL;

    if (!x || confine_adopt(t->place.confine, p->session) < 0) {
        if (fd >= 0)
            close(fd);
        if (x) {
            tasks_ended(t->tasks, x, 0);
            tasks_over(t->tasks, x);
        }
        return -1;
    }
    x->attached = true;
    x->watch.pidfd = fd;
    t->attached++;
    tm_asks_record(t, &(struct shep_task_news){.id = id,
                                               .pid = (int)p->pid,
                                               .session = (int)p->session,
                                               .attached = true,
                                               .text = tm_attach_name_of(p->pid, name)});
    return 0;
}

void tm_attach_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer a = {.code = TM_SUCCESS};
    struct procs_entry p;
    const char *why;
    int code = tm_attach_check(t, ask->tmx_ask_u.attach.pid, &p, &why);

    if (code == TM_SUCCESS && confine_is_suspended(t->place.confine)) {
        tm_asks_hold_back(t, ask, r); /* what joins a suspended job would run */
        return;
    }
    if (code != TM_SUCCESS) {
        tm_reply_refuse(r, code, why);
        return;
    }
    if (tm_hooks_ask(t, ask, r, tm_ask_here))
        return;
    a.task = tasks_number(t->tasks);
    if (!a.task || tm_attach_adopt(t, &p, a.task, tm_attach_is_owners) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, "no memory, or no descriptor left, for another task");
    else
        tm_reply_answer(r, &a);
}

/* ---- its end */
static void tm_attach_poll_one(void *arg, struct tasks_entry *x)
{
    if (x->attached && !x->ended)
        x->watch.poll_at = poll_set_add(arg, x->watch.pidfd, POLLIN);
}

void tm_attach_poll(struct tm_server *t, struct poll_set *polls)
{
    if (t->attached)
        tasks_each(t->tasks, tm_attach_poll_one, polls);
}

struct looking {
    struct tm_server *t;
    const struct poll_set *polls;
};

static void tm_attach_check_one(void *arg, struct tasks_entry *x)
{
    const struct looking *l = arg;

    if (!x->attached || x->ended || !poll_set_got(l->polls, x->watch.poll_at, x->watch.pidfd))
        return;
    l->t->attached--;
    close(x->watch.pidfd);
    x->watch.pidfd = -1;
    tasks_ended(l->t->tasks, x, 0);
    tm_asks_record_end(l->t, x->id);
    tasks_over(l->t->tasks, x);
    confine_has_adopted(l->t->place.confine); /* forgets its session when it was the last of it */
}

void tm_attach_turn(struct tm_server *t, const struct poll_set *polls)
{
    struct looking l = {t, polls};

    if (t->attached)
        tasks_each(t->tasks, tm_attach_check_one, &l);
}
