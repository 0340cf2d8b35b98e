#ifndef WEB_MEMBERS_H
#define WEB_MEMBERS_H
/* An object of PBS as members of a JSON object. */
#include <stdbool.h>

#include "json_out.h"
#include "pbs_ifl.h"

/* Write id, attributes and times of an object into a JSON object that is open. */
void web_members_put(struct json_out *j, const struct batch_status *o, bool is_node);

#endif
