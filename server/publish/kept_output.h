#ifndef KEPT_OUTPUT_H
#define KEPT_OUTPUT_H
/* What people are told of output that could not be brought to its place. */
#include <stdbool.h>

#include "strbuf.h"

/* Of a host's note about files (what deliver.c and stage.c of mom/shepherd/files write, in PBS's words) to `out`, for each file that could not
 * be copied: "output kept on HOST: PATH (WHY)" where the host put it aside, else "HOST: Unable to copy file FROM to TO (WHY)"; "; " between them.
 * false: the note names no file; nothing was added. */
bool kept_output_add(struct strbuf *out, const char *host, const char *note);

#endif
