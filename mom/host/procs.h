#ifndef PROCS_H
#define PROCS_H
/* The processes below one, as /proc shows them at a moment.
 *
 * A shepherd is the subreaper of its job, so everything the job ever started is below it, also what made
 * a session of its own. Any thread; no state.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "err.h"

struct procs_entry {
    pid_t pid, parent, session;
    char state;        /* as in /proc: R S D T Z ... */
    char name[16];     /* of its program, as the kernel keeps it: its first 15 bytes */
    uint32_t handlers; /* signals that it catches: bit N-1 is signal N, up to 31 */
    unsigned threads;
    uint64_t cput_ms;   /* its own, all threads */
    uint64_t reaped_ms; /* of children it has waited for */
    uint64_t mem_kb, vmem_kb;
};

struct procs {
    struct procs_entry *list;
    size_t n, cap;
};

struct procs_sum {
    uint64_t cput_ms, mem_kb, vmem_kb;
    size_t n; /* alive: zombies are not counted */
};

void procs_init(struct procs *p);
void procs_fini(struct procs *p);

/* All descendants of `root`, itself not among them, parents before children. Processes that vanish meanwhile are
 * left out. Replaces what is in *p. -1: /proc cannot be read, no descriptor, no memory: what is in *p may be a part only. */
int procs_below(struct procs *p, pid_t root, struct err *e);

/* Sessions that were begun elsewhere and belong to the job all the same. What leaves such a session and its parent is still found in
 * the group. */
struct procs_sessions {
    pid_t *list;
    size_t n;
    const char *group; /* directory of a cgroup whose processes belong to the job too; NULL: none */
};

/* As procs_below, and every process of these sessions and of their group (NULL: none) with what is below it. With sessions all
 * of /proc is read. */
int procs_of(struct procs *p, pid_t root, const struct procs_sessions *also, struct err *e);

struct procs_sum procs_add_up(const struct procs *p);

int procs_read(pid_t pid, struct procs_entry *out); /* -1: there is no such process */

/* Its real user, which programs with other rights keep too: who that is may signal it. -1: it is gone. */
int procs_real_uid(pid_t pid, unsigned *out);
int procs_began(pid_t pid, time_t *out); /* when, by the wall clock of now, to a second or so; -1 as above */

/* Boot id of the host, so that a record of before a reboot is known as such. */
int procs_boot_id(char out[static 64], struct err *e);

/* Which numbers of processes these are: the PID namespace's inode, and when its first process began (ticks after the boot), since an inode
 * is given again when the namespace has ended. "" when /proc does not tell. */
void procs_numbers_id(char out[static 64]);

#endif
