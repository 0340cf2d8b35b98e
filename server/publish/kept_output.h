#ifndef KEPT_OUTPUT_H
#define KEPT_OUTPUT_H
/* What people are told of output that could not be brought to its place. */
#include <stdbool.h>

#include "strbuf.h"

/* Of a host's note about files (what mom/shepherd/files/deliver.c writes, in PBS's words) to `out`, for each file that it has kept:
 * "output kept on HOST: PATH (WHY)", "; " between them. false: it has kept none; nothing was added. */
bool kept_output_add(struct strbuf *out, const char *host, const char *note);

#endif
