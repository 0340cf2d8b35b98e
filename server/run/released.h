#ifndef RELEASED_H
#define RELEASED_H
/* What a suspended job has given back, where restrict_res_to_release_on_suspend limits it: the attributes
 * resources_released "(n1:ncpus=2)+(n2:ncpus=0)" and resource_released_list. They are the truth while the job is
 * suspended, whatever becomes of the list meanwhile, and over a restart. */
#include "job.h"
#include "strbuf.h"

struct site;

/* The job gives back the resources in this list. No memory: the job is shown without. */
void released_note(const struct site *s, struct job *j, const char *only);
void released_forget(const struct site *s, struct job *j); /* it goes on, or its run is over */

/* Which resources this job had to give back, as a comma list in `out`. NULL: no list limits it. */
const char *released_names(const struct site *s, const struct job *j, struct strbuf *out);

#endif
