#ifndef EXECSIM_H
#define EXECSIM_H
/* An execution service without execution: jobs that only take time, on as many nodes as asked for.
 *
 * It speaks EXEC as a MOM does, for many nodes on one connection, in real time. A job takes `run_ms`, or what
 * its environment says: EXECSIM_MS (milliseconds), EXECSIM_STATUS (exit status). It dies of a TERMINATE after
 * `die_ms`. Nothing is kept on disk: a restarted simulator has lost its runs. For benchmarks and tests of server
 * and scheduler.
 */
#include <stdint.h>

#include "err.h"

struct execsim;
struct loop;

struct execsim_options {
    const char *service;     /* "sim:1" */
    const char *socket_path; /* of the server */
    const char *prefix;      /* nodes are PREFIX1, PREFIX2, ... */
    unsigned n_nodes, ncpus;
    uint64_t mem_kb;
    int64_t run_ms, die_ms;
};

struct execsim *execsim_create(struct loop *l, const struct execsim_options *o, struct err *e);
void execsim_destroy(struct execsim *s);

#endif
