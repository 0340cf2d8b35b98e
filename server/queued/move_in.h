#ifndef MOVE_IN_H
#define MOVE_IN_H
/* A job that comes from another server: its owner here, whether it has come before, and the notes about it.
 *
 *   token:HEX -> its identifier here     the same move again finds what became of it
 *   was:ID    -> its identifier here     ID is what it was called at the server that sends it, and what its first server
 *                                        has called it, its origin, which travels along (ext of ARRIVE: "origin=ID")
 *
 * One that comes home, to the server that has made it, is found there by its first name again; what was kept to
 * say where it had gone is forgotten. */
#include <ifl.h>

#include "err.h"
#include "job.h"

struct client;
struct commit;
struct store_notes;
struct request;
struct server_ctx;

/* HOPS: as route queues of one server (HOPS_MAX of route.c); it ends a circle of servers. ORIGIN: an identifier with a server's name. */
enum { MOVE_IN_HOPS_MAX = 10, MOVE_IN_ORIGIN_MAX = 512 };

/* Check that it may come. Its owner's name counts only if the server is configured to trust names of that
 * server. Only for a job that is not here yet: the other server takes any refusal for the end of the move.
 * -1: PBSE_SVRDOWN, PBSE_IVALREQ, PBSE_BADUSER, PBSE_HOPCOUNT, and what commit_check, admit_check_open and admit_check_server
 * say. */
int move_in_check(const struct server_ctx *s, struct commit *c, const ifl_arrive_args *a, struct err *e);

/* Put a script that is longer than what a SUBMIT carries where submit.c looks for it. */
void move_in_take_script(ifl_arrive_args *a);

/* Its owner as a client of this server, with a reference; NULL: no memory. */
struct client *move_in_owner(const struct server_ctx *s, struct request *r, const ifl_arrive_args *a);

/* The identifier under which this very move has come before, or NULL; borrowed. */
const char *move_in_find(const struct server_ctx *s, struct store_notes *n, const ifl_arrive_args *a);

/* It is here, as `j`. With the same batch as the job. */
void move_in_note(const struct server_ctx *s, struct store_notes *n, struct commit *c,
                  const ifl_arrive_args *a, struct job *j);

/* What its first server calls it: written for ARRIVE, as "origin=ID". */
void move_in_origin(const struct job *j, char out[static MOVE_IN_ORIGIN_MAX]);

#endif
