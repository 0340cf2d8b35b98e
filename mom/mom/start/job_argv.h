#ifndef JOB_ARGV_H
#define JOB_ARGV_H
/* What an executable job runs: the attributes executable and argument_list, as JSDL elements
 * (<jsdl-hpcpa:Executable>x</...>, <jsdl-hpcpa:Argument>y</...>) or plain text. Pure. */
#include "err.h"
#include "words.h"

/* The argv into `out` (initialised by the caller). `arguments` may be NULL. -1: no memory. */
int job_argv_parse(const char *executable, const char *arguments, struct words *out, struct err *e);

#endif
