/* Rows of text as the list of attributes that the stream of changes would bring. It knows no attribute: what a row
 * means, and whether it is understood, is cluster_change's to say. */

#include "cluster_rows.h"

#include <assert.h>

#include "pbs_ifl.h"
#include "cluster_change.h"

void cluster_rows(struct cluster *cl, enum cluster_kind kind, const char *name, const char *const rows[][3])
{
    struct attrl a[CLUSTER_ROWS_MAX] = {{0}};

    for (size_t n = 0; rows[n][0]; n++) {
        assert(n < CLUSTER_ROWS_MAX);
        a[n] = (struct attrl){.name = (char *)(uintptr_t)rows[n][0],
                              .resource = (char *)(uintptr_t)rows[n][1],
                              .value = (char *)(uintptr_t)rows[n][2]};
        if (n > 0)
            a[n - 1].next = &a[n];
    }
    cluster_change(cl, kind, name, a);
}
