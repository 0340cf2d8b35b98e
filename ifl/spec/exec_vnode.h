#ifndef EXEC_VNODE_H
#define EXEC_VNODE_H
/* Where a job runs: exec_vnode "(n1:ncpus=2:mem=1kb)+(n2:ncpus=1+n3:ncpus=1)". The short form: exec_host.h.
 *
 * One pair of brackets is one chunk; it lies on one host and takes from one or more vnodes of it. A vnode may occur
 * in several chunks. Without brackets each vnode is a chunk of its own (qrun -H n1+n2). Public structs: read by all,
 * written here only.
 */
#include <stdbool.h>
#include <stddef.h>

#include "amounts_text.h"
#include "err.h"

struct strbuf;

enum { EXEC_VNODE_PARTS_MAX = 1000000 };

struct exec_vnode_part {
    char *vnode;
    size_t chunk; /* index of the chunk it belongs to, rising from 0 without gaps */
    struct amounts_text res;
};

struct exec_vnode {
    size_t n;
    struct exec_vnode_part *part; /* in the order written */
    size_t n_chunks;
};

struct exec_vnode *exec_vnode_create(struct err *e); /* empty; NULL, PBSE_SYSTEM: no memory */
/* NULL: PBSE_BADATVAL (or PBSE_DUPRESC, a resource twice on one vnode); the text says what is wrong and at
 * which character. */
struct exec_vnode *exec_vnode_parse(const char *text, struct err *e);
void exec_vnode_destroy(struct exec_vnode *v);

/* Add a vnode to chunk `chunk`: the present last one, or the one after it. The part, to which amounts may be
 * added by amounts_text_add, is borrowed until the next addition. NULL: PBSE_SYSTEM. */
struct exec_vnode_part *exec_vnode_add(struct exec_vnode *v, const char *vnode, size_t chunk, struct err *e);

/* Add a copy of a part of another list: to the present last chunk if `joined` and there is one, else as a new chunk. -1:
 * PBSE_SYSTEM. */
int exec_vnode_copy_part(struct exec_vnode *to, const struct exec_vnode_part *part, bool joined,
                         struct err *e);

int exec_vnode_format(const struct exec_vnode *v, struct strbuf *out); /* -1: the buffer has failed */

#endif
