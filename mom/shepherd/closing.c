#include "closing.h"

#include <shep.h>

#include "belongings.h"
#include "deliver.h"

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r)
{
    belongings_put_away(path, o);
    deliver_all(o, a, r);
}
