/* Each kind of object has its own call, so qmgr_apply_fetch is the one switch over kinds. A name that is "" means
 * all: for list and print one call fetches them; for changes each object found is changed by a call of its own, and
 * the last error is the result. Schedulers cannot be asked for by name; the answer is searched. */
#include "qmgr_apply.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "preempt_attribs.h"
#include "preempt_policy_show.h"
#include "attrs.h"
#include "qmgr_attrs.h"
#include "qmgr_hook.h"
#include "qmgr_json.h"
#include "qmgr_print.h"

/* Report an error of the call, with object and server as messages show them. */
static int qmgr_apply_report(const struct qmgr_apply *q, int c, int object, const char *name,
                             const char *server)
{
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;
    const char *text = pbs_geterrmsg(c);
    const struct ecl_attribute_errors *wrong = pbs_get_attributes_in_error(c); /* the first has said `text` */

    if (q->silent)
        return code;
    if (text && *text)
        fprintf(stderr, "qmgr obj=%s svr=%s: %s\n", name, *server ? server : "default", text);
    for (int i = 1; wrong && i < wrong->ecl_numerrors; i++)
        fprintf(stderr, "qmgr obj=%s svr=%s: %s\n", name, *server ? server : "default",
                wrong->ecl_attrerr[i].ecl_errmsg);
    if (code != PBSE_PROTOCOL && (object == MGR_OBJ_HOOK || object == MGR_OBJ_PBS_HOOK))
        fprintf(stderr, "qmgr: hook error returned from server\n");
    else if (code == PBSE_PROTOCOL)
        fprintf(stderr, "qmgr: Protocol error, server disconnected\n");
    else
        fprintf(stderr, "qmgr: Error (%d) returned from server\n", code);
    return code;
}

struct batch_status *qmgr_apply_fetch(int c, int object, const char *name, struct attrl *wants)
{
    const char *what = *name ? name : NULL;

    switch (object) {
    case MGR_OBJ_SERVER:
        return pbs_statserver(c, wants, NULL);
    case MGR_OBJ_QUEUE:
        return pbs_statque(c, what, wants, NULL);
    case MGR_OBJ_NODE:
        return pbs_statvnode(c, what, wants, NULL);
    case MGR_OBJ_SCHED:
        return pbs_statsched(c, wants, "p");
    case MGR_OBJ_RSC:
        return pbs_statrsc(c, what, wants, NULL);
    case MGR_OBJ_HOOK:
        return pbs_stathook(c, what, wants, SITE_HOOK);
    case MGR_OBJ_PBS_HOOK:
        return pbs_stathook(c, what, wants, PBS_HOOK);
    }
    pbs_errno = PBSE_NOSUP;
    return NULL;
}

static bool qmgr_apply_is_named(int object, const char *name, const struct batch_status *o)
{
    return object == MGR_OBJ_SERVER || !*name || !strcmp(o->name, name);
}

static const struct {
    int object, code;
    const char *text;
} missing_rows[] = {{MGR_OBJ_QUEUE, PBSE_UNKQUE, "Queue does not exist"},
                    {MGR_OBJ_NODE, PBSE_UNKNODE, "Node does not exist"},
                    {MGR_OBJ_SCHED, PBSE_UNKSCHED, "Unknown Scheduler"},
                    {MGR_OBJ_RSC, PBSE_UNKRESC, "Unknown resource"},
                    {MGR_OBJ_HOOK, PBSE_IVALREQ, "Hook does not exist"}};

enum { N_MISSING = sizeof missing_rows / sizeof missing_rows[0] };

int qmgr_apply_exists(const struct qmgr_apply *q, int object, const char *name, const char *server)
{
    int c = conn_pool_connect(q->pool, server);
    struct batch_status *found;
    size_t i = 0;

    if (c < 0)
        return pbs_errno;
    pbs_errno = 0;
    found = qmgr_apply_fetch(c, object, name, NULL);
    pbs_statfree(found);
    if (found)
        return 0;
    while (i < N_MISSING && missing_rows[i].object != object)
        i++;
    if (i == N_MISSING || (pbs_errno && pbs_errno != missing_rows[i].code))
        return qmgr_apply_report(q, c, object, name, server);
    if (!q->silent)
        fprintf(stderr, "%s: %s.\n", missing_rows[i].text, name);
    return missing_rows[i].code;
}

struct batch_status *qmgr_apply_reservations(int c)
{
    struct attrl want = {.name = (char *)"queue", .value = (char *)""};

    return pbs_statresv(c, NULL, &want, NULL);
}

bool qmgr_apply_is_reserved(const struct batch_status *resvs, const struct batch_status *queue)
{
    for (; resvs; resvs = resvs->next) {
        const char *its = attrs_value(resvs->attribs, "queue", NULL);

        if (its && !strcmp(its, queue->name))
            return true;
    }
    return false;
}

