/* The table of a job's tasks on this host. See tasks.h.
 *
 *   tasks_add -> alive --tasks_ended--> ended --tasks_over--> over --(TASKS_ENDED_MAX later ends)--> forgotten
 *
 * Ended: the process was waited for, and is no longer found by it, since its number may be given to another. Over: its output has
 * gone as well, and waiters are told. That order is the promise of TM: who hears of a task's end has all of its output. Both
 * calls may come twice and then do nothing. Both hashes hold the same entries; that by process only the living.
 *
 * A number is host << TMX_TASK_BITS | n, so each host gives its own without asking. TM_INIT_TASK, the script, is the first of host 0.
 * Infos are bounded over all tasks together: a program may publish under any number of names. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tm.h>

/* SIGNALLED: a task that a signal ended has status 256 + signal, as a job's Exit_status has. */
enum { SIGNALLED = 256, FIRST_NUMBER = 2, NUMBER_MASK = (1 << TMX_TASK_BITS) - 1 };

struct tasks {
    unsigned host, last;
    struct tasks_entry *ids, *pids;
    struct tasks_entry *first_ended, *last_ended;
    size_t n_ended;
    size_t info_bytes, info_names; /* of all entries */
    bool walking;                  /* nothing is forgotten then */
};

struct tasks *tasks_create(unsigned host)
{
    struct tasks *t = calloc(1, sizeof *t);

    if (t) {
        t->host = host;
        t->last = FIRST_NUMBER - 1;
    }
    return t;
}

static size_t info_cost(const char *name, size_t n)
{
    return sizeof(struct tasks_info) + strlen(name) + n;
}

static void entry_free(struct tasks *t, struct tasks_entry *x)
{
    if (x->watch.pidfd >= 0)
        close(x->watch.pidfd);
    while (x->infos) {
        struct tasks_info *i = x->infos;

        x->infos = i->next;
        t->info_bytes -= info_cost(i->name, i->n);
        t->info_names--;
        free(i->name);
        free(i->bytes);
        free(i);
    }
    free(x);
}

void tasks_destroy(struct tasks *t)
{
    struct tasks_entry *x, *next;

    if (!t)
        return;
    HASH_CLEAR(by_pid, t->pids);
    HASH_ITER(by_id, t->ids, x, next)
    {
        HASH_DELETE(by_id, t->ids, x);
        entry_free(t, x);
    }
    free(t);
}

/* Numbers are given in a circle: one comes back as late as possible, since other tasks may still ask for its last
 * holder. */
unsigned tasks_number(struct tasks *t)
{
    for (unsigned tries = 0; tries < TASKS_MAX; tries++) {
        unsigned id;

        t->last = t->last < NUMBER_MASK ? t->last + 1 : FIRST_NUMBER;
        id = t->host << TMX_TASK_BITS | t->last;
        if (!tasks_find(t, id))
            return id;
    }
    return 0;
}

struct tasks_entry *tasks_add(struct tasks *t, unsigned id, pid_t pid)
{
    struct tasks_entry *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->id = id;
    x->pid = pid;
    x->watch.pidfd = -1;
    HASH_ADD(by_id, t->ids, id, sizeof x->id, x);
    HASH_ADD(by_pid, t->pids, pid, sizeof x->pid, x);
    return x;
}

struct tasks_entry *tasks_find(const struct tasks *t, unsigned id)
{
    struct tasks_entry *x;

    HASH_FIND(by_id, t->ids, &id, sizeof id, x);
    return x;
}

struct tasks_entry *tasks_find_pid(const struct tasks *t, pid_t pid)
{
    struct tasks_entry *x;

    HASH_FIND(by_pid, t->pids, &pid, sizeof pid, x);
    return x;
}

/* Asked only for letters that are not the newest of their sender: rare, so searched. */
struct tasks_entry *tasks_find_letter(const struct tasks *t, unsigned from, uint64_t number)
{
    for (struct tasks_entry *x = number ? t->ids : NULL; x; x = x->by_id.next)
        if (x->from == from && x->number == number)
            return x;
    return NULL;
}

