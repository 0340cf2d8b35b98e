#ifndef HOOK_WORKER_H
#define HOOK_WORKER_H
/* One hook worker: a process in a session of its own, and the frames that go between it and us (doc/internals/hook-protocol.md, 1 and 2).
 *
 * What a message means is its user's to know. Loop thread only. */
#include <jansson.h>

#include "err.h"

struct loop;
struct hook_worker;

struct hook_worker_options {
    const char *program; /* libexec/pbs_hook_worker */
    const char *cwd;
    char *const *env; /* NULL terminated */
};

struct hook_worker_events {
    /* A message with an `op`; borrowed for the call. The worker may be destroyed here. */
    void (*message)(void *arg, const char *op, const json_t *m, size_t n); /* n: its bytes */
    /* Its connection has ended, or it broke the protocol; destroy it. Called once. */
    void (*ended)(void *arg, const char *why);
};

/* Texts are borrowed for the call, `events` for life. NULL: it could not be started. */
struct hook_worker *hook_worker_create(struct loop *l, const struct hook_worker_options *o,
                                       const struct hook_worker_events *events, void *arg, struct err *e);
/* Kill its session and forget it; no callback. */
void hook_worker_destroy(struct hook_worker *w);

/* Takes the reference to `m`. -1: the worker has ended, or the message is too long. */
int hook_worker_send(struct hook_worker *w, json_t *m, struct err *e);

#endif
