/* The four commands are this function with another attribute and value. One attribute list serves all calls; an
 * operand that fails gets a message and the next one is done. */
#include "each_queue.h"

#include "attrs.h"
#include "operand.h"
#include "api_error.h"
#include "conn_pool.h"

static int set_one(const struct cmd_args *a, struct conn_pool *s, const char *operand,
                   const struct attrs *attrs)
{
    struct destination d;
    int c;

    if (operand_destination(a, operand, &d) < 0)
        return 1;
    c = conn_pool_connect(s, d.server);
    if (c < 0)
        return pbs_errno;
    if (pbs_manager(c, MGR_CMD_SET, MGR_OBJ_QUEUE, d.queue, attrs->first, NULL) == 0)
        return 0;
    return api_error_report(a, c, operand);
}

int each_queue_set(const struct cmd_args *a, int n, char *operands[], const char *attribute,
                   const char *value)
{
    struct conn_pool *s = conn_pool_create(a);
    struct attrs attrs = {0};
    int i, rc = 0;

    attrs_add(&attrs, attribute, NULL, value, SET);
    for (i = 0; s && i < n; i++) {
        int code = set_one(a, s, operands[i], &attrs);

        rc = code ? code : rc;
    }
    attrs_fini(&attrs);
    conn_pool_destroy(s);
    return s ? rc : 1;
}
