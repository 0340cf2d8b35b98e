/* All of /proc is read at each scan. A process is held by a pidfd before its owner is read: so what is killed is what was read, not
 * a process that has got its number since. A user counts from the moment when the order of a job is made (owner_uid) until the run
 * is dropped, so delivery and cleaning are included. Where more runs are here than `holders` has room for, nothing is killed. */
#include "restrict_user.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "conf.h"
#include "mom_config.h"
#include "file.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "mom_run.h"

/* EVERY_MS: a choice, each scan reads the state of every process; a process of a user without a job here lives that long at most. HOLDERS_MAX: a choice, more runs than a
 * host has. */
enum { EVERY_MS = 10000, STATUS_MAX = 16384, COMMAND_MAX = 64, PATH_LEN = 64, HOLDERS_MAX = 4096 };

struct restrict_user {
    struct mom *m;
    struct loop_timer *timer;
    unsigned holders[HOLDERS_MAX]; /* of jobs here; one look */
    size_t n_holders;
};

struct process {
    unsigned uid;
    char command[COMMAND_MAX];
};

static bool read_process(pid_t pid, struct process *p)
{
    char path[PATH_LEN], *text = NULL, *uid, *end;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (file_read(AT_FDCWD, path, STATUS_MAX, &text, NULL, NULL) < 0)
        return false;
    uid = strstr(text, "\nUid:");
    if (uid)
        p->uid = (unsigned)strtoul(uid + 5, NULL, 10);
    end = strchr(text, '\n');
    if (strncmp(text, "Name:\t", 6) == 0 && end)
        snprintf(p->command, sizeof p->command, "%.*s", (int)(end - text - 6), text + 6);
    free(text);
    return uid != NULL;
}

static void restrict_user_note_holder(void *arg, struct run *r)
{
    struct restrict_user *s = arg;

    if (r->owner_uid[0] && s->n_holders < HOLDERS_MAX)
        s->holders[s->n_holders++] = (unsigned)strtoul(r->owner_uid, NULL, 10);
}

static bool is_spared(const struct restrict_user *s, unsigned uid)
{
    const struct config *c = s->m->home.config;

    if (uid == 0 || uid == geteuid() || uid <= c->restrict_maxsysid)
        return true;
    for (size_t i = 0; i < c->n_restrict_exceptions; i++)
        if (c->restrict_exceptions[i] == uid)
            return true;
    for (size_t i = 0; i < s->n_holders; i++)
        if (s->holders[i] == uid)
            return true;
    return false;
}

static void restrict_user_check(const struct restrict_user *s, pid_t pid)
{
    struct process p = {.command = "?"};
    int fd = pidfd_open(pid, 0);

    if (fd < 0)
        return;
    if (read_process(pid, &p) && !is_spared(s, p.uid)) {
        if (pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0)
            log_event(LOGC_NODE, LOGE_SYSTEM, s->m->home.node, "killed uid %u pid %d(%s)", p.uid, (int)pid,
                      p.command);
        else if (errno != ESRCH)
            log_event(LOGC_NODE, LOGE_ERROR, s->m->home.node, "failed kill uid %u pid %d(%s): %s", p.uid,
                      (int)pid, p.command, strerror(errno));
    }
    close(fd);
}

static void restrict_user_scan(void *arg)
{
    struct restrict_user *s = arg;
    DIR *dir = opendir("/proc");
    const struct dirent *d;

    s->n_holders = 0;
    runs_each(s->m->runs, restrict_user_note_holder, s);
    while (dir && s->n_holders < HOLDERS_MAX && (d = readdir(dir)))
        if (isdigit((unsigned char)d->d_name[0]))
            restrict_user_check(s, (pid_t)strtol(d->d_name, NULL, 10));
    if (dir)
        closedir(dir);
    loop_timer_set(s->timer, EVERY_MS);
}

void restrict_user_configured(struct restrict_user *s)
{
    if (s->m->home.config->restrict_user)
        loop_timer_set(s->timer, 0);
    else
        loop_timer_cancel(s->timer);
}

struct restrict_user *restrict_user_create(struct mom *m, struct err *e)
{
    struct restrict_user *s = calloc(1, sizeof *s);

    if (s)
        *s = (struct restrict_user){.m = m,
                                    .timer = loop_timer_create(m->loop, LOOP_REAL, restrict_user_scan, s)};
    if (!s || !s->timer) {
        free(s);
        err_set(e, ENOMEM, "no memory for $restrict_user");
        return NULL;
    }
    restrict_user_configured(s);
    return s;
}

void restrict_user_destroy(struct restrict_user *s)
{
    if (!s)
        return;
    loop_timer_destroy(s->timer);
    free(s);
}
