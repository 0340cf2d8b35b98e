#ifndef SELECT_CRITERIA_H
#define SELECT_CRITERIA_H
/* The filters of qselect: compiled once from what the request says, then asked of each job.
 *
 * Every criterion must hold. Attribute and operator are those of pbs_selectjob: EQ NE GE GT LE LT, of values in
 * the attribute's own type (so 1gb = 1024mb). Some attributes mean more than their text:
 *   job_state      any of the letters; S is a suspended job, R one that runs
 *   Hold_Types     the letters as a set; n is not a hold
 *   User_List      a comma list of user[@host], any of which owns the job (NE: none of which)
 *   destination    queue, @server, queue@server: where the job is now; also under the name queue
 *   Resource_List  name.resource; a resource that the job has not matches only NE
 *   times          numbers of seconds; eligible_time and estimated.start_time too
 * Loop thread only.
 */
#include <jansson.h>
#include <stdbool.h>

#include <ifl.h>

#include "derived_attribs.h"
#include "err.h"
#include "job.h"
#include "resource.h"

struct select_criteria;

/* -1: PBSE_NOATTR, PBSE_UNKRESC, PBSE_UNKQUE, PBSE_BADATVAL (the value is not of the type), PBSE_IVALREQ (the operator, or too many).
 * *at is the index of the criterion in error; it may be NULL. No criteria at all match every job. */
int select_criteria_create(const struct server_ctx *s, const wire_attrop *list, size_t n,
                           struct select_criteria **out, size_t *at, struct err *e);
/* Each is asked of every job; qselect has some twenty options, and -l names a resource each time. More: PBSE_IVALREQ. */
enum { SELECT_CRITERIA_MAX = 256 };
size_t select_criteria_count(const struct select_criteria *c);
void select_criteria_destroy(struct select_criteria *c);

bool select_criteria_match(const struct select_criteria *c, struct derived_attribs *cp, const struct job *j);
/* The same for a finished job out of the store: its attributes as history has them (texts). */
bool select_criteria_match_history(const struct select_criteria *c, const json_t *attrs);

#endif
