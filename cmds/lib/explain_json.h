#ifndef EXPLAIN_JSON_H
#define EXPLAIN_JSON_H
/* The answer of pbs_explain(3) as JSON: members of an object that the caller opens and closes. */
#include <stdbool.h>

#include "json_out.h"
#include "pbs_ifl.h"

/* The job's own attributes, then an array for each role of the other entries. Attributes that are not known here are written as they
 * come: a scheduler of an integrator may send more. */
void explain_json(struct json_out *j, const struct batch_status *b);

bool explain_has_role(const struct batch_status *b, const char *role);

#endif
