#ifndef VARIABLE_LIST_H
#define VARIABLE_LIST_H
/* The environment that a job brings: its attribute Variable_List, "NAME=value" between commas, read and added to. */
#include <stdbool.h>

#include "err.h"
#include "job.h"

struct strbuf;

/* At the end of the list; commas and backslashes of `value` are escaped. -1: PBSE_BADATVAL too long, PBSE_SYSTEM. */
int variable_list_add(struct job *j, const char *name, const char *value, struct err *e);
/* Append the value, without escapes, to `out`. false: not there, or out has failed. */
bool variable_list_find(const struct job *j, const char *name, struct strbuf *out);
bool variable_list_has(const struct job *j, const char *name);

#endif
