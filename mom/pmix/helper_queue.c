/* A list behind a lock, and an eventfd that wakes the loop. The loop takes the whole list at once and works it off without the lock, so an
 * event that is queued meanwhile is done in the next turn. Completions are always accepted, since the library waits for them; requests
 * of clients are bounded, since a program can make as many as it likes. */
#include "helper_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* WAITING_MAX: thousands of ranks may ask at once; one request is some hundred bytes. */
enum { WAITING_MAX = 16384 };

struct helper_queue {
    pthread_mutex_t lock;
    int fd;
    struct helper_event *first, **end;
    size_t n;
};

struct helper_queue *helper_queue_create(struct err *e)
{
    struct helper_queue *q = calloc(1, sizeof *q);

    if (!q) {
        err_set(e, ENOMEM, "no memory for a queue");
        return NULL;
    }
    q->end = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (q->fd >= 0)
        return q;
    err_errno(e, errno, "cannot make an event descriptor");
    free(q);
    return NULL;
}

int helper_queue_fd(const struct helper_queue *q)
{
    return q->fd;
}

static bool helper_queue_put(struct helper_queue *q, struct helper_event *ev, size_t limit)
{
    const uint64_t one = 1;
    bool fits;

    pthread_mutex_lock(&q->lock);
    fits = q->n < limit;
    if (fits) {
        ev->next = NULL;
        *q->end = ev;
        q->end = &ev->next;
        q->n++;
    }
    pthread_mutex_unlock(&q->lock);
    if (fits)
        (void)!write(q->fd, &one, sizeof one);
    return fits;
}

void helper_queue_add(struct helper_queue *q, struct helper_event *ev)
{
    helper_queue_put(q, ev, SIZE_MAX);
}

bool helper_queue_offer(struct helper_queue *q, struct helper_event *ev)
{
    return helper_queue_put(q, ev, WAITING_MAX);
}

void helper_queue_turn(struct helper_queue *q, struct helper *h)
{
    struct helper_event *ev;
    uint64_t n;

    (void)!read(q->fd, &n, sizeof n);
    pthread_mutex_lock(&q->lock);
    ev = q->first;
    q->first = NULL;
    q->end = &q->first;
    q->n = 0;
    pthread_mutex_unlock(&q->lock);
    while (ev) {
        struct helper_event *next = ev->next;

        ev->take(h, ev);
        ev = next;
    }
}
