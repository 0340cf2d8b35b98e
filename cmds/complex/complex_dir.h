#ifndef COMPLEX_DIR_H
#define COMPLEX_DIR_H
/* A private complex as a directory: where its files are, and the first version of each.
 *
 *   pbs.conf            server, scheduler, commands
 *   home/               PBS_HOME
 *   second/pbs.conf     only of a failover pair: the second server, on the same PBS_HOME
 *   mom/NAME/pbs.conf   one MOM, whose PBS_MOM_HOME is mom/NAME
 *   pgsql/              only with a PostgreSQL store
 *
 * pbs_complex reads the files and keeps no list of its own: a MOM exists when its pbs.conf does. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

enum { COMPLEX_NODES_MAX = 1000, COMPLEX_NAME_MAX = 64 };

struct complex_dir {
    char root[PATH_MAX]; /* absolute */
    char exec[PATH_MAX]; /* PBS_EXEC: above the directory of this program */
};

struct complex_plan {
    int nodes;
    int ncpus;       /* of each node; 0: what the hardware has */
    const char *mem; /* "16gb"; NULL: what the hardware has */
    bool postgres;
    bool pair; /* two servers with one store */
};

/* Find the complex in `dir`; NULL: in the directory of the pbs.conf in the environment, if that is a complex, else in
 * ./complex. Makes nothing. -1: no such place, or this program cannot find itself. */
int complex_dir_init(struct complex_dir *d, const char *dir, struct err *e);
bool complex_dir_exists(const struct complex_dir *d); /* it holds a complex */
bool complex_dir_is_pair(const struct complex_dir *d);

/* Format "ROOT/" and fmt into `out`, "" when it is too long for a path. Return `out`. */
const char *complex_dir_path(const struct complex_dir *d, char out[static PATH_MAX], const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Write everything for a new complex, on ports that are free and that no other complex has claimed. */
int complex_dir_make(const struct complex_dir *d, const struct complex_plan *p, struct err *e);

/* Add a MOM; `name` NULL: the next of n1, n2 ... The name is put into `out`. */
int complex_dir_add_mom(const struct complex_dir *d, const char *name, const struct complex_plan *p,
                        char out[static COMPLEX_NAME_MAX], struct err *e);

/* Get the names of the MOMs, in the order of their numbers. Return how many, or -1. */
struct complex_names {
    int n;
    char name[COMPLEX_NODES_MAX][COMPLEX_NAME_MAX];
};
int complex_dir_moms(const struct complex_dir *d, struct complex_names *out, struct err *e);

/* Get what the first node was made with: ncpus and mem. 0 and NULL mean the hardware's, also if there is no node yet.
 * The text of mem is in `mem`. */
enum { COMPLEX_MEM_MAX = 64 };
int complex_dir_first_plan(const struct complex_dir *d, struct complex_plan *out,
                           char mem[static COMPLEX_MEM_MAX], struct err *e);

/* Get the schedulers beside the default one that have run here (home/sched_priv_NAME), as "sched_NAME", sorted. */
int complex_dir_scheds(const struct complex_dir *d, struct complex_names *out, struct err *e);

int complex_dir_remove(const struct complex_dir *d, struct err *e); /* with its claims to ports */

/* Get the directory of the PostgreSQL server's socket: below the complex, or, where that path is too long for a
 * socket, a directory of its own below /tmp, made at the first call. */
int complex_dir_pg_socket(const struct complex_dir *d, char out[static PATH_MAX], struct err *e);

#endif
