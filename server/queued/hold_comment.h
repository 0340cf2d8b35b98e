#ifndef HOLD_COMMENT_H
#define HOLD_COMMENT_H
/* The comment of a held job: "Job held by anna on Tue Mar  3 10:15:02 2026", as long as a user holds it. */
#include <stdbool.h>

struct job;
struct server_ctx;

/* Holds were set (or released) by `who`, "anna" or "anna@host". What a scheduler says of the job comes later. Of a
 * job that runs it is said too: it is there when the job comes back, by a checkpoint or otherwise, and waits because of the hold. */
void hold_comment(struct server_ctx *s, struct job *j, const char *who, bool set);

#endif
