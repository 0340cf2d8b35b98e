/* A thread behind a bounded queue: see worker.h.
 *
 * A task moves from `todo` (filled by the loop, emptied by the thread) to `finished` (the other way round). The
 * thread posts one call a batch of finished tasks, and that call takes all of them. A thread is woken after the lock
 * is released: otherwise it would only wait for the lock, and each durable answer passes through this hand-over. */
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "loop.h"

struct worker_task {
    struct worker_task *next;
    worker_fn *work;
    worker_done_fn *done;
    void *arg;
    bool ran;
};

struct task_list {
    struct worker_task *first, **last;
};

struct worker {
    struct loop *l;
    pthread_t thread;
    size_t max_queued, n_todo, n_waiting;
    pthread_mutex_t lock;
    pthread_cond_t more, less; /* todo has grown; finished has grown */
    struct task_list todo, finished;
    bool called; /* worker_collect_cb is posted */
    bool quit;
};

static void list_init(struct task_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

static void list_add(struct task_list *list, struct worker_task *t)
{
    t->next = NULL;
    *list->last = t;
    list->last = &t->next;
}

/* The list is not empty. */
static struct worker_task *list_take(struct task_list *list)
{
    struct worker_task *t = list->first;

    list->first = t->next;
    if (!list->first)
        list_init(list);
    return t;
}

/* The task is over. */
static void worker_tell(struct worker_task *t)
{
    if (t->done)
        t->done(t->arg, t->ran);
    free(t);
}

/* Loop thread: the next finished task, one by one, since `done` may destroy nothing but may submit. */
static struct worker_task *take_finished(struct worker *w)
{
    struct worker_task *t = NULL;

    pthread_mutex_lock(&w->lock);
    if (w->finished.first) {
        t = list_take(&w->finished);
        w->n_waiting--;
    }
    pthread_mutex_unlock(&w->lock);
    return t;
}

static void worker_collect_cb(void *arg)
{
    struct worker *w = arg;
    struct worker_task *t;

    pthread_mutex_lock(&w->lock);
    w->called = false;
    pthread_mutex_unlock(&w->lock);
    while ((t = take_finished(w)))
        worker_tell(t);
}

/* Thread: wait for work. NULL: the end. */
static struct worker_task *next_task(struct worker *w)
{
    struct worker_task *t = NULL;

    pthread_mutex_lock(&w->lock);
    while (!w->quit && !w->todo.first)
        pthread_cond_wait(&w->more, &w->lock);
    if (!w->quit) {
        t = list_take(&w->todo);
        w->n_todo--;
    }
    pthread_mutex_unlock(&w->lock);
    return t;
}

/* Thread: hand the task back, and post the call that takes `finished`. No memory for the call: the next task tries
 * again. */
static void worker_finish(struct worker *w, struct worker_task *t)
{
    bool call;

    pthread_mutex_lock(&w->lock);
    t->ran = true;
    list_add(&w->finished, t);
    call = !w->called;
    w->called = true;
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->less);
    if (call && loop_post(w->l, worker_collect_cb, w) < 0) {
        pthread_mutex_lock(&w->lock);
        w->called = false;
        pthread_mutex_unlock(&w->lock);
    }
}

/* The thread. It ends with next_task's NULL, and never in the middle of a task. */
static void *worker_run(void *arg)
{
    struct worker *w = arg;
    struct worker_task *t;

    while ((t = next_task(w))) {
        t->work(t->arg);
        worker_finish(w, t);
    }
    return NULL;
}

static void free_worker(struct worker *w)
{
    pthread_cond_destroy(&w->more);
    pthread_cond_destroy(&w->less);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Signals are the loop's: the thread blocks them all. 0 or an errno value. */
static int start_thread(struct worker *w)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&w->thread, NULL, worker_run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

struct worker *worker_create(struct loop *l, const char *name, size_t max_queued, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);
    char short_name[16];
    int rc;

    if (!w) {
        err_set(e, ENOMEM, "no memory for worker %s", name);
        return NULL;
    }
    w->l = l;
    w->max_queued = max_queued;
    list_init(&w->todo);
    list_init(&w->finished);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->less, NULL);
    rc = start_thread(w);
    if (rc) {
        err_errno(e, rc, "cannot start worker %s", name);
        free_worker(w);
        return NULL;
    }
    snprintf(short_name, sizeof short_name, "%s", name);
    pthread_setname_np(w->thread, short_name);
    return w;
}

/* Finished tasks first, then those that did not run: so `done` is called in the order of submission. */
void worker_destroy(struct worker *w)
{
    int saved = errno;
    struct worker_task *t;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    loop_forget(w->l, worker_collect_cb, w);
    while ((t = take_finished(w)))
        worker_tell(t);
    while (w->todo.first)
        worker_tell(list_take(&w->todo));
    free_worker(w);
    errno = saved;
}

int worker_submit(struct worker *w, worker_fn *work, worker_done_fn *done, void *arg, struct err *e)
{
    struct worker_task *t = malloc(sizeof *t);
    bool full;

    if (!t)
        return err_set(e, ENOMEM, "no memory for a piece of work");
    *t = (struct worker_task){.work = work, .done = done, .arg = arg};
    pthread_mutex_lock(&w->lock);
    full = w->n_todo >= w->max_queued;
    if (!full) {
        list_add(&w->todo, t);
        w->n_todo++;
        w->n_waiting++;
    }
    pthread_mutex_unlock(&w->lock);
    if (!full) {
        pthread_cond_signal(&w->more);
        return 0;
    }
    free(t);
    return err_set(e, EAGAIN, "%zu pieces of work are waiting already", w->max_queued);
}

/* `done` is called without the lock, since it may submit; what it submits is waited for too. */
void worker_drain(struct worker *w)
{
    struct worker_task *t;

    pthread_mutex_lock(&w->lock);
    while (w->n_waiting) {
        while (!w->finished.first)
            pthread_cond_wait(&w->less, &w->lock);
        pthread_mutex_unlock(&w->lock);
        while ((t = take_finished(w)))
            worker_tell(t);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}