static void forget_oldest(struct tasks *t)
{
    struct tasks_entry *x = t->first_ended;

    t->first_ended = x->next_ended;
    if (!t->first_ended)
        t->last_ended = NULL;
    t->n_ended--;
    HASH_DELETE(by_id, t->ids, x);
    entry_free(t, x);
}

void tasks_ended(struct tasks *t, struct tasks_entry *x, int wait_status)
{
    if (x->ended)
        return;
    x->ended = true;
    x->status = WIFSIGNALED(wait_status) ? SIGNALLED + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    HASH_DELETE(by_pid, t->pids, x);
}

void tasks_over(struct tasks *t, struct tasks_entry *x)
{
    if (x->over || !x->ended)
        return;
    x->over = true;
    while (x->waiters) {
        struct tasks_waiter *w = x->waiters;

        x->waiters = w->next;
        w->ended(w, x);
    }
    if (t->last_ended)
        t->last_ended->next_ended = x;
    else
        t->first_ended = x;
    t->last_ended = x;
    if (++t->n_ended > TASKS_ENDED_MAX && !t->walking)
        forget_oldest(t);
}

void tasks_wait(struct tasks_entry *x, struct tasks_waiter *w)
{
    if (x->over) {
        w->ended(w, x);
        return;
    }
    w->next = x->waiters;
    x->waiters = w;
}

size_t tasks_alive(const struct tasks *t)
{
    return HASH_CNT(by_pid, t->pids);
}

void tasks_each(struct tasks *t, void (*fn)(void *arg, struct tasks_entry *x), void *arg)
{
    struct tasks_entry *x, *next;

    t->walking = true;
    HASH_ITER(by_id, t->ids, x, next)
    {
        fn(arg, x);
    }
    t->walking = false;
}

static struct tasks_info *info_find(const struct tasks_entry *x, const char *name)
{
    struct tasks_info *i = x->infos;

    while (i && strcmp(i->name, name) != 0)
        i = i->next;
    return i;
}

static int tasks_check_room(const struct tasks *t, const struct tasks_info *old, const char *name, size_t n,
                            struct err *e)
{
    size_t bytes = t->info_bytes - (old ? info_cost(old->name, old->n) : 0) + info_cost(name, n);

    if (bytes > TASKS_INFO_BYTES_MAX)
        return err_set(e, ENOSPC, "tasks of the job have published more than %d bytes on this host",
                       TASKS_INFO_BYTES_MAX);
    if (!old && t->info_names >= TASKS_INFO_NAMES_MAX)
        return err_set(e, ENOSPC, "tasks of the job have published more than %d names on this host",
                       TASKS_INFO_NAMES_MAX);
    return 0;
}

static struct tasks_info *info_add(struct tasks *t, struct tasks_entry *x, const char *name)
{
    struct tasks_info *i = calloc(1, sizeof *i);

    if (!i || !(i->name = strdup(name))) {
        free(i);
        return NULL;
    }
    i->next = x->infos;
    x->infos = i;
    t->info_bytes += info_cost(name, 0);
    t->info_names++;
    return i;
}

int tasks_publish(struct tasks *t, struct tasks_entry *x, const char *name, const void *bytes, size_t n,
                  struct err *e)
{
    struct tasks_info *i = info_find(x, name);
    char *copy;

    if (tasks_check_room(t, i, name, n, e) < 0)
        return -1;
    copy = malloc(n + 1);
    if (!copy || (!i && !(i = info_add(t, x, name)))) {
        free(copy);
        return err_set(e, ENOMEM, "no memory for what is published");
    }
    memcpy(copy, bytes, n);
    t->info_bytes += n;
    t->info_bytes -= i->n;
    free(i->bytes);
    i->bytes = copy;
    i->n = n;
    return 0;
}

const struct tasks_info *tasks_info(const struct tasks_entry *x, const char *name)
{
    return info_find(x, name);
}
