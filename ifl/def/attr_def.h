#ifndef ATTR_DEF_H
#define ATTR_DEF_H
/* The definitions of all attributes, from attr_server.def, attr_queue.def, ... Constant; any thread.
 *
 *   ATTR(name, TYPE, READ, WRITE, flags, range, default, meaning)
 *     TYPE         id of attr_type.def
 *     READ WRITE   lowest level: USER (a job's: its owner), OPERATOR, MANAGER, SERVER (no client)
 *     flags        enum attr_flag, or 0
 *     range        RANGE(min, max) of a number, ANY
 *     default      as text, or NULL; what holds, or (AF_SHOWN) is shown as set, while nothing is set
 *     meaning      one line for the manual; unit where it is a number
 * A row's place in its file is only the order of display. Names are compared without regard to case.
 */
#include <stdbool.h>
#include <stdint.h>

#include "attr_type.h"
#include "err.h"
#include "level.h"

enum attr_flag {
    AF_CREATE = 1,     /* settable only when the object is made */
    AF_SERVER = 2,     /* server and schedulers may set it, whatever WRITE says */
    AF_RUN = 4,        /* alterable while the job or reservation runs */
    AF_HIDDEN = 8,     /* shown only with the server's show_hidden_attribs */
    AF_SHOWN = 16,     /* the default is put there when the object is made, and again by unset */
    AF_FIXED = 32,     /* does not change after submission: stored apart, once */
    AF_DERIVED = 64,   /* computed, never stored */
    AF_EXEC = 128,     /* of execution queues only */
    AF_ROUTING = 256,  /* of route queues only */
    AF_INDIRECT = 512, /* amounts may be "@vnode" */
    AF_UNUSED = 1024,  /* kept and shown; nothing acts on it */
    AF_ASKED = 2048,   /* shown only in answers to requests that name it */
    AF_HOST = 4096, /* of a vnode: its host may say it as well; exec/node_report.c, mom/mom/node/vnodes.c */
    AF_PRIVATE =
        8192 /* of a job: with the server's hide_environments for its owner, operators and managers only */
};

/* Kinds of object. */
enum attr_of {
    OF_SERVER,
    OF_QUEUE,
    OF_JOB,
    OF_NODE,
    OF_SCHED,
    OF_RESV,
    OF_HOOK,
    OF_RESOURCE,
    OF_HOLD,
    OF_COUNT
};

/* SERVER_ATTR_scheduling, QUEUE_ATTR_..., JOB_ATTR_Priority, NODE_ATTR_..., SCHED_ATTR_preempt_order, ... */
#define ATTR(name, ...) SERVER_ATTR_##name,
enum server_attr {
#include "attr_server.def"
    SERVER_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) QUEUE_ATTR_##name,
enum queue_attr {
#include "attr_queue.def"
    QUEUE_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) JOB_ATTR_##name,
enum job_attr {
#include "attr_job.def"
    JOB_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) NODE_ATTR_##name,
enum node_attr {
#include "attr_node.def"
    NODE_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) SCHED_ATTR_##name,
enum sched_attr {
#include "attr_sched.def"
    SCHED_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) RESV_ATTR_##name,
enum resv_attr {
#include "attr_resv.def"
    RESV_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) HOOK_ATTR_##name,
enum hook_attr {
#include "attr_hook.def"
    HOOK_ATTR_COUNT
};
#undef ATTR
#define ATTR(name, ...) RESOURCE_ATTR_##name,
enum resource_attr {
#include "attr_resource.def"
    RESOURCE_ATTR_COUNT
};
#undef ATTR

#define ATTR(name, ...) HOLD_ATTR_##name,
enum hold_attr {
#include "attr_hold.def"
    HOLD_ATTR_COUNT
};
#undef ATTR

enum { ATTR_MAX = 192, ATTR_NONE = -1 }; /* no kind has more attributes */

struct attr_def {
    const char *name;
    enum attr_type type;
    enum level read, write;
    unsigned flags;
    int64_t min, max;
    const char *dflt;
    const char *meaning;
};

/* The level of the peer that writes, and the state of the object. */
struct attr_writer {
    enum level level;
    bool creating; /* the object is being made */
    bool running;  /* it is a job or reservation that runs */
};

int attr_def_count(enum attr_of of);
const struct attr_def *attr_def_get(enum attr_of of, int index); /* 0 <= index < count */
const struct value_type *attr_def_type(const struct attr_def *d);
const char *attr_def_of_name(
    enum attr_of of); /* "server", "queue", "job", "node", "sched", "resv", "hook", "resource", "hold" */

/* The index of a name, or ATTR_NONE. O(1). */
int attr_def_find(enum attr_of of, const char *name);

/* The same, or -1 with PBSE_NOATTR and a text that names it. */
int attr_def_need(enum attr_of of, const char *name, struct err *e);

bool attr_def_may_read(const struct attr_def *d, enum level l, bool show_hidden);

/* Check that the writer may set, unset or change the attribute now. 0, or -1:
 *   PBSE_ATTRRO     read-only, or not at this level (the text says who may), or only at creation
 *   PBSE_MODATRRUN  not while it runs */
int attr_def_check_write(const struct attr_def *d, const struct attr_writer *w, struct err *e);

#endif
