/* pbs_preempt: show what would be done for a job (--explain), which jobs may be preempted and how (--policy,
 * --methods), and what preemptions have cost (--report).
 *
 * Policy and methods are read from the attributes of sched objects, queues and the job, by the rules that the server
 * applies; the report is made from the accounting files of this host, records of type v, and asks no server. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acct_line.h"
#include "attrs.h"
#include "cmd.h"
#include "conf.h"
#include "json_out.h"
#include "pbs_error.h"
#include "preempt_attribs.h"
#include "preempt_explain.h"
#include "preempt_policy_show.h"
#include "api_error.h"
#include "conn_pool.h"

enum { LINE_BYTES = 65536, DAYS_MAX = 100000 };

struct pbs_preempt {
    struct cmd_args a;
    bool explain, policy, methods, report, json;
    const char *home, *since; /* since: YYYYMMDD */
};

static int pbs_preempt_take_long(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    *(bool *)((char *)settings + row->id) = true;
    return 0;
}

#define LONG(name, field, help)                                                                              \
    {                                                                                                        \
        0, name, OPTION_ALONE, NULL, help, pbs_preempt_take_long, (int)offsetof(struct pbs_preempt, field)   \
    }

static const struct option_row rows[] = {
    LONG("explain", explain, "what would be done for a job now, which jobs it would stop, and why it waits"),
    LONG("policy", policy, "which jobs may preempt which, and how: by scheduler and by queue"),
    LONG("methods", methods, "what may be done to preempt a job now, and what it means for the job"),
    LONG("report", report,
         "what preemptions have cost, by day, queue, project and user, and by line of the policy"),
    CMD_FORMAT(struct pbs_preempt, json),
    CMD_TEXT('p', struct pbs_preempt, home, "path", "PBS_HOME, for --report"),
    CMD_TEXT('d', struct pbs_preempt, since, "YYYYMMDD", "the first day, for --report"),
};

/* --- methods ------------------------------------------------------------------------------------------------ */

/* Return true if this method can be applied to the job. */
static bool is_possible(const struct attrl *job, enum method_id m)
{
    const char *rerunable = attrs_value(job, "Rerunable", NULL),
               *image = attrs_value(job, "Checkpoint", NULL);

    const struct preempt_method_row *row = preempt_method_row(m);

    return (!row->needs_rerunable || !rerunable || strcmp(rerunable, "False") != 0) &&
           (!row->needs_checkpoint || !image || strcmp(image, "n") != 0);
}

static void show_methods(const struct pbs_preempt *q, const char *id, int percent_left,
                         const struct preempt_methods *l)
{
    char letters[PREEMPT_LETTERS_MAX];
    struct json_out j;

    if (q->json) {
        json_out_begin(&j, stdout);
        json_out_string(&j, "job", id);
        json_out_string(&j, "methods", preempt_methods_format(l, letters));
        json_out_number(&j, "percent_left", percent_left);
        json_out_end(&j);
        return;
    }
    printf("%s: %d%% of its time is left\n", id, percent_left);
    if (!l->n)
        printf("    it is not preempted\n");
    for (unsigned i = 0; i < l->n; i++) {
        const struct preempt_method_row *row = preempt_method_row((enum method_id)l->m[i]);

        printf("    %c  %s\n", row->letter, row->meaning);
    }
}

static int list_methods(struct pbs_preempt *q, int c, char *id)
{
    struct batch_status *job = pbs_statjob(c, id, NULL, NULL), *sched = NULL, *queue = NULL;

    if (job)
        queue = pbs_statque(c, attrs_value(job->attribs, "queue", NULL), NULL, NULL);
    if (queue)
        sched = pbs_statsched(c, NULL, NULL);
    if (!job || !queue || !sched) {
        int code = api_error_report(&q->a, c, id);

        pbs_statfree(job);
        pbs_statfree(queue);
        return code;
    }
    struct preempt_facts f = preempt_attribs_facts(job->attribs);
    struct preempt_settings of_queue, of_sched;
    struct preempt_methods allowed, l = {0};
    int64_t now_s = (int64_t)time(NULL);

    preempt_attribs_settings(queue, PREEMPT_ATTRIBS_QUEUE, &of_queue);
    preempt_attribs_settings(preempt_policy_show_sched_of(sched, queue), PREEMPT_ATTRIBS_SCHED, &of_sched);
    preempt_rules_methods(&f, &of_queue, &of_sched, now_s, &allowed);
    for (unsigned i = 0; i < allowed.n; i++)
        if (is_possible(job->attribs, (enum method_id)allowed.m[i]))
            preempt_methods_add(&l, (enum method_id)allowed.m[i]);
    show_methods(q, job->name, preempt_rules_percent_left(&f, now_s), &l);
    pbs_statfree(job);
    pbs_statfree(queue);
    pbs_statfree(sched);
    return 0;
}

