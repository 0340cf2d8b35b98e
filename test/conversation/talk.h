#ifndef TALK_H
#define TALK_H
/* One round of a conversation: a server, those who speak with it, and what they know of each other.
 *
 * A round is a number of steps; all that a step does is drawn from (seed, number of the step), so steps can be left out and the
 * others stay what they are as far as the server's state allows. After a step every caller is heard (talk_settle) and what must
 * hold is looked at (truth_check). What does not hold ends the process: talk_fail. */
#include <stdbool.h>
#include <stdint.h>

#include "rpc_buf.h"
#include "talk_caller.h"
#include "talk_chance.h"
#include "talk_house.h"
#include "talk_mom.h"

enum {
    TALK_USERS = 3,
    TALK_CALLERS = 12,
    TALK_JOBS = 4096,
    TALK_ID_MAX = 64,
    TALK_NOBODY = -1,
    TALK_ANYBODY = -2
};
enum { TALK_FAILED = 3 }; /* exit code */

/* A job that was promised to a caller. */
struct talk_job {
    char id[TALK_ID_MAX];
    int owner;       /* user; TALK_NOBODY: a manager; TALK_ANYBODY: another server has brought it */
    bool may_vanish; /* its history was deleted, or it has never come in whole */
};

struct talk {
    struct house house;
    struct chance chance;
    unsigned step;
    bool is_told; /* say what is done */
    struct caller callers[TALK_CALLERS];
    struct mom moms[TALK_MOMS];
    struct talk_job jobs[TALK_JOBS];
    size_t n_jobs;
    uint64_t epoch, number; /* cursor of the watch that was answered last */
    unsigned watch;
    uint64_t calls, answers;
    int64_t begun_s;
    size_t allocated; /* at the beginning */
};

extern const char *const talk_users[TALK_USERS]; /* accounts that every host has */
extern const uid_t talk_uids[TALK_USERS];

/* Say what has failed, and end. */
void talk_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A line about the step, when such are wanted. */
void talk_say(const struct talk *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void talk_begin(struct talk *t, const char *dir);
/* One step; `settle` hears every caller, and looks. */
void talk_step(struct talk *t, uint64_t seed, unsigned step);
/* All leave; what must hold at the end. */
void talk_end(struct talk *t);

void talk_settle(struct talk *t);

/* Hooks of talk_caller. */
void talk_answered(struct talk *t, struct caller *c, const struct caller_call *call,
                   const struct rpc_reply_hdr *r);
void talk_called(struct talk *t, struct caller *c, const struct rpc_call_hdr *h);
void talk_gone(struct talk *t, const struct caller *c);
const char *talk_name(const struct caller *c);

/* --- talk_words.c: a call of one of the server's procedures by this caller, valid or not. False: it has no room. */
bool words_call(struct talk *t, struct caller *c, int proc);
/* A procedure at random, by weight. */
int words_proc(struct talk *t);
void words_change(struct talk *t, struct byte_buf *b); /* other bytes */
const char *words_proc_name(unsigned proc);

/* --- talk_truth.c */
struct truth; /* what was, before a restart */
void truth_check(struct talk *t);
struct truth *truth_remember(struct talk *t);
void truth_compare(struct talk *t, struct truth *was); /* frees it */
/* An answer to a user's connection holds no other user's secret. */
void truth_look(const struct caller *c, const char *bytes, size_t n);
/* The answer to a manager who has asked for all jobs: each that was promised is there once. */
void truth_counted(struct talk *t, const struct caller *c);
/* After all have left: no more memory than at the beginning. */
void truth_weigh(const struct talk *t);

#endif
