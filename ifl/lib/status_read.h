#ifndef STATUS_READ_H
#define STATUS_READ_H
/* Entries of status and watch answers, built straight from the stream.
 *
 * An entry is first read into scratch memory, which is kept from one entry to the next; then it becomes a
 * struct batch_status with its attributes and all its text in one block. So a status of a million strings
 * is ten thousand mallocs, and as many frees. Caller's memory; one thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rpc/types.h>
#include <rpc/xdr.h>

#include "replaceable.h"

struct status_mark { /* where the parts of an attribute begin in `text` */
    size_t name, resource, value;
};

struct status_scratch {
    char *text;
    size_t len, cap;
    struct status_mark *marks;
    size_t n_marks, cap_marks;
    struct attrl *attribs; /* status_change only */
    size_t cap_attribs;
};

void status_read_scratch_fini(struct status_scratch *s);

/* A list that grows at its end. */
struct status_list {
    struct status_scratch scratch;
    struct batch_status *head, **tail;
    size_t n;
};

void status_read_list_init(struct status_list *l);
void status_read_list_fini(struct status_list *l); /* with what was not taken */
struct batch_status *status_read_list_take(struct status_list *l);

/* A node of its own with copies of these attributes, in one block like those read. NULL: no memory. */
struct batch_status *status_read_node_create(const char *name, const struct attropl *attrs);

/* The codecs, for rpc_sync_next: an ifl_status_entry onto the end of a struct status_list ... */
bool_t status_read_entry(XDR *x, struct status_list *l);

/* ... and an ifl_watch_entry into this; its pointers live until the scratch is used again. */
struct status_change {
    struct status_scratch scratch;
    uint64_t number;
    int kind, change;
    const char *name;
    struct attrl *attribs; /* NULL: none */
};
bool_t status_read_change(XDR *x, struct status_change *ch);

#endif
