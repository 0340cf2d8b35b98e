/* The shepherd was the subreaper of its job: without it nothing holds the processes together any more, so they are looked for
 * in all of /proc, and in the cgroups that it has made. */
#include "leftovers.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shep.h>

#include "confine.h"
#include "home.h"
#include "procs.h"
#include "procs_marked.h"
#include "run.h"
#include "rundir.h"
#include "strbuf.h"

enum { LOOKS_MAX = 50, LOOK_PAUSE_US = 1000, PATH_LEN_MAX = 8192 };

/* The tasks that had not ended. The session of one that had may have become a stranger's. */
struct living {
    struct procs_sessions sessions;
    unsigned *ids;
    size_t cap;
};

static bool make_room(struct living *l)
{
    size_t cap = l->cap ? 2 * l->cap : 16;
    pid_t *list;
    unsigned *ids;

    if (l->sessions.n < l->cap)
        return true;
    list = realloc(l->sessions.list, cap * sizeof *list);
    if (list)
        l->sessions.list = list;
    ids = realloc(l->ids, cap * sizeof *ids);
    if (ids)
        l->ids = ids;
    if (list && ids)
        l->cap = cap;
    return list && ids;
}

static void add(struct living *l, unsigned id, pid_t session)
{
    if (!make_room(l))
        return; /* the mark will find most */
    l->ids[l->sessions.n] = id;
    l->sessions.list[l->sessions.n++] = session;
}

static void drop(struct living *l, unsigned id)
{
    for (size_t i = 0; i < l->sessions.n; i++)
        if (l->ids[i] == id) {
            l->sessions.n--;
            l->ids[i] = l->ids[l->sessions.n];
            l->sessions.list[i] = l->sessions.list[l->sessions.n];
            return;
        }
}

static void see_record(void *arg, void *item)
{
    const struct shep_record *rec = item;

    if (rec->kind == SHEP_RECORD_STARTED)
        add(arg, 0, rec->shep_record_u.started.pid);
    else if (rec->kind == SHEP_RECORD_TASK && rec->shep_record_u.task.session)
        add(arg, rec->shep_record_u.task.id, rec->shep_record_u.task.session);
    else if (rec->kind == SHEP_RECORD_TASK)
        drop(arg, rec->shep_record_u.task.id);
}

struct traces { /* of a run */
    const struct procs_sessions *sessions;
    const char *mark;  /* in environments */
    const char *group; /* name of its cgroups */
};

static size_t kill_once(const struct home *h, const struct traces *t)
{
    size_t in_groups = confine_kill_left(&h->freezer, t->group),
           n = procs_marked_signal(t->sessions, t->mark, SIGKILL);

    return in_groups > n ? in_groups : n;
}

/* A process that is between fork and exec at a look has no environment to be known by, so looks are repeated until two in
 * a row find nobody; what was frozen dies when it is thawed. */
static size_t kill_all(const struct home *h, const struct traces *t)
{
    size_t killed = kill_once(h, t);
    int quiet = 0;

    for (int look = 0; look < LOOKS_MAX && quiet < 2; look++) {
        size_t n;

        usleep(LOOK_PAUSE_US);
        n = kill_once(h, t);
        killed = n > killed ? n : killed;
        quiet = n ? 0 : quiet + 1;
    }
    confine_sweep(&h->freezer);
    return killed;
}

size_t leftovers_kill(const struct home *h, const struct run *r)
{
    struct living l = {0};
    struct strbuf
        mark; /* the path is ours alone, where identifiers and cookies may be alike in two complexes */
    size_t n;

    rundir_records_read(r->path, (xdrproc_t)xdr_shep_record, sizeof(struct shep_record), see_record, &l,
                        NULL);
    strbuf_init(&mark, PATH_LEN_MAX);
    strbuf_addf(&mark, "PBS_NODEFILE=%s/%s", h->aux, r->id);
    n = kill_all(h, &(struct traces){&l.sessions, mark.s, strrchr(r->path, '/') + 1});
    strbuf_fini(&mark);
    free(l.sessions.list);
    free(l.ids);
    return n;
}
