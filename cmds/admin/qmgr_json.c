/* See qmgr_json.h. */
#include "qmgr_json.h"

#include <string.h>

#include "attrs.h"
#include "pbs_ifl.h"
#include "qmgr_print.h"
#include "status_out.h"

/* As qstat and pbsnodes name theirs. */
static const char *qmgr_json_key(int object)
{
    static const char *const keys[] = {
        [MGR_OBJ_SERVER] = "Server", [MGR_OBJ_QUEUE] = "Queue", [MGR_OBJ_NODE] = "nodes",
        [MGR_OBJ_RSC] = "Resource",  [MGR_OBJ_SCHED] = "Sched", [MGR_OBJ_HOOK] = "Hook",
        [MGR_OBJ_PBS_HOOK] = "Hook"};

    return keys[object];
}

void qmgr_json_begin(struct qmgr_json *j, int c, int object, const char *server)
{
    struct batch_status *s;

    if (j->is_open && strcmp(j->server, server) == 0)
        return;
    qmgr_json_end(j);
    s = pbs_statserver(c, NULL, NULL);
    status_out_json_head(&j->out, stdout, s);
    json_out_open(&j->out, qmgr_json_key(object), '{');
    pbs_statfree(s);
    j->server = server;
    j->is_open = true;
}

/* Type and flags in words, as list has them. */
static void qmgr_json_resource(struct json_out *j, const struct batch_status *o)
{
    char text[QMGR_PRINT_TEXT];

    json_out_open(j, o->name, '{');
    for (const struct attrl *a = o->attribs; a; a = a->next)
        if (*qmgr_print_resource_text(a, text))
            json_out_string(j, a->name, qmgr_print_resource_text(a, text));
    json_out_close(j, '}');
}

void qmgr_json_add(struct qmgr_json *j, int object, const struct batch_status *o)
{
    if (object == MGR_OBJ_RSC)
        qmgr_json_resource(&j->out, o);
    else
        status_out_json(&j->out, o, NULL);
}

void qmgr_json_end(struct qmgr_json *j)
{
    if (!j->is_open)
        return;
    json_out_close(&j->out, '}');
    json_out_end(&j->out);
    j->is_open = false;
}
