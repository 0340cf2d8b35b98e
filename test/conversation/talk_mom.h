#ifndef TALK_MOM_H
#define TALK_MOM_H
/* A MOM that is played: keeps the runs that it was given, and says of them what is true, or not. */
#include <stdbool.h>
#include <stdint.h>

struct caller;
struct rpc_call_hdr;
struct talk;

enum { TALK_MOMS = 2, MOM_RUNS = 256 };

struct mom_run {
    int64_t job;
    int index;
    unsigned run;
    uint64_t said; /* number of the last event */
    int phase;     /* how many of ready, start, finish, release have been said */
    unsigned attempt;
    int outcome; /* enum exec_event_kind that an order waits for; 0: none */
};

struct mom {
    struct mom_run runs[MOM_RUNS];
    unsigned n_runs;
    uint64_t generation, epoch;
    char store[64];
    bool accepted;
};

void mom_hello(struct talk *t, struct caller *c);
void mom_events(struct talk *t, struct caller *c);
/* Ask for the script of this job, which is not to be had where the job is not on this host. */
void mom_steal(struct talk *t, struct caller *c, const char *id);
void mom_other(struct talk *t, struct caller *c); /* usage, states, scripts, good-bye */
/* An order of the server. */
void mom_called(struct talk *t, struct caller *c, const struct rpc_call_hdr *h);
/* The answer to HELLO. */
void mom_answered(struct talk *t, struct caller *c, const char *bytes, unsigned n);

#endif
