#ifndef PEER_RPC_H
#define PEER_RPC_H
/* Questions to the shepherds on other hosts of the job, by way of the MOMs.
 *
 * A letter is sent again, under its number, until it is answered, the other host has been out of reach for
 * LETTERS_LIMIT_MS, or it says that the run is not there: so a MOM in between may die at any moment.
 */
#include <stdint.h>

#include <tm.h>

struct letters;
struct link;

enum { LETTERS_LIMIT_MS = 300000 };

struct letters *letters_create(struct link *l); /* NULL: no memory */
void letters_destroy(struct letters *l);        /* after the link; whoever waits gets TM_ESYSTEM */

/* Ask `host`; fn is called once, perhaps inside this, with the answer, however late that is, or with TM_ESYSTEM and a text. */
typedef void letters_fn(void *arg, const struct tmx_answer *a);
void letters_send(struct letters *l, unsigned host, const struct tmx_ask *ask, letters_fn *fn, void *arg);

int letters_wait_ms(const struct letters *l); /* until letters_turn has something to do; -1: nothing */
void letters_turn(struct letters *l);

#endif
