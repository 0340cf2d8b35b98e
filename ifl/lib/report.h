#ifndef REPORT_H
#define REPORT_H
/* How the calls of this thread ended: pbs_errno of the last one, and of the last one on each connection its text and the
 * attributes that were refused.
 *
 * Every thread has its own, made at its first use and freed when it ends. What is borrowed from here lives
 * until the thread's next call on that connection.
 */
#include <ifl.h>

#include "err.h"

/* A call on connection c begins (-1: before there is one): nothing has gone wrong. */
void report_clear(int c);

/* Each makes the report and returns the code. */
int report_set(int c, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int report_err(int c, const struct err *e);    /* errno values become the nearest PBSE_ number */
int report_result(int c, const ifl_result *r); /* what a server answered; 0 too */

void report_set_server(const char *server);

#endif
