#include "closing.h"

#include <fcntl.h>
#include <unistd.h>

#include <shep.h>

#include "deliver.h"
#include "file.h"

void closing_do(const struct shep_order *o, const struct shep_close_args *a, struct shep_close_result *r)
{
    if (o->tmpdir[0])
        file_remove_tree(AT_FDCWD, o->tmpdir, NULL);
    if (o->nodefile[0])
        unlink(o->nodefile);
    deliver_all(o, a, r);
}
