/* The sessions of a run that have not ended. See run_tasks.h.
 *
 * The script's session comes with the record "started" and stays in the list when the script has ended. The order of the list
 * means nothing: the last entry takes the place of one that is dropped.
 *
 * Records come in order: a task begins with its session and ends with session 0. The session of one that has ended may
 * have become a stranger's, so it must go from the list. */
#include "run_tasks.h"

#include <stdbool.h>
#include <stdlib.h>

#include <shep.h>

#include "rundir.h"

static bool run_tasks_make_room(struct run_tasks *t)
{
    size_t cap = t->cap ? 2 * t->cap : 16;
    pid_t *list;
    unsigned *ids;

    if (t->sessions.n < t->cap)
        return true;
    list = realloc(t->sessions.list, cap * sizeof *list);
    if (list)
        t->sessions.list = list;
    ids = realloc(t->ids, cap * sizeof *ids);
    if (ids)
        t->ids = ids;
    if (list && ids)
        t->cap = cap;
    return list && ids;
}

static void run_tasks_add(struct run_tasks *t, unsigned id, pid_t session)
{
    t->any = true;
    if (!run_tasks_make_room(t))
        return;
    t->ids[t->sessions.n] = id;
    t->sessions.list[t->sessions.n++] = session;
}

static void run_tasks_drop(struct run_tasks *t, unsigned id)
{
    for (size_t i = 0; i < t->sessions.n; i++)
        if (t->ids[i] == id) {
            t->sessions.n--;
            t->ids[i] = t->ids[t->sessions.n];
            t->sessions.list[i] = t->sessions.list[t->sessions.n];
            return;
        }
}

static void run_tasks_see_record(void *arg, void *item)
{
    const struct shep_record *rec = item;

    if (rec->kind == SHEP_RECORD_STARTED && rec->shep_record_u.started.pid)
        run_tasks_add(arg, 0, rec->shep_record_u.started.pid);
    else if (rec->kind == SHEP_RECORD_TASK && rec->shep_record_u.task.session)
        run_tasks_add(arg, rec->shep_record_u.task.id, rec->shep_record_u.task.session);
    else if (rec->kind == SHEP_RECORD_TASK)
        run_tasks_drop(arg, rec->shep_record_u.task.id);
}

void run_tasks_read(struct run_tasks *t, const char *path)
{
    *t = (struct run_tasks){0};
    rundir_records_read(path, (xdrproc_t)xdr_shep_record, sizeof(struct shep_record), run_tasks_see_record, t,
                        NULL);
}

void run_tasks_fini(struct run_tasks *t)
{
    free(t->sessions.list);
    free(t->ids);
    *t = (struct run_tasks){0};
}
