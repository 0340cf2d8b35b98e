#ifndef ACCT_FIELDS_H
#define ACCT_FIELDS_H
/* The fields of accounting records, in the order of the PBS fact sheet (accounting). Pure. */
#include "derived_attribs.h"
#include "job.h"
#include "server_ctx.h"
#include "strbuf.h"

/* Each adds "key=value" pairs, blank-separated. -1: the buffer has failed. */
int acct_fields_queued(struct strbuf *out, const struct server_ctx *s,
                       const struct job *j); /* Q: job set, depend */
int acct_fields_started(struct strbuf *out, const struct server_ctx *s,
                        const struct job *j); /* S: and resource_assigned */
int acct_fields_ended(struct strbuf *out, const struct server_ctx *s, struct derived_attribs *c,
                      const struct job *j, int status); /* E, R; `status`: Exit_status of this record */
/* u, e: what the job had in this phase of its run, and used in it; c: what it has in the next. */
int acct_fields_phase_over(struct strbuf *out, const struct server_ctx *s, const struct job *j);
int acct_fields_phase_begun(struct strbuf *out, const struct server_ctx *s, const struct job *j);
int acct_fields_used(struct strbuf *out, const struct server_ctx *s, struct derived_attribs *c,
                     const struct job *j); /* z: resources_used.* */
/* One pair, the value quoted if it holds blanks. */
int acct_fields_add(struct strbuf *out, const char *key, const char *value);

#endif
