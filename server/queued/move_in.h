#ifndef MOVE_IN_H
#define MOVE_IN_H
/* A job that comes from another server: whose it is here, whether it has come before, and what is noted of it.
 *
 *   token:HEX -> its identifier here     the same move again finds what became of it
 *   was:ID    -> its identifier here     ID is what it was called at the server that sends it, and what its first server
 *                                        has called it, its origin, which travels along (ext of ARRIVE: "origin=ID")
 *
 * One that comes home, to the server that has made it, is found there by its first name again; what was kept to say
 * where it had gone is forgotten. */
#include <ifl.h>

#include "err.h"
#include "job.h"

struct client;
struct commit;
struct notes;
struct request;
struct site;

enum { ARRIVAL_HOPS_MAX = 10, ARRIVAL_ORIGIN_MAX = 512 };

/* May it come at all? Its owner's name counts only where the site says that names mean the same people. -1:
 * PBSE_IVALREQ, PBSE_BADUSER, PBSE_HOPCOUNT, and what admit_check_open and admit_check_server say. */
int arrival_check(const struct site *s, const ifl_arrive_args *a, struct err *e);

/* Its owner as one who asks here, with a reference; NULL: no memory. */
struct client *arrival_owner(const struct site *s, struct request *r, const ifl_arrive_args *a);

/* The identifier under which this very move has come before, or NULL; borrowed. */
const char *arrival_find(const struct site *s, struct notes *n, const ifl_arrive_args *a);

/* It is here, as `j`. With the same batch as the job. */
void arrival_note(const struct site *s, struct notes *n, struct commit *c, const ifl_arrive_args *a,
                  struct job *j);

/* What its first server calls it: written for ARRIVE, as "origin=ID". */
void arrival_origin(const struct job *j, char out[static ARRIVAL_ORIGIN_MAX]);

#endif