/* --- report ------------------------------------------------------------------------------------------------- */

enum { SUM_KEYS = 4, SUM_KEY_MAX = 600 };

struct sum { /* of all records with the same keys */
    char key[SUM_KEYS][SUM_KEY_MAX];
    long by[METHOD_COUNT];
    double lost;
    struct sum *next;
};

/* A table of the report: its keys are the day, where `has_day`, and fields of the records. */
struct sum_table {
    const char *name;             /* in JSON */
    const char *keys[SUM_KEYS];   /* in JSON, and as the head of a column; NULL: no more */
    const char *fields[SUM_KEYS]; /* of the record; NULL: the day */
    int widths[SUM_KEYS];
};

static const struct sum_table tables[] = {
    {"preemptions", {"day", "queue", "project", "user"}, {NULL, "queue", "project", "user"}, {8, 15, 20, 15}},
    {"policy",
     {"policy", "authority", "queue", NULL},
     {"policy", "authority", "queue", NULL},
     {50, 25, 15, 0}},
};
enum { SUM_TABLES = sizeof tables / sizeof tables[0] };

static void sum_keys(const struct sum_table *t, const char *day, const struct acct_line *l, struct sum *out)
{
    for (int i = 0; i < SUM_KEYS; i++) {
        const char *value = !t->keys[i] ? "" : t->fields[i] ? acct_line_find(l, t->fields[i]) : day;

        snprintf(out->key[i], SUM_KEY_MAX, "%.*s", t->fields[i] ? SUM_KEY_MAX - 1 : 8,
                 value && (*value || !t->keys[i]) ? value : "-");
    }
}

static struct sum *sum_of(struct sum **all, const struct sum_table *t, const char *day,
                          const struct acct_line *l)
{
    struct sum **at = all, *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    sum_keys(t, day, l, s);
    for (; *at; at = &(*at)->next)
        if (memcmp((*at)->key, s->key, sizeof s->key) == 0) {
            free(s);
            return *at;
        }
    return *at = s;
}

static void pbs_preempt_add_line(struct sum *all[SUM_TABLES], const char *day, const char *text)
{
    struct err e;
    struct acct_line *l = acct_line_parse(text, &e);
    const char *method = l && l->type == 'v' ? acct_line_find(l, "method") : NULL;
    const char *lost = method ? acct_line_find(l, "lost_core_seconds") : NULL;

    for (int i = 0; method && *method && i < SUM_TABLES; i++) {
        struct sum *s = sum_of(&all[i], &tables[i], day, l);

        if (!s)
            continue;
        s->by[preempt_method_of_letter(*method)]++;
        s->lost += lost ? strtod(lost, NULL) : 0;
    }
    acct_line_destroy(l);
}

static int pbs_preempt_is_day(const struct dirent *d)
{
    return strlen(d->d_name) == 8 && strspn(d->d_name, "0123456789") == 8;
}

static void read_day(const char *dir, const char *day, struct sum *all[SUM_TABLES])
{
    char path[PATH_MAX + 16], *line = malloc(LINE_BYTES);
    FILE *in;

    snprintf(path, sizeof path, "%s/%.8s", dir, day);
    in = line ? fopen(path, "re") : NULL;
    while (in && fgets(line, LINE_BYTES, in))
        if (strstr(line, ";v;"))
            pbs_preempt_add_line(all, day, line);
    if (in)
        fclose(in);
    free(line);
}

/* The methods that have a column of their own: those of preempt_order. NULL: no more; *m is the one looked at last. */
static const struct preempt_method_row *next_column(int *m)
{
    while (++*m < METHOD_COUNT)
        if (preempt_method_row((enum method_id) * m)->in_order)
            return preempt_method_row((enum method_id) * m);
    return NULL;
}

static void show_sum_row(const struct sum_table *t, const struct sum *s)
{
    for (int i = 0; i < SUM_KEYS && t->keys[i]; i++)
        printf("%-*s ", t->widths[i], s->key[i]);
    for (int m = METHOD_NONE; next_column(&m);)
        printf(" %6ld", s->by[m]);
    printf(" %14.1f\n", s->lost);
}

