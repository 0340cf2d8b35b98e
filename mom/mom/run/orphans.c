/* Kill what a killed shepherd has left. The shepherd was the subreaper of its job: without it no process is the parent of all
 * others, so they are found in three ways at once, since each misses some: by the sessions that the shepherd has recorded (not a
 * process that made a session of its own), by PBS_NODEFILE in their environment (not one that cleared it), and by the cgroups of
 * the run (not where there are none).
 *
 * Called by act_end_lost before the run's end is told, so that the server gives the room to no other job while a process is
 * alive. After a boot nothing is looked for: recorded numbers belong to other processes then. Blocks the loop for LOOKS_MAX
 * pauses at most. */
#include "orphans.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine.h"
#include "mom_home.h"
#include "procs.h"
#include "procs_marked.h"
#include "mom_run.h"
#include "run_tasks.h"
#include "rundir.h"
#include "strbuf.h"

/* Processes of a killed shepherd fork and end while they are looked for: until two looks in a row find none, 50 ms at
 * most, since the loop waits. */
enum { LOOKS_MAX = 50, LOOK_PAUSE_US = 1000, PATH_LEN_MAX = 8192 };

struct traces { /* of a run */
    struct procs_marks marks;
    const char *group; /* name of its cgroups */
};

static size_t kill_once(const struct home *h, const struct traces *t)
{
    size_t in_groups = confine_kill_left(&h->freezer, t->group), n = procs_marked_signal(&t->marks, SIGKILL);

    return in_groups > n ? in_groups : n;
}

/* A process that is between fork and exec at a look has no environment to be known by, so looks are repeated until two in
 * a row find no process; what was frozen dies when it is thawed. */
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

/* When the shepherd has noted its last session. */
static time_t noted_last(const struct run *r)
{
    struct strbuf path;
    struct stat st;
    time_t when = 0;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/" RUNDIR_RUN, r->path);
    if (stat(strbuf_str(&path), &st) == 0)
        when = st.st_mtim.tv_sec;
    strbuf_fini(&path);
    return when;
}

size_t orphans_kill(const struct home *h, const struct run *r)
{
    struct run_tasks tasks;
    struct strbuf mark; /* a path of this MOM: job identifiers may be alike in two complexes on one host */
    size_t n;

    if (r->before_boot)
        return 0; /* other processes have those numbers now */
    run_tasks_read(&tasks, r->path);
    if (r->foreign_pids)
        tasks.sessions.n = 0; /* the cgroups and the mark hold in every PID namespace */
    strbuf_init(&mark, PATH_LEN_MAX);
    strbuf_addf(&mark, "PBS_NODEFILE=%s/%s", h->aux, r->id);
    n = kill_all(h, &(struct traces){.marks = {.sessions = &tasks.sessions,
                                               .since = noted_last(r),
                                               .uid = (unsigned)strtoul(r->owner_uid, NULL, 10),
                                               .mark = mark.s},
                                     .group = strrchr(r->path, '/') + 1});
    strbuf_fini(&mark);
    run_tasks_fini(&tasks);
    return n;
}
