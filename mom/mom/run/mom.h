#ifndef MOM_H
#define MOM_H
/* The MOM: the context of every action and order. main.c makes the parts in the order of their fields and destroys them in reverse. */
#include <exec.h>

#include "server_epoch.h"
#include "mom_home.h"
#include "journal.h"
#include "run_fsm.h"

struct loop;
struct names;

struct mom {
    struct conf *conf;
    const char *log_path;            /* -L; or NULL */
    bool end_jobs;                   /* -r */
    struct ssl_ctx_st *tls, *tls_in; /* towards the server and sisters; for sisters that call */
    struct loop *loop;
    struct home home;
    struct server_epoch server_epoch;
    struct names *names;
    struct runs *runs;
    struct rundir_pool *rundir_pool;
    struct run_machine machine;
    struct journal_outbox outbox;
    struct prepare *prepare;
    struct shepherds *shepherds;
    struct sisters *sisters; /* NULL while runs are recovered */
    struct image_out *image_out;
    struct host_hooks *hooks; /* NULL until the parts are made */
    struct site_steps *site_steps;
    struct dyn_values *dynamic;
    struct ckpt_adapters *ckpt_adapters;
    struct server_lease *server_lease;
    struct exec_service *service;
    struct cycle_harvest *cycle_harvest;
    struct fitness *fitness;
    struct restrict_user *restrict_user;
    struct cert_renew *certs;
    struct loop_signal *hup, *intr, *term;
    bool busy;                          /* server_link: what was said last */
    bool unfit;                         /* the same */
    unsigned said_checkpoint;           /* the same: capabilities of checkpoint in the last HELLO */
    bool has_greeted;                   /* server_link: a server, since this MOM was started */
    char address[16];                   /* server_link: for HELLO */
    char hook_digest[EXEC_HOOK_DIGEST]; /* the same */
};

/* Post an event to a run. The run may be gone afterwards if the event is PURGE. */
void mom_post(struct mom *m, struct run *r, enum run_event ev);

/* An event for the server, through the run's journal; a journal that cannot be written is logged. */
void mom_say(struct mom *m, struct run *r, const struct exec_event_data *data);

/* A mark in the run's journal that a restart of the MOM reads; a journal that cannot be written is logged. */
void mom_note(struct run *r, enum shep_note what);

#endif