static void show_sum_json(struct json_out *j, const struct sum_table *t, const struct sum *s)
{
    const struct preempt_method_row *row;
    char lost[32];

    snprintf(lost, sizeof lost, "%.1f", s->lost);
    json_out_open(j, NULL, '{');
    for (int i = 0; i < SUM_KEYS && t->keys[i]; i++)
        json_out_string(j, t->keys[i], s->key[i]);
    for (int m = METHOD_NONE; (row = next_column(&m));)
        json_out_number(j, row->done, s->by[m]);
    json_out_any(j, "lost_core_seconds", lost);
    json_out_close(j, '}');
}

static void show_table(const struct sum_table *t, const struct sum *all)
{
    const struct preempt_method_row *row;

    for (int i = 0; i < SUM_KEYS && t->keys[i]; i++)
        printf("%-*s ", t->widths[i], t->keys[i]);
    for (int m = METHOD_NONE; (row = next_column(&m));)
        printf(" %6c", row->letter);
    printf(" %14s\n", "lost core-s");
    for (const struct sum *s = all; s; s = s->next)
        show_sum_row(t, s);
}

static void show_sums(const struct pbs_preempt *q, struct sum *const all[SUM_TABLES])
{
    struct json_out j;

    if (q->json)
        json_out_begin(&j, stdout);
    for (int i = 0; i < SUM_TABLES; i++) {
        if (!q->json) {
            printf(
                "%s",
                i ? "\nby line of the policy, by level and queue of the urgent job, and by queue of the victim:\n"
                  : "");
            show_table(&tables[i], all[i]);
            continue;
        }
        json_out_open(&j, tables[i].name, '[');
        for (const struct sum *s = all[i]; s; s = s->next)
            show_sum_json(&j, &tables[i], s);
        json_out_close(&j, ']');
    }
    if (q->json)
        json_out_end(&j);
}

static int pbs_preempt_report(struct pbs_preempt *q, const char *home)
{
    struct dirent **days = NULL;
    struct sum *all[SUM_TABLES] = {NULL}, *next;
    char dir[PATH_MAX];
    int n;

    snprintf(dir, sizeof dir, "%s/server_priv/accounting", home);
    n = scandir(dir, &days, pbs_preempt_is_day, alphasort);
    if (n < 0) {
        cmd_error(&q->a, "cannot read %s", dir);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        if (!q->since || strcmp(days[i]->d_name, q->since) >= 0)
            read_day(dir, days[i]->d_name, all);
        free(days[i]);
    }
    free(days);
    show_sums(q, all);
    for (int i = 0; i < SUM_TABLES; i++)
        for (; all[i]; all[i] = next) {
            next = all[i]->next;
            free(all[i]);
        }
    return 0;
}

/* --- the way in --------------------------------------------------------------------------------------------- */

static int pbs_preempt_ask(struct pbs_preempt *q, int n, char *operands[])
{
    struct conn_pool *s = conn_pool_create(&q->a);
    int c = s ? conn_pool_connect(s, NULL) : -1, code = 1;

    if (c >= 0 && q->explain)
        code = preempt_explain(&q->a, c, operands[0], q->json);
    else if (c >= 0)
        code = q->policy ? preempt_policy_show(&q->a, c, n ? operands[0] : NULL, q->json)
                         : list_methods(q, c, operands[0]);
    else if (s)
        code = pbs_errno;
    conn_pool_destroy(s);
    return code;
}

static int pbs_preempt_main(void *settings, int n, char *operands[])
{
    struct pbs_preempt *q = settings;
    struct conf *conf;
    struct err e;
    int code;

    if (q->explain + q->policy + q->methods + q->report != 1 || n > 1 ||
        ((q->explain || q->methods) && n != 1) || (q->report && n))
        return cmd_usage(&q->a);
    if (!q->report)
        return pbs_preempt_ask(q, n, operands);
    conf = q->home ? NULL : conf_load(&e);
    if (!q->home && !conf) {
        cmd_error(&q->a, "%s", e.text);
        return 1;
    }
    code = pbs_preempt_report(q, q->home ? q->home : conf_text(conf, CONF_PBS_HOME));
    conf_destroy(conf);
    return code;
}

const struct cmd command = {
    .options = {.program = "pbs_preempt", .operands = "[queue | job_identifier]", CMD_ROWS(rows)},
    .usage =
        "usage:\n\tpbs_preempt --explain [-F json] job_identifier | reservation_identifier\n\tpbs_preempt --policy [-F json] [queue]\n\tpbs_preempt --methods [-F json] job_identifier\n"
        "\tpbs_preempt --report [-F json] [-d YYYYMMDD] [-p PBS_HOME]\n",
    .usage_exit = 2,
    .size = sizeof(struct pbs_preempt),
    .run = pbs_preempt_main,
};
