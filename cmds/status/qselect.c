/* qselect: print the identifiers of the jobs that match. The server applies the criteria; here options become a list
 * of (attribute, operator, value), with dates as seconds. -H is -x with the states of ended jobs, unless -s gives
 * states. */
#include <time.h>

#include "attrs.h"
#include "cmd.h"
#include "date_text.h"
#include "json_out.h"
#include "operand.h"
#include "job_options.h"
#include "pbs_error.h"
#include "qselect_criteria.h"
#include "api_error.h"
#include "conn_pool.h"
#include "term_out.h"

struct qselect {
    struct cmd_args a;
    struct attrs criteria;
    struct destination destination;
    const char *asked; /* -q as it was given */
    bool finished, history, subjobs, json;
};

static int add_date(struct qselect *q, const struct option_row *row, const char *name, const char *resource,
                    const char *text)
{
    const char *value;
    enum batch_op op = qselect_criteria_op(text, &value);
    char seconds[24];
    int64_t t;

    if (date_text_parse(value, (int64_t)time(NULL), &t) < 0)
        return cmd_bad_value(&q->a, row);
    snprintf(seconds, sizeof seconds, "%lld", (long long)t);
    attrs_add(&q->criteria, name, resource, seconds, op);
    return 0;
}

static int qselect_take_a(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    return add_date(settings, row, ATTR_a, NULL, value);
}

/* -t: a letter for the time that is meant, then [op]value. eligible_time is a duration, not a date. */
static int qselect_take_t(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    static const struct {
        char letter;
        const char *name, *resource;
    } times[] = {{'a', ATTR_a, NULL},
                 {'c', ATTR_ctime, NULL},
                 {'e', ATTR_etime, NULL},
                 {'m', ATTR_mtime, NULL},
                 {'q', ATTR_qtime, NULL},
                 {'s', ATTR_stime, NULL},
                 {'t', ATTR_estimated, "start_time"}};
    struct qselect *q = settings;
    const char *text;
    size_t i;

    if (*value == 'g') {
        enum batch_op op = qselect_criteria_op(value + 1, &text);

        attrs_add(&q->criteria, ATTR_eligible_time, NULL, text, op);
        return *text ? 0 : cmd_bad_value(&q->a, row);
    }
    for (i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i].letter == *value)
            return add_date(q, row, times[i].name, times[i].resource, value + 1);
    return cmd_bad_value(&q->a, row);
}

static int qselect_one_resource(void *context, const char *name, enum batch_op op, const char *value)
{
    attrs_add(context, ATTR_l, name, value, op);
    return 0;
}

static int qselect_take_l(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qselect *q = settings;

    return qselect_criteria_resources(value, qselect_one_resource, &q->criteria) ? cmd_bad_value(&q->a, row)
                                                                                 : 0;
}

static bool qselect_is_states(const char *v)
{
    return *v && !v[strspn(v, "BEFHMQRSTUWX")];
}

static bool qselect_is_yes_no(const char *v)
{
    return !strcmp(v, "y") || !strcmp(v, "n");
}

static bool qselect_is_checkpoint(const char *v)
{
    return !strcmp(v, CHECKPOINT_UNSPECIFIED) || job_options_is_good('c', v);
}

static bool qselect_is_hold_types(const char *v)
{
    return job_options_is_good('h', v);
}

static bool qselect_is_priority(const char *v)
{
    return job_options_is_good('p', v);
}

static bool qselect_is_job_name(const char *v)
{
    return job_options_is_good('N', v);
}

static bool qselect_is_any(const char *v)
{
    return *v != '\0';
}

/* Options that are one attribute: its name, and whether an operator may come before the value. */
static const struct qselect_spec {
    char letter;
    const char *attribute;
    bool with_op;
    bool (*is_good)(const char *value);
} specs[] = {
    {'A', ATTR_A, false, qselect_is_any},        {'c', ATTR_c, true, qselect_is_checkpoint},
    {'h', ATTR_h, false, qselect_is_hold_types}, {'N', ATTR_N, false, qselect_is_job_name},
    {'p', ATTR_p, true, qselect_is_priority},    {'P', ATTR_project, false, qselect_is_any},
    {'r', ATTR_r, false, qselect_is_yes_no},     {'s', ATTR_state, false, qselect_is_states},
    {'u', ATTR_u, false, qselect_is_any},
};

static int qselect_take_one(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qselect *q = settings;
    const struct qselect_spec *s = specs;
    enum batch_op op = EQ;

    while (s->letter != row->letter)
        s++;
    if (s->with_op)
        op = qselect_criteria_op(value, &value);
    if (!s->is_good(value))
        return cmd_bad_value(&q->a, row);
    if (row->letter == 'r')
        value = *value == 'y' ? "True" : "False";
    attrs_add(&q->criteria, s->attribute, NULL, value, op);
    return 0;
}

