#ifndef PQUEUE_H
#define PQUEUE_H
/* A priority queue: a binary heap of entries that live inside the caller's structs.
 *
 * Smallest key first; equal keys in the order of insertion. Push, pop and remove are O(log n), first is O(1).
 * An entry is in one queue at most; a zeroed entry is in none. The queue owns no entry: remove an entry before its
 * struct is freed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pqueue_entry {
    int64_t key;    /* read only while queued */
    uint64_t order; /* of insertion */
    size_t place;   /* 0: not in a queue */
};

struct pqueue {
    struct pqueue_entry **heap; /* [1..n] */
    size_t n, cap;
    uint64_t next_order;
};

/* The struct that holds an entry: PQUEUE_OWNER(e, struct job, due). */
#define PQUEUE_OWNER(entry, type, member) ((type *)(void *)((char *)(entry)-offsetof(type, member)))

void pqueue_init(struct pqueue *q);
void pqueue_fini(struct pqueue *q); /* entries become "in none"; their memory is the caller's */

/* Room for `n` entries in all, so that pushes up to there cannot fail. 0, or -1 no memory. */
int pqueue_reserve(struct pqueue *q, size_t n);

int pqueue_push(struct pqueue *q, struct pqueue_entry *e, int64_t key); /* -1 no memory; not queued yet */
void pqueue_remove(struct pqueue *q, struct pqueue_entry *e);           /* not queued: nothing */
struct pqueue_entry *pqueue_first(const struct pqueue *q);              /* NULL: empty; stays queued */
struct pqueue_entry *pqueue_pop(struct pqueue *q);                      /* NULL: empty */
bool pqueue_has(const struct pqueue_entry *e);                          /* in a queue */

#endif
