#ifndef PLACEMENT_H
#define PLACEMENT_H
/* Where a job goes: all its chunks onto vnodes.
 *
 * The job's place decides: free, pack, scatter or vscatter, and excl, exclhost or shared. A chunk may be split over vnodes of
 * one host. Vnodes are filled in the order of their ranks.
 */
#include "buckets.h"
#include "match.h"
#include "trial.h"

struct decisions;
struct placer;

struct placer *placement_create(struct cluster *cl, struct buckets *b, struct trial *t);
void placement_destroy(struct placer *p);

/* Log each search from now on there (search_log.h); NULL: nowhere. Borrowed. */
void placement_set_log(struct placer *p, struct decisions *log);
struct decisions *placement_log(const struct placer *p);

/* Find room now for all chunks of a->request. true: `out` (empty before, the caller's) has the parts in
 * chunk order, and the trial has them taken. false: the trial is as before; `out` is empty. O(buckets) a
 * chunk, plus the nodes used.
 *
 * Amounts of split chunks belong to the placer, until placement_forget; those of whole ones to the request. */
bool placement_find(struct placer *p, const struct asker *a, struct allocation *out);

/* Memory of split chunks may go: no trial step that this placer made is left. */
void placement_forget(struct placer *p);

/* "(n1:ncpus=2:mem=1024kb)+(n2:ncpus=1)"; the caller frees. */
char *placement_text(const struct cluster *cl, const struct allocation *p);

#endif
