#ifndef DEPEND_LIST_H
#define DEPEND_LIST_H
/* A job's dependencies as elements: read from the attribute's text, changed one by one, written back. The text
 * is the only copy; what is read here lives for a call. */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "job.h"
#include "type_depend.h"

struct server_ctx;
struct strbuf;

/* 16384 dependencies (DEPEND_MAX) of 250 bytes each; as ATTR_EDIT_TEXT_MAX. */
enum { DEPEND_TEXT_MAX = 4 << 20 };

struct depend_item {
    enum depend_kind kind;
    int64_t count;      /* ON, SYNCCOUNT */
    struct job_key key; /* else: the other job */
    bool array;         /* named as an array: "12[]" */
};

struct depend_items {
    struct depend_item *v;
    size_t n, room;
};

/* NULL or "" has no elements. A job of another server that came here, or one that came back, gets its present
 * name. -1: PBSE_BADATVAL the grammar, PBSE_BADDEPEND a job of another server, PBSE_SYSTEM. */
int depend_list_read(const struct server_ctx *s, const char *text, struct depend_items *out, struct err *e);
/* The same of a job's attribute; a list that cannot be read has no elements. */
void depend_list_of(const struct server_ctx *s, const struct job *j, struct depend_items *out);
void depend_list_fini(struct depend_items *l);

/* The same link, seen from the other job: afterok and beforeok; runone and runone. */
enum depend_kind depend_mirror(enum depend_kind k);

struct depend_item *depend_list_find(const struct depend_items *l, enum depend_kind k, struct job_key key);
struct depend_item *depend_list_find_kind(const struct depend_items *l, enum depend_kind k);
/* At the end; add: unless it is there. Without memory the process ends. */
void depend_list_append(struct depend_items *l, struct depend_item item);
void depend_list_add(struct depend_items *l, struct depend_item item);
void depend_list_drop(struct depend_items *l, struct depend_item *at);

/* Write the elements to the job's attribute (none: unset), by kind; the job is touched. Jobs are named as PBS
 * shows them, "12.server@server". */
int depend_list_write(const struct server_ctx *s, const struct depend_items *l,
                      struct strbuf *out); /* -1: no memory */
void depend_list_store(struct server_ctx *s, struct job *j, const struct depend_items *l);

#endif
