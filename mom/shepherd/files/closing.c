/* The order matters. Files are staged out first, while everything is there; what was brought in goes next;
 * the private directory goes only when all of it has been copied. Output is delivered last. Each step
 * may have been done already by a shepherd that died in the middle. */
#include "closing.h"

#include <shep.h>

#include "job_dirs.h"
#include "copies.h"
#include "deliver.h"
#include "stage.h"

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r)
{
    struct copies all;

    copies_init(&all);
    stage_out(o, &a->out, &all);
    stage_remove(o, &a->brought);
    if (!all.failed && !a->keep_jobdir)
        stage_remove_jobdir(o);
    job_dirs_put_away(path, o);
    deliver_all(o, a, &all);
    copies_result(&all, r);
}
