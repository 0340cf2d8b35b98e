#ifndef STATUS_H
#define STATUS_H
/* Objects as their readers see them: entries of status answers, watch entries, history rows.
 *
 * What is shown: attributes that are set or derived (derived_attribs.c), that the reader may read (attr_def), and that
 * are wanted. Entries are encoded straight into wire bytes; a query holds a key of the last object, no pointer,
 * so it survives any change between two calls. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>

#include <ifl.h>

#include "attr_select.h"
#include "attr_walk.h"
#include "derived_attribs.h"
#include "select_criteria.h"
#include "object.h"
#include "rpc_buf.h"
#include "rpc_entries.h"
#include "server_ctx.h"

struct store_reader;
struct rpc_request;
struct status;
struct status_query;

/* `r` reads history; NULL: there is none. NULL: no memory. */
struct status *status_create(struct server_ctx *s, struct store_reader *r);
void status_destroy(struct status *st);

/* ---- queries */
struct status_ask {
    enum attr_of of;          /* OF_JOB ... OF_RESOURCE */
    const char *ids;          /* comma list of names; of jobs also ranges, or one queue; "": all */
    const ifl_wanted *wanted; /* n_wanted 0: every attribute */
    size_t n_wanted;
    /* t subjobs too; T the same, but not their arrays; S of subjobs only those that are or were started; x history
     * too; p of schedulers only what a user has set. A SELECT with t names no arrays. */
    const char *extend;
    struct select_criteria *select_criteria; /* of jobs, taken by the query; or NULL */
    bool names_only;                         /* SELECT: entries without attributes */
    enum level level;                        /* of who asks */
    const char *who; /* user@host: sees only its own jobs when query_other_jobs is False */
};

/* -1 (criteria are then still the caller's):
 *   PBSE_UNKJOBID, PBSE_UNKQUE, PBSE_UNKNODE, PBSE_UNKSCHED, PBSE_UNKRESC   the only name asked is unknown
 *   PBSE_HISTJOBID     the only job asked has ended, and x is not in extend
 *   PBSE_JOBHISTNOTSET x in extend, and no history is kept
 *   PBSE_IVALREQ       ids cannot be read;  PBSE_NOATTR, PBSE_UNKRESC  a wanted attribute */
int status_query_create(struct status *st, const struct status_ask *ask, struct status_query **out,
                        struct err *e);
void status_query_destroy(struct status_query *q);

/* Append the next entry's bytes (an ifl_status_entry) to `out`. 1 one was added; 0 no more; -1 nothing now: history
 * is being read, and ^wake is called when there is more; 2 nothing yet: much was looked at, call again in a later
 * turn. */
int status_query_next(struct status_query *q, struct byte_buf *out);
/* After the last entry: what to put into the tail. Code 0; 1: some names were not found (the text says which);
 * PBSE_*: none was found. */
void status_query_result(const struct status_query *q, struct err *out);

/* Answer a STATUS, SELECT or SELSTAT request with this query, which is taken: head, entries, tail. */
void status_query_reply(struct rpc_request *r, struct status_query *q);

/* ---- parts of it, for watch and history */
/* Append `name` and the wanted attributes (a wire_id and a wire_attrs). -1: no memory, `out` is as before. */
int status_encode(struct status *st, const struct object *o, const struct attr_select *want,
                  const struct attr_reader *reader, struct byte_buf *out);
/* All attributes of a job as the store's history keeps them: {"Job_Name": "x", "Resource_List": {"ncpus": "1"}}.
 * For run/history; -1: no memory. */
int status_history_json(struct status *st, const struct job *j, struct strbuf *out);

/* The set of attributes that a request names; none at all: every one. -1: PBSE_NOATTR, PBSE_UNKRESC. */
int status_want(const struct server_ctx *s, enum attr_of of, const ifl_wanted *wanted, size_t n,
                struct attr_select *out, struct err *e);
/* What this caller is shown; `who` is borrowed as long as it is used. */
struct attr_reader status_reader(const struct server_ctx *s, enum level level, const char *who);
/* May this reader see this job at all? */
bool status_may_see(const struct server_ctx *s, enum level level, const char *who, const char *owner);

#endif
