#ifndef DEPEND_REMOTE_H
#define DEPEND_REMOTE_H
/* Records of jobs that moved to other servers while other jobs depend on them: each replaces the job in
 * dependencies (depend.h). doc/dependencies.md, "Dependencies across servers", tells how they are kept in step.
 *
 *   here                              there (where it went)
 *   `depend`, `home`, `doomed`  --->  what it waits for, sent by REGIST_DEP at every change and after restarts
 *   `facts`                     <---  whether it has started and how it ended, asked for by TRACK
 *
 * The server that sent the job knows where it went, so that server always asks. Both directions carry the whole
 * state, never steps: a message that is lost or sent twice does no harm. Each record is a row of the store
 * (kind "away"), written in one batch with what changes beside it. When the job moves from there to a third
 * server, a record remains there, which forwards both directions. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "jobid.h"

struct restore_errors;

struct depend_link;
struct depend_remotes;
struct commit;
struct store;

/* Written by depend_remote.c, except `facts`, `known`, and fields that name another file. */
struct depend_remote {
    struct job_key key;
    bool array;
    bool from_elsewhere; /* it came here from another server, which asks us in turn */
    const char *name;    /* interned: what it was called here, "5.near" */
    const char *user;    /* interned, or NULL: not known */
    const char *server;  /* interned: where it went, "host:port" */
    const char *as;      /* interned: what it is called there; "" is not known */
    const char *depend;  /* interned: its links with jobs of this server; NULL: none */
    const char *home;    /* interned: those that the server has it from keeps; NULL: none */
    const char *doomed;  /* interned: the job because of which it is to be deleted; NULL */
    unsigned facts;      /* enum depend_fact, as last heard */
    bool known;          /* the other server has answered for it */
    uint32_t search;     /* as in struct job */

    struct depend_link *link; /* depend_link.c, to the end */
    struct depend_remote *link_prev, *link_next;
    bool unsaid, saying, asked; /* a change is to be sent; REGIST_DEP, TRACK are under way */
    bool complained;            /* it was logged that the other server does not know it */
};

struct server_events;

/* Tells EVENT_REMOTE_CHANGED and EVENT_REMOTE_GOING. NULL: no memory. */
struct depend_remotes *depend_remotes_create(struct commit *c, struct server_events *b);
void depend_remotes_destroy(struct depend_remotes *all);
int depend_remotes_restore(struct depend_remotes *all, struct store *from,
                           const struct restore_errors *errors, struct err *e); /* at start */

struct depend_remote *depend_remotes_find(const struct depend_remotes *all,
                                          struct job_key key); /* borrow, or NULL */
struct depend_remote *depend_remotes_first(const struct depend_remotes *all);
struct depend_remote *depend_remotes_next(const struct depend_remote *a);

/* A new one; `of` gives key, array, from_elsewhere, and texts, which are copied. Without memory the process
 * ends: a dependency that was promised cannot be lost. */
struct depend_remote *depend_remotes_add(struct depend_remotes *all, const struct depend_remote *of);
void depend_remotes_remove(struct depend_remotes *all, struct depend_remote *a);

/* Change a text of it (NULL or "": none), or store what was changed in it beside. The first is sent to the
 * other server. */
void depend_remote_set(struct depend_remotes *all, struct depend_remote *a, const char **field,
                       const char *text);
void depend_remote_store(struct depend_remotes *all, const struct depend_remote *a);

#endif
