#ifndef SCHED_OBJ_H
#define SCHED_OBJ_H
/* Scheduler objects ("default" exists always): policy attributes, and whether one is connected. */
#include <limits.h>
#include <stdbool.h>

#include "histogram.h"
#include "object.h"
#include "uthash.h"

enum sched_state { SCHED_IS_DOWN, SCHED_IS_IDLE, SCHED_IS_SCHEDULING };

struct sched_obj {
    struct object obj;
    UT_hash_handle hh;
    enum sched_state state;
    struct histogram
        cycles; /* that it has told (IFL_SCHED_COUNTS), and how many jobs these have looked at; not stored */
    uint64_t cycles_jobs;
};

/* Write the directory that a scheduler has unless its attribute sched_priv or sched_log (`index`) says another:
 * HOME/sched_priv and HOME/sched_logs of "default", with _NAME behind them of another one. */
void sched_obj_preset(const struct object *o, int index, const char *home, char out[PATH_MAX]);

struct scheds;
extern const struct object_kind sched_kind;

struct scheds *scheds_create(struct change *c);
void scheds_destroy(struct scheds *s);
/* May a scheduler that is made have this name? It is part of the names of directories: 0, or -1 with PBSE_IVAL_OBJ_NAME. */
int scheds_check_name(const char *name, struct err *e);
/* -1: PBSE_SCHEDEXIST, PBSE_SCHED_NAME_BIG */
int scheds_add(struct scheds *s, const char *name, struct sched_obj **out, struct err *e);
int scheds_remove(struct scheds *s, struct sched_obj *o,
                  struct err *e); /* PBSE_SCHED_NO_DEL: the default one */
struct sched_obj *scheds_find(const struct scheds *s, const char *name);
struct sched_obj *scheds_first(const struct scheds *s);
struct sched_obj *scheds_next(const struct sched_obj *o);

#endif