/* A server reports no error for an unknown scheduler, because it is asked for all. */
static int qmgr_apply_missing(const struct qmgr_apply *q, int object, const char *name, const char *server)
{
    size_t i;

    for (i = 0; i < N_MISSING; i++)
        if (missing_rows[i].object == object) {
            if (!q->silent)
                fprintf(stderr, "qmgr obj=%s svr=%s: %s: %s.\nqmgr: Error (%d) returned from server\n", name,
                        *server ? server : "default", missing_rows[i].text, name, missing_rows[i].code);
            return missing_rows[i].code;
        }
    return PBSE_IVALREQ;
}

/* Built-in resources cannot be created, so they are not printed. */
static bool has_custom(int object, const struct batch_status *o)
{
    for (; o; o = o->next)
        if (object != MGR_OBJ_RSC || !qmgr_attrs_is_builtin(o->name))
            return true;
    return false;
}

/* Return true if the command is about this object. Without a name only custom resources are shown (PBS). */
static bool qmgr_apply_shows(int object, const char *name, const struct batch_status *o,
                             struct batch_status *resvs)
{
    if (object == MGR_OBJ_RSC && !*name && qmgr_attrs_is_builtin(o->name))
        return false;
    return qmgr_apply_is_named(object, name, o) && !qmgr_apply_is_reserved(resvs, o);
}

static void qmgr_apply_print(int c, int object, const struct batch_status *o)
{
    qmgr_print_object(stdout, object, o);
    if (object == MGR_OBJ_HOOK || object == MGR_OBJ_PBS_HOOK)
        qmgr_hook_print(stdout, c, object, o->name);
}

static void qmgr_apply_show_one(const struct qmgr_apply *q, int c, int verb, int object,
                                const struct batch_status *o)
{
    if (verb == MGR_CMD_PRINT)
        qmgr_apply_print(c, object, o);
    else if (q->json->wanted)
        qmgr_json_add(q->json, object, o);
    else
        qmgr_print_list(stdout, object, o);
}

/* What comes before the first object: a heading of `print`, or the head of the JSON. In JSON a name that is not there has none. */
static void qmgr_apply_show_begin(const struct qmgr_apply *q, int c, int verb, int object, const char *name,
                                  const char *server, const struct batch_status *list)
{
    if (verb == MGR_CMD_PRINT && has_custom(object, list))
        qmgr_print_begin(stdout, object);
    if (verb != MGR_CMD_PRINT && q->json->wanted && (list || !*name))
        qmgr_json_begin(q->json, c, object, server);
}

/* As they are listed: scheduler objects with what their scheduler has said of itself, which `print` would not make again. */
static struct batch_status *qmgr_apply_show_fetch(int c, int verb, int object, const struct attrs *wants,
                                                  const char *name)
{
    pbs_errno = 0;
    if (verb == MGR_CMD_LIST && object == MGR_OBJ_SCHED)
        return pbs_statsched(c, attrs_attrl(wants), NULL);
    return qmgr_apply_fetch(c, object, name, attrs_attrl(wants));
}

static int qmgr_apply_show(const struct qmgr_apply *q, int c, int verb, int object, const struct attrs *wants,
                           const char *name, const char *server)
{
    struct batch_status *list = qmgr_apply_show_fetch(c, verb, object, wants, name), *o, *resvs = NULL;
    size_t shown = 0;

    if (!list && pbs_errno)
        return qmgr_apply_report(q, c, object, name, server);
    if (verb == MGR_CMD_PRINT && object == MGR_OBJ_QUEUE && !*name)
        resvs = qmgr_apply_reservations(c);
    qmgr_apply_show_begin(q, c, verb, object, name, server, list);
    for (o = list; o; o = o->next) {
        if (!qmgr_apply_shows(object, name, o, resvs))
            continue;
        shown++;
        qmgr_apply_show_one(q, c, verb, object, o);
    }
    pbs_statfree(resvs);
    pbs_statfree(list);
    return shown || !*name ? 0 : qmgr_apply_missing(q, object, name, server);
}

/* "print server" prints custom resources, queues and the server. */
static int print_all(const struct qmgr_apply *q, int c, const char *server)
{
    static const int kinds[] = {MGR_OBJ_RSC, MGR_OBJ_QUEUE, MGR_OBJ_SERVER};
    const struct attrs all = {0};
    size_t i;
    int rc = 0;

    for (i = 0; i < sizeof kinds / sizeof kinds[0] && rc == 0; i++)
        rc = qmgr_apply_show(q, c, MGR_CMD_PRINT, kinds[i], &all, "", server);
    return rc;
}

