#ifndef CALL_H
#define CALL_H
/* One IFL request: send the arguments, receive the result, store the outcome in this thread's report.
 *
 * Every result begins with an ifl_result, and so may be handled as one. A result is zeroed by the caller and
 * freed with xdr_free in every case. Functions that return int: 0, a PBSE_ number (or 1: done in part), with
 * pbs_errno and the text set; those that return a ticket: > 0, or -1.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ifl.h>

#include "connection.h"
#include "replaceable.h"
#include "rpc_sync.h"

int call_do(int c, uint32_t proc, xdrproc_t xargs, const void *args, xdrproc_t xres, void *result);

int call_send(int c, uint32_t proc, xdrproc_t xargs, const void *args, xdrproc_t xres);
int call_recv(int c, int ticket, xdrproc_t xres, void *result);

/* The answer is a bare ifl_result. */
int call_simple(int c, uint32_t proc, xdrproc_t xargs, const void *args);
int call_simple_send(int c, uint32_t proc, xdrproc_t xargs, const void *args);

/* Report a call that this library does not support: PBSE_NOSUP and a text that names it. */
int call_unsupported(int c, const char *what);

/* --- arguments: borrow the caller's text for the call; "" for NULL */
char *call_text(const char *text);

/* -1, reported with the bound: the text is longer than any value may be. NULL: no text. `what` names the value in the
 * text. */
int call_check_value(int c, const char *what, const char *text);

/* A list as wire_attrops, whose array the caller frees. -1 reported: too many, a value too long, no memory. */
int call_attrops(int c, const struct attropl *list, wire_attrops *out);

/* The list of attributes wanted. The array is freed by the caller. */
struct call_wanted {
    u_int n;
    ifl_wanted *list;
};
int call_wanted(int c, const struct attrl *list, struct call_wanted *out);

#endif
