#ifndef CALL_LIST_H
#define CALL_LIST_H
/* Calls to be made later, in order: what the loop keeps for loop_post, loop_defer and the background. No
 * lock; the caller's.
 *
 * A call is on one list or on none; the list that it is on owns it. All of it but call_list_forget is O(1),
 * or O(calls freed). */
#include <stddef.h>

#include "loop.h"

struct call {
    struct call *next;
    loop_fn *fn;
    void *arg;
};

struct call_list {
    struct call *first, **last;
    size_t n;
};

struct call *call_list_create_call(loop_fn *fn,
                                   void *arg); /* NULL: no memory. In no list; freed with free() */

void call_list_init(struct call_list *list);
void call_list_add(struct call_list *list, struct call *c);        /* last */
struct call *call_list_take(struct call_list *list);               /* the first, or NULL; the caller's now */
void call_list_move(struct call_list *to, struct call_list *from); /* all of `from` behind `to` */
size_t call_list_forget(struct call_list *list, loop_fn *fn,
                        void *arg);          /* free all calls with these two: so many */
void call_list_drop(struct call_list *list); /* free all */

#endif