/* What may make an express queue of one that every user may use, or open one that was closed to most. */
static bool may_open_express(const struct qmgr_line *l)
{
    static const struct {
        int object;
        const char *attr;
    } rows[] = {{MGR_OBJ_QUEUE, ATTR_p},        {MGR_OBJ_QUEUE, ATTR_acluren},
                {MGR_OBJ_QUEUE, ATTR_acluser},  {MGR_OBJ_QUEUE, ATTR_aclgren},
                {MGR_OBJ_QUEUE, ATTR_aclgroup}, {MGR_OBJ_QUEUE, ATTR_fromroute},
                {MGR_OBJ_QUEUE, ATTR_qtype},    {MGR_OBJ_QUEUE, ATTR_enable},
                {MGR_OBJ_QUEUE, "partition"},   {MGR_OBJ_SCHED, "preempt_queue_prio"},
                {MGR_OBJ_SCHED, "partition"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (l->object == rows[i].object && attrs_find(&l->attrs, rows[i].attr, NULL))
            return true;
    return false;
}

/* Warn where it was opened: with it comes the right to preempt. name "": all queues. */
static void warn_of_open_express(int c, const char *name)
{
    struct batch_status *queues = pbs_statque(c, name, NULL, NULL);
    struct batch_status *scheds = queues ? pbs_statsched(c, NULL, NULL) : NULL;

    for (const struct batch_status *queue = queues; queue; queue = queue->next) {
        const struct batch_status *sched = scheds ? preempt_policy_show_sched_of(scheds, queue) : NULL;

        if (sched && preempt_attribs_is_open_express(queue, sched))
            fprintf(
                stderr,
                "qmgr: warning: queue %s is an express queue and takes jobs of every user: each of them may preempt\n"
                "      others. To restrict it: set queue %s acl_user_enable=True,acl_users=...\n",
                queue->name, queue->name);
    }
    pbs_statfree(queues);
    pbs_statfree(scheds);
}

/* Contents travel as files. */
static int transfer(const struct qmgr_apply *q, int c, const struct qmgr_line *l, const char *name,
                    const char *server)
{
    const char *why;

    if (qmgr_hook_transfer(c, l, name, &why) == 0)
        return 0;
    if (!why)
        return qmgr_apply_report(q, c, l->object, name, server);
    if (!q->silent)
        fprintf(stderr, "qmgr: %s\n", why);
    return PBSE_SYSTEM;
}

static bool qmgr_apply_disables(const struct qmgr_line *l)
{
    const char *value = attrs_find(&l->attrs, "enabled", NULL);

    return l->command == MGR_CMD_SET && value && *value && strchr("fFnN0", *value);
}

static int manage_one(const struct qmgr_apply *q, int c, const struct qmgr_line *l, const char *name,
                      const char *server)
{
    const char *extend = l->object == MGR_OBJ_HOOK       ? SITE_HOOK
                         : l->object == MGR_OBJ_PBS_HOOK ? PBS_HOOK
                                                         : NULL;

    if (l->command == MGR_CMD_IMPORT || l->command == MGR_CMD_EXPORT)
        return transfer(q, c, l, name, server);
    if (pbs_manager(c, l->command, l->object, name, l->attrs.first, extend) == 0) {
        if (may_open_express(l) && !q->silent)
            warn_of_open_express(c, l->object == MGR_OBJ_QUEUE ? name : "");
        if (l->object == MGR_OBJ_PBS_HOOK && qmgr_apply_disables(l) && !q->silent)
            fprintf(stderr, "WARNING: Disabling a PBS hook results in an unsupported configuration!\n");
        return 0;
    }
    return qmgr_apply_report(q, c, l->object, name, server);
}

/* "@default" is every object that the server has. */
static int manage_all(const struct qmgr_apply *q, int c, const struct qmgr_line *l, const char *server)
{
    struct attrs wants = {0};
    struct batch_status *list, *o;
    int rc = 0, code;

    attrs_add(&wants, l->object == MGR_OBJ_NODE ? ATTR_NODE_state : ATTR_comment, NULL, "", SET);
    pbs_errno = 0;
    list = qmgr_apply_fetch(c, l->object, "", attrs_attrl(&wants));
    attrs_fini(&wants);
    if (!list && pbs_errno)
        return qmgr_apply_report(q, c, l->object, "", server);
    for (o = list; o; o = o->next) {
        code = manage_one(q, c, l, o->name, server);
        rc = code ? code : rc;
    }
    pbs_statfree(list);
    return rc;
}

int qmgr_apply(const struct qmgr_apply *q, const struct qmgr_line *l, const char *name, const char *server)
{
    int c = conn_pool_connect(q->pool, server);

    if (c < 0)
        return pbs_errno;
    if (l->command == MGR_CMD_PRINT && l->object == MGR_OBJ_SERVER && !l->attrs.first)
        return print_all(q, c, server);
    if (l->command == MGR_CMD_LIST || l->command == MGR_CMD_PRINT)
        return qmgr_apply_show(q, c, l->command, l->object, &l->attrs, name, server);
    if (!*name && l->object != MGR_OBJ_SERVER)
        return manage_all(q, c, l, server);
    return manage_one(q, c, l, l->object == MGR_OBJ_SERVER ? "" : name, server);
}

void qmgr_apply_names(const struct qmgr_apply *q, int object, const char *server,
                      void (*found)(void *to, const char *name), void *to)
{
    int c = conn_pool_connect(q->pool, server);
    struct batch_status *list = c < 0 ? NULL : qmgr_apply_fetch(c, object, "", NULL);

    for (const struct batch_status *o = list; o; o = o->next)
        found(to, o->name);
    pbs_statfree(list);
}
