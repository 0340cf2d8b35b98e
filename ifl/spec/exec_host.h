#ifndef EXEC_HOST_H
#define EXEC_HOST_H
/* Where a job runs, in the short form that users and old tools read: exec_host "n1/0*2+n2/0". Which vnodes with how
 * much of what: exec_vnode.h. Public structs: read by all, written here only.
 */
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct strbuf;

/* One entry a chunk: host, slot (the number shown behind '/'), and how many cpus ("*n" is left out for 1). */
struct exec_host_part {
    char *host;
    uint32_t slot;
    uint32_t ncpus; /* 0 is written "*0" */
};

struct exec_host {
    size_t n;
    struct exec_host_part *part;
};

struct exec_host *exec_host_create(struct err *e);
struct exec_host *exec_host_parse(const char *text, struct err *e); /* NULL: PBSE_BADATVAL */
void exec_host_destroy(struct exec_host *h);
int exec_host_add(struct exec_host *h, const char *host, uint32_t slot, uint32_t ncpus, struct err *e);
int exec_host_format(const struct exec_host *h, struct strbuf *out);

#endif
