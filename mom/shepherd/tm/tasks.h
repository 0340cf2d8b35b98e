#ifndef TASKS_H
#define TASKS_H
/* The tasks of a job on this host: numbered, found by number or process, and how each ended.
 *
 * An ended task is remembered, since its end may be asked for later; the oldest of more than TASKS_ENDED_MAX
 * ended ones are forgotten. The table owns its entries. No I/O.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <uthash.h>

#include "err.h"

enum {
    TASKS_ENDED_MAX = 65536,
    TASKS_MAX = 262142,
    TASKS_INFO_BYTES_MAX =
        16 << 20, /* published by all tasks: 64 addresses of 1 kB for each of 256 processes. A choice */
    TASKS_INFO_NAMES_MAX = 16384 /* each costs a look at the others of its task */
};

struct tasks;
struct tasks_entry;

/* A waiter for the end: called once with the entry ended and its output gone; or, when the table is destroyed, not at
 * all. */
struct tasks_waiter {
    struct tasks_waiter *next;
    void (*ended)(struct tasks_waiter *w, const struct tasks_entry *t);
};

struct tasks_info { /* published data */
    struct tasks_info *next;
    char *name;
    char *bytes;
    size_t n;
};

struct task_relay;

/* An attached process, of which we are not the parent: its end is seen at a pidfd. */
struct tasks_watch {
    int pidfd;
    size_t poll_at;
};

struct tasks_entry {
    UT_hash_handle by_id, by_pid;
    struct tasks_entry *next_ended;
    unsigned id, parent;
    pid_t pid;                  /* also its session */
    bool ended, attached, over; /* over: ended and its output is gone */
    int status;                 /* 0 to 255, or 256 and the signal */
    struct tasks_watch watch;   /* with `attached` */
    struct task_relay *relay;   /* of its output; NULL: it writes to the job's files itself */
    struct tasks_waiter *waiters;
    struct tasks_info *infos;
    unsigned from; /* the letter that asked for it: host, number; 0: none */
    uint64_t number;
};

/* `host`: index of this one, part of each number. NULL: no memory. */
struct tasks *tasks_create(unsigned host);
void tasks_destroy(struct tasks *t); /* infos with it; waiters and relays must have gone */

/* A number for a new task; 0: TASKS_MAX are alive. */
unsigned tasks_number(struct tasks *t);
struct tasks_entry *tasks_add(struct tasks *t, unsigned id, pid_t pid); /* NULL: no memory */
struct tasks_entry *tasks_find(const struct tasks *t, unsigned id);
struct tasks_entry *tasks_find_pid(const struct tasks *t, pid_t pid); /* that has not ended */
/* The task that the letter `number` of host `from` has asked for: the letter came again. NULL: there is none, or number is 0. */
struct tasks_entry *tasks_find_letter(const struct tasks *t, unsigned from, uint64_t number);

/* Its process was waited for, with this status as of waitpid. Its output may still be on its way: tasks_over follows. */
void tasks_ended(struct tasks *t, struct tasks_entry *x, int wait_status);
/* Its output has gone too: tell the waiters. May free an older entry, but none during tasks_each. Nothing before tasks_ended. */
void tasks_over(struct tasks *t, struct tasks_entry *x);
/* `w` is called at the end, perhaps inside this. */
void tasks_wait(struct tasks_entry *x, struct tasks_waiter *w);

size_t tasks_alive(const struct tasks *t);
/* Every task, also those that have ended. */
void tasks_each(struct tasks *t, void (*fn)(void *arg, struct tasks_entry *x), void *arg);

/* What was published under that name before goes. -1, with what was there still: ENOMEM; ENOSPC beyond TASKS_INFO_BYTES_MAX (names
 * and a constant for each count) or TASKS_INFO_NAMES_MAX, for all tasks of the table together. */
int tasks_publish(struct tasks *t, struct tasks_entry *x, const char *name, const void *bytes, size_t n,
                  struct err *e);
const struct tasks_info *tasks_info(const struct tasks_entry *x, const char *name);

#endif
