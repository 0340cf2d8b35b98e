/* The rows of the definition tables that qmgr needs. See qmgr_attrs.h.
 *
 * The tables are read as data only: a command links nothing of the types' code. */
#include "qmgr_attrs.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "level.h"
#include "pbs_ifl.h"

enum {
    AF_CREATE = 1,
    AF_SERVER = 0,
    AF_RUN = 0,
    AF_HIDDEN = 2,
    AF_SHOWN = 0,
    AF_FIXED = 0,
    AF_DERIVED = 4,
    AF_EXEC = 0,
    AF_ROUTING = 0,
    AF_INDIRECT = 0,
    AF_UNUSED = 0,
    AF_ASKED = 0,
    AF_HOST = 0
};

enum type {
#define TYPE(id, type) TYPE_##id,
#include "attr_type.def"
#undef TYPE
};

struct qmgr_attrs_row {
    const char *name;
    enum type type;
    enum level write;
    unsigned flags;
};

#define ATTR(name, type, read, write, flags, ...) {#name, TYPE_##type, LEVEL_##write, flags},
static const struct qmgr_attrs_row server_rows[] = {
#include "attr_server.def"
};
static const struct qmgr_attrs_row queue_rows[] = {
#include "attr_queue.def"
};
static const struct qmgr_attrs_row node_rows[] = {
#include "attr_node.def"
};
static const struct qmgr_attrs_row sched_rows[] = {
#include "attr_sched.def"
};
static const struct qmgr_attrs_row resource_rows[] = {
#include "attr_resource.def"
};
static const struct qmgr_attrs_row hook_rows[] = {
#include "attr_hook.def"
};
#undef ATTR

#define RESOURCE(name, ...) #name,
static const char *const builtin[] = {
#include "resource.def"
};
#undef RESOURCE

#define ROWS(rows)                                                                                           \
    {                                                                                                        \
        rows, sizeof rows / sizeof rows[0]                                                                   \
    }

static const struct qmgr_attrs_row *qmgr_attrs_find(int object, const char *name)
{
    static const struct {
        const struct qmgr_attrs_row *rows;
        size_t n;
    } tables[MGR_OBJ_LAST] = {
        [MGR_OBJ_SERVER] = ROWS(server_rows), [MGR_OBJ_QUEUE] = ROWS(queue_rows),
        [MGR_OBJ_NODE] = ROWS(node_rows),     [MGR_OBJ_SCHED] = ROWS(sched_rows),
        [MGR_OBJ_RSC] = ROWS(resource_rows),  [MGR_OBJ_HOOK] = ROWS(hook_rows),
        [MGR_OBJ_PBS_HOOK] = ROWS(hook_rows),
    };
    size_t i;

    if (object < 0 || object >= MGR_OBJ_LAST)
        return NULL;
    for (i = 0; i < tables[object].n; i++)
        if (!strcasecmp(tables[object].rows[i].name, name))
            return &tables[object].rows[i];
    return NULL;
}

bool qmgr_attrs_is_attribute(int object, const char *name)
{
    return qmgr_attrs_find(object, name) != NULL;
}

bool qmgr_attrs_is_settable(int object, const char *name)
{
    const struct qmgr_attrs_row *r = qmgr_attrs_find(object, name);

    return r && r->write <= LEVEL_MANAGER && !(r->flags & (AF_HIDDEN | AF_DERIVED));
}

bool qmgr_attrs_is_list(int object, const char *name)
{
    const struct qmgr_attrs_row *r = qmgr_attrs_find(object, name);

    return r && (r->type == TYPE_STRING_ARRAY || r->type == TYPE_ACL || r->type == TYPE_LIMIT ||
                 r->type == TYPE_RESOURCE_LIMITS);
}

bool qmgr_attrs_is_builtin(const char *resource)
{
    size_t i;

    for (i = 0; i < sizeof builtin / sizeof builtin[0]; i++)
        if (!strcmp(builtin[i], resource))
            return true;
    return false;
}
