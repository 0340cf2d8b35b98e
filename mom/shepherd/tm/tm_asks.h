#ifndef TM_ASKS_H
#define TM_ASKS_H
/* Questions that are done on this host: tasks begun, signalled, awaited; and those held back while the job is suspended. */
#include "tm_reply.h"

struct shep_task_news;
struct tm_asks;

struct tm_asks *tm_asks_create(void);    /* NULL: no memory */
void tm_asks_destroy(struct tm_asks *s); /* what is held back is refused */

/* A task is there. On the disk, for a MOM that finds the shepherd gone; and the MOM is told. */
void tm_asks_record(const struct tm_server *t, const struct shep_task_news *n);
void tm_asks_record_end(const struct tm_server *t, unsigned id);
/* The question is about this host. `r` is taken. */
void tm_ask_here(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
/* Until the job runs again. Takes `r`. */
void tm_asks_hold_back(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
void tm_asks_do_held(struct tm_server *t);

#endif
