#ifndef SUSPEND_RELEASE_H
#define SUSPEND_RELEASE_H
/* What a suspended job has given back, where restrict_res_to_release_on_suspend limits it, or where its queue has gang
 * and it keeps its memory: the attributes resources_released "(n1:ncpus=2)+(n2:ncpus=0)" and resource_released_list.
 * They are the truth while the job is
 * suspended, whatever becomes of the list meanwhile, and over a restart. */
#include "job.h"
#include "strbuf.h"

struct assign_gift;
struct server_ctx;

/* The job is suspended: note what it gives back, if that is not all. No memory: the job is shown without. */
void suspend_release_note(const struct server_ctx *s, struct job *j);
void suspend_release_forget(const struct server_ctx *s, struct job *j); /* it resumes, or its run is over */

/* What this suspended job had to give back; `gift->only` is in `out`. */
void suspend_release_gift(const struct server_ctx *s, const struct job *j, struct strbuf *out,
                          struct assign_gift *gift);

#endif
