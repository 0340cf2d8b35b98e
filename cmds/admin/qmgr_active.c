/* An array of names for each kind of object; `active` replaces it as a whole. The name of a server is in `server`,
 * also where it was typed as a name; `name` is then "". */
#include "qmgr_active.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct qmgr_active *a, int object)
{
    size_t i;

    for (i = 0; i < a->n[object]; i++) {
        free(a->names[object][i].name);
        free(a->names[object][i].server);
    }
    free(a->names[object]);
    a->names[object] = NULL;
    a->n[object] = 0;
}

static int qmgr_active_add(struct qmgr_active *a, int object, const char *name, const char *server)
{
    struct qmgr_name *more = realloc(a->names[object], (a->n[object] + 1) * sizeof *more);
    struct qmgr_name *last;

    if (!more)
        return -1;
    a->names[object] = more;
    last = &more[a->n[object]];
    last->name = strdup(name);
    last->server = strdup(server);
    a->n[object]++;
    return last->name && last->server ? 0 : -1;
}

int qmgr_active_init(struct qmgr_active *a, char *servers[], int n)
{
    int i;

    *a = (struct qmgr_active){0};
    if (!n)
        return qmgr_active_add(a, MGR_OBJ_SERVER, "", "");
    for (i = 0; i < n; i++)
        if (qmgr_active_add(a, MGR_OBJ_SERVER, "", servers[i]) < 0)
            return -1;
    return 0;
}

void qmgr_active_fini(struct qmgr_active *a)
{
    int object;

    for (object = 0; object < MGR_OBJ_LAST; object++)
        clear(a, object);
}

int qmgr_active_set(struct qmgr_active *a, const struct qmgr_line *l)
{
    size_t i;

    clear(a, l->object);
    for (i = 0; i < l->n; i++) {
        const struct qmgr_name *n = &l->names[i];
        int rc = l->object == MGR_OBJ_SERVER
                     ? qmgr_active_add(a, l->object, "", *n->name ? n->name : n->server)
                     : qmgr_active_add(a, l->object, n->name, n->server);

        if (rc < 0)
            return -1;
    }
    return 0;
}

static void show_kind(FILE *f, const struct qmgr_active *a, int object, const char *title)
{
    size_t i;

    fprintf(f, "%s:\n", title);
    for (i = 0; i < a->n[object]; i++) {
        const struct qmgr_name *n = &a->names[object][i];

        if (object == MGR_OBJ_SERVER)
            fprintf(f, "%s\n", *n->server ? n->server : pbs_default() ? pbs_default() : "");
        else
            fprintf(f, "%s@%s\n", n->name, *n->server ? n->server : "default");
    }
}

void qmgr_active_show(FILE *f, const struct qmgr_active *a, int object)
{
    static const struct {
        int object;
        const char *title;
    } kinds[] = {{MGR_OBJ_SERVER, "Active servers"},
                 {MGR_OBJ_QUEUE, "Active queues"},
                 {MGR_OBJ_NODE, "Active nodes"},
                 {MGR_OBJ_SCHED, "Active schedulers"}};
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (object == kinds[i].object || object == MGR_OBJ_NONE)
            show_kind(f, a, kinds[i].object, kinds[i].title);
}
