#ifndef MAILER_H
#define MAILER_H
/* Messages passed to the configured mail program: its argument vector, never a shell; the text on its standard input.
 *
 * At most some programs at once; the rest waits in a bounded queue. One that does not end is killed. What cannot be
 * sent is lost and logged: mail is news, never a record. Loop thread only; nothing here blocks. */
#include <stddef.h>

#include "err.h"

struct loop;
struct mailer;

/* A mailer is a program of the site: few at once, and one that hangs is killed after MAILER_LIMIT_S. Messages beyond
 * MAILER_QUEUE_MAX are dropped and logged. */
enum { MAILER_AT_ONCE = 4, MAILER_QUEUE_MAX = 1000, MAILER_LIMIT_S = 60 };

struct mailer *mailer_create(struct loop *l);
void mailer_destroy(struct mailer *m); /* those at work are left to end */

/* Send `text` to the addresses by `PROGRAM -f FROM TO...`. An address that a program could take for an option is left
 * out. The program must be trusted (trusted.h): it runs with the server's rights. `about` is who it is about, for the
 * log. */
void mailer_send(struct mailer *m, const char *program, const char *from, char *const to[], size_t n_to,
                 const char *text, const char *about);

#endif
