#ifndef MOM_H
#define MOM_H
/* The parts of the MOM that the actions and orders speak to. Made by main in this order, destroyed in reverse. */
#include "server_epoch.h"
#include "mom_home.h"
#include "journal.h"
#include "run_fsm.h"

struct loop;
struct names;

struct parts {
    struct loop *loop;
    struct home home;
    struct ssl_ctx_st *tls; /* main: towards sisters */
    struct fence fence;
    struct names *names;
    struct runs *runs;
    struct spares *spares;
    struct run_machine machine;
    struct journal_outbox outbox;
    struct prepare *prepare;
    struct shepherds *shepherds;
    struct sisters *sisters; /* NULL while runs are recovered */
    struct image_out *image_out;
    struct steps *steps;
    struct dyn_values *dynamic;
    struct lease *lease;
    struct exec_service *service;
    struct in_use *in_use;
    struct fitness *fitness;
    struct strangers *strangers;
    bool busy;        /* server_link: what was said last */
    bool unfit;       /* the same */
    bool has_greeted; /* server_link: a server, since this MOM was started */
    char address[16]; /* server_link: for HELLO */
};

/* Post an event to a run. The run may be gone afterwards if the event is PURGE. */
void parts_post(struct parts *m, struct run *r, enum run_event ev);

/* An event for the server, through the run's journal; a journal that cannot be written is logged. */
void parts_say(struct parts *m, struct run *r, const struct exec_event_data *data);

/* A mark in the run's journal that a restart of the MOM reads; a journal that cannot be written is logged. */
void parts_note(struct run *r, enum shep_note what);

#endif