static int qselect_take_arrays(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qselect *q = settings;

    attrs_add(&q->criteria, ATTR_array, NULL, "True", EQ);
    return 0;
}

static int qselect_take_q(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qselect *q = settings;

    if (jobid_parse_destination(value, &q->destination, e) < 0)
        return cmd_bad_value(&q->a, row);
    q->asked = value;
    if (*q->destination.queue)
        attrs_add(&q->criteria, ATTR_q, NULL, q->destination.queue, EQ);
    return 0;
}

#define ONE(letter, value, help)                                                                             \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, qselect_take_one, 0                                         \
    }

static const struct option_row rows[] = {
    {'a', NULL, OPTION_VALUE, "[op]date_time", "time before which it does not run", qselect_take_a, 0},
    ONE('A', "account_string", "account"),
    ONE('c', "[op]interval", "checkpoint: n, s, c, c=minutes, w, w=minutes or u"),
    ONE('h', "hold_list", "holds: letters of u, o, s, p; or n"),
    CMD_FLAG('H', struct qselect, finished, "finished and moved jobs"),
    CMD_FORMAT(struct qselect, json),
    {'J', NULL, OPTION_ALONE, NULL, "only arrays", qselect_take_arrays, 0},
    {'l', NULL, OPTION_VALUE, "resource_list", "ncpus.gt.4,mem.le.2gb", qselect_take_l, 0},
    ONE('N', "name", "the job's name"),
    ONE('p', "[op]priority", "-1024 to 1023"),
    ONE('P', "project", "project"),
    {'q', NULL, OPTION_VALUE, "destination", "queue, @server or queue@server", qselect_take_q, 0},
    ONE('r', "y|n", "may it be run again?"),
    ONE('s', "states", "letters of BEFHMQRSTUWX"),
    {'t', NULL, OPTION_VALUE, "suboption[op]date_time", "a time: a, c, e, g, m, q, s or t, as in tc.ge.0900",
     qselect_take_t, 0},
    CMD_FLAG('T', struct qselect, subjobs, "subjobs too"),
    ONE('u', "user_list", "user[@host],..."),
    CMD_FLAG('x', struct qselect, history, "finished and moved jobs too"),
};

/* ids ends with NULL; NULL: no job. */
static void qselect_show_json(char **ids)
{
    struct json_out out;

    json_out_begin(&out, stdout);
    json_out_open(&out, "jobs", '[');
    for (; ids && *ids; ids++)
        json_out_string(&out, NULL, *ids);
    json_out_close(&out, ']');
    json_out_end(&out);
}

static int select_jobs(struct qselect *q, int c)
{
    const bool history = q->history || q->finished;
    char **ids, **id;

    pbs_errno = 0;
    ids = pbs_selectjob(c, q->criteria.first,
                        q->subjobs && history ? "Tx"
                        : q->subjobs          ? "T"
                        : history             ? "x"
                                              : NULL);
    if (!ids && pbs_errno)
        return api_error_report(&q->a, c, "");
    term_out_buffer(stdout);
    if (q->json)
        qselect_show_json(ids);
    for (id = ids; id && *id && !q->json; id++)
        puts(*id);
    free(ids);
    return 0;
}

static int qselect_run(void *settings, int n, char *operands[])
{
    struct qselect *q = settings;
    struct conn_pool *s;
    int c, rc;

    if (n)
        return cmd_usage(&q->a);
    s = conn_pool_create(&q->a);
    if (!s)
        return 1;
    if (q->finished && !attrs_find(&q->criteria, ATTR_state, NULL))
        attrs_add(&q->criteria, ATTR_state, NULL, "MFX", EQ);
    c = conn_pool_connect(s, q->destination.server);
    if (c < 0 && pbs_errno == PBSE_BADHOST)
        cmd_error(&q->a, "illegally formed destination: %s", q->asked);
    rc = c < 0 ? pbs_errno : select_jobs(q, c);
    conn_pool_destroy(s);
    return rc;
}

static void qselect_fini(void *settings)
{
    attrs_fini(&((struct qselect *)settings)->criteria);
}

const struct cmd command = {
    .options = {.program = "qselect", .operands = "", CMD_ROWS(rows)},
    .usage = "usage: qselect [-a [op]date_time] [-A account_string] [-c [op]interval]\n"
             "\t[-h hold_list] [-H] [-J] [-l resource_list] [-N name] [-p [op]priority]\n"
             "\t[-P project] [-q destination] [-r y|n] [-s states] [-t suboption[op]date_time]\n"
             "\t[-T] [-u user_name] [-x]\n",
    .usage_exit = 2,
    .size = sizeof(struct qselect),
    .run = qselect_run,
    .fini = qselect_fini,
};
