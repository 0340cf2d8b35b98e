/* Requests of administrators.
 *
 * One request makes, removes and changes all kinds of objects; the server checks it. The resource calls exist so that
 * old programs link. */
#include <stdlib.h>

#include "call.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

static int manager(int (*how)(int, uint32_t, xdrproc_t, const void *), int c, ifl_manager_args *a,
                   const struct attropl *attrib)
{
    int rc;

    report_clear(c);
    if (call_attrops(c, attrib, &a->attrs) < 0)
        return how == call_simple ? pbs_errno : -1;
    rc = how(c, IFL_MANAGER, (xdrproc_t)xdr_ifl_manager_args, a);
    free(a->attrs.wire_attrops_val);
    return rc;
}

int pbs_manager(int c, int command, int objtype, const char *objname, struct attropl *attrib,
                const char *extend)
{
    ifl_manager_args a = {
        .command = command,
        .objtype = objtype,
        .objname = call_text(objname),
        .extend = call_text(extend),
    };

    return manager(call_simple, c, &a, attrib);
}

int pbs_manager_send(int c, int command, int objtype, const char *objname, struct attropl *attrib,
                     const char *extend)
{
    ifl_manager_args a = {
        .command = command,
        .objtype = objtype,
        .objname = call_text(objname),
        .extend = call_text(extend),
    };

    return manager(call_simple_send, c, &a, attrib);
}

int pbs_terminate(int c, int manner, const char *extend)
{
    ifl_shutdown_args a = {.manner = manner, .extend = call_text(extend)};

    return call_simple(c, IFL_SHUTDOWN, (xdrproc_t)xdr_ifl_shutdown_args, &a);
}

/* --- the old resource calls, which PBS documents as obsolete */
int pbs_rescquery(int c, char **list, int n, int *avail, int *alloc, int *resv, int *down)
{
    (void)list, (void)n, (void)avail, (void)alloc, (void)resv, (void)down;
    return call_unsupported(c, "pbs_rescquery");
}

int pbs_rescreserve(int c, char **list, int n, pbs_resource_t *id)
{
    (void)list, (void)n, (void)id;
    return call_unsupported(c, "pbs_rescreserve");
}

int pbs_rescrelease(int c, pbs_resource_t id)
{
    return call_unsupported(c, "pbs_rescrelease");
}
