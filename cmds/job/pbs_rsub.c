/* pbs_rsub: submit a reservation and print its identifier and what became of it.
 *
 * Three forms, which pbs_rsub_rules keep apart. Times and -l: the server decides, at once or within -I seconds. --job and
 * -W qmove: the resources are those of a job, which runs or waits; for one that waits the reservation begins as soon as
 * possible, which the protocol says by the start asap_start. --hosts: this command
 * makes select and location of all processors of the hosts, submits the reservation for maintenance, and confirms it
 * itself, without a scheduler.
 *
 * Texts and exit status are those of PBS: 2 and the usage where options are wrong. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api_error.h"
#include "conn_pool.h"
#include "resv_options.h"
#include "strbuf.h"

/* HOSTS_MAX: as the server takes a text of resources. */
enum { RULE_MAX = 66, HOSTS_MAX = 16 << 20 };
static const char asap_start[] = "1893488460", asap_wait[] = "-10";

struct rsub {
    struct resv_options o;
    bool hosts;
    const char *job;
};

static int pbs_rsub_take_rule(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct rsub *q = settings;

    if (strlen(value) > RULE_MAX) {
        q->o.a.errors++;
        cmd_error(&q->o.a, "illegal -r value (expression too long)");
        return 0;
    }
    return resv_options_take(settings, row, value, e);
}

static const struct option_row rows[] = {
    RESV_OPTION('R', "start", "it begins then: [[[[CC]YY]MM]DD]hhmm[.SS]"),
    RESV_OPTION('E', "end", "it ends then"),
    RESV_OPTION('D', "duration", "how long it lasts: seconds or [[hh:]mm:]ss"),
    RESV_OPTION('l', "resource_list", "what it reserves"),
    {'r', NULL, OPTION_VALUE, "rule", "it comes again: FREQ=WEEKLY;BYDAY=MO;COUNT=4, in the zone PBS_TZID",
     pbs_rsub_take_rule, 0},
    RESV_OPTION('I', "seconds", "wait for the decision so long; < 0: else it is deleted"),
    RESV_OPTION('N', "name", "its name"),
    RESV_OPTION('m', "mail_points", "when to mail: letters of a, b, c, e; or n"),
    RESV_OPTION('M', "user_list", "whom to mail"),
    RESV_OPTION('u', "user_list", "who to run as: user[@host],..."),
    RESV_OPTION('g', "group_list", "in which group: group[@host],..."),
    RESV_OPTION('U', "acl_list", "who may use it: [+|-]user[@host],..."),
    RESV_OPTION('G', "acl_list", "which groups may use it: [+|-]group,..."),
    RESV_OPTION('H', "acl_list", "from which hosts it may be used: [+|-]host,..."),
    RESV_OPTION('q', "@server", "the server to ask"),
    RESV_OPTION('W', "otherattributes", "attribute=value[,attribute=value]"),
    {0, "hosts", OPTION_ALONE, NULL, "reserve the hosts that follow, for maintenance", cmd_take_flag,
     (int)offsetof(struct rsub, hosts)},
    {0, "job", OPTION_VALUE, "job_identifier", "make a reservation of a job that runs", cmd_take_text,
     (int)offsetof(struct rsub, job)},
};

/* --- what the environment says ---------------------------------------------------------------------------- */

static void add_variables(struct rsub *q)
{
    const char *const names[] = {"LOGNAME", "MAIL"};
    const char *zone = getenv("PBS_TZID");
    char host[256] = "";
    struct strbuf b;

    strbuf_init(&b, 1 << 16);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && !strpbrk(getenv(names[i]), ",\n"))
            strbuf_addf(&b, "%sPBS_O_%s=%s", b.len ? "," : "", names[i], getenv(names[i]));
    if (gethostname(host, sizeof host - 1) == 0)
        strbuf_addf(&b, "%sPBS_O_HOST=%s", b.len ? "," : "", host);
    if (zone)
        strbuf_addf(&b, ",PBS_TZID=%s", zone);
    attrs_set(&q->o.attrs, "Variable_List", NULL, strbuf_str(&b));
    strbuf_fini(&b);
}

static int add_zone(struct rsub *q)
{
    const char *zone = getenv("PBS_TZID");

    if (!attrs_find(&q->o.attrs, "reserve_rrule", NULL))
        return 0;
    if (!zone || !*zone) {
        fputs("pbs_rsub error: a valid PBS_TZID timezone environment variable is required.\n", stderr);
        return -1;
    }
    attrs_set(&q->o.attrs, "reserve_timezone", NULL, zone);
    attrs_set(&q->o.attrs, "reserve_standing", NULL, "1");
    return 0;
}

/* --- hosts --------------------------------------------------------------------------------------------------- */

struct rsub_host {
    struct strbuf select, nodes;
    const char *bad; /* a host without vnodes that have processors */
};

static const char *host_of(const struct batch_status *v)
{
    return attrs_value(v->attribs, "resources_available", "host");
}

struct rsub_vnode { /* with processors */
    const char *host, *name;
    long ncpus;
    size_t order;
};

static int pbs_rsub_by_host(const void *a, const void *b)
{
    const struct rsub_vnode *x = a, *y = b;
    int by_host = strcmp(x->host, y->host);

    return by_host ? by_host : (x->order > y->order) - (x->order < y->order);
}

/* Those with a host and processors, by host; the caller frees. NULL: no memory. */
static struct rsub_vnode *pbs_rsub_sort_vnodes(const struct batch_status *vnodes, size_t *n)
{
    size_t all = 0;
    struct rsub_vnode *list;

    for (const struct batch_status *v = vnodes; v; v = v->next)
        all++;
    list = calloc(all + 1, sizeof *list);
    *n = 0;
    for (const struct batch_status *v = vnodes; list && v; v = v->next) {
        const char *cpus = attrs_value(v->attribs, "resources_available", "ncpus");
        long ncpus = cpus ? strtol(cpus, NULL, 10) : 0;

        if (ncpus > 0 && host_of(v)) {
            list[*n] = (struct rsub_vnode){host_of(v), v->name, ncpus, *n};
            ++*n;
        }
    }
    if (list)
        qsort(list, *n, sizeof *list, pbs_rsub_by_host);
    return list;
}

/* All vnodes of the host with processors, as chunks of one select and parts of the location. */
static void add_host(struct rsub_host *h, const struct rsub_vnode *vnodes, size_t n, const char *host)
{
    size_t from = 0, to = n;
    long sum = 0;

    while (from < to) { /* the first one that is not before it */
        size_t middle = from + (to - from) / 2;

        if (strcmp(vnodes[middle].host, host) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < n && strcmp(vnodes[from].host, host) == 0; from++) {
        strbuf_addf(&h->nodes, "%s(%s:ncpus=%ld)", h->nodes.len ? "+" : "", vnodes[from].name,
                    vnodes[from].ncpus);
        sum += vnodes[from].ncpus;
    }
    if (sum > 0)
        strbuf_addf(&h->select, "%shost=%s:ncpus=%ld", h->select.len ? "+" : "", host, sum);
    else
        h->bad = host;
}

static int pbs_rsub_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_hosts(const struct rsub *q, int n, char *hosts[])
{
    char **sorted = calloc((size_t)n + 1, sizeof *sorted);
    int rc = sorted ? 0 : cmd_error(&q->o.a, "no memory");

    if (sorted) {
        memcpy(sorted, hosts, (size_t)n * sizeof *sorted);
        qsort(sorted, (size_t)n, sizeof *sorted, pbs_rsub_by_text);
    }
    for (int i = 1; rc == 0 && i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            rc = cmd_error(&q->o.a, "Duplicate host: %s", sorted[i]);
    free(sorted);
    return rc;
}

static int pbs_rsub_confirm(const struct rsub *q, int c, const char *text, const char *location)
{
    struct strbuf id;
    int rc;

    strbuf_init(&id, 1024);
    strbuf_add_bytes(&id, text, strcspn(text, " "));
    rc = pbs_confirmresv(c, strbuf_str(&id), location, 0, "PBS_RESV_CONFIRM_SUCCESS");
    if (rc == 0)
        printf("%s CONFIRMED\n", strbuf_str(&id));
    else
        cmd_error(&q->o.a, "PBS Failed to confirm resv: %s (%d)", pbs_geterrmsg(c) ? pbs_geterrmsg(c) : "",
                  rc);
    strbuf_fini(&id);
    return rc;
}

static int submit_hosts_with(struct rsub *q, int c, struct rsub_host *h)
{
    char *text;
    int rc;

    if (h->bad)
        return -cmd_error(&q->o.a, "Host with resources not found: %s", h->bad) + 1;
    attrs_set(&q->o.attrs, "Resource_List", "select", strbuf_str(&h->select));
    attrs_set(&q->o.attrs, "Resource_List", "place", "exclhost");
    text = q->o.attrs.failed ? NULL : pbs_submit_resv(c, q->o.attrs.first, "m");
    if (!text)
        return q->o.attrs.failed ? -cmd_error(&q->o.a, "no memory") : api_error_report(&q->o.a, c, "");
    rc = pbs_rsub_confirm(q, c, text, strbuf_str(&h->nodes));
    free(text);
    return rc;
}

static int submit_hosts(struct rsub *q, int c, int n, char *hosts[])
{
    struct batch_status *vnodes = pbs_statvnode(c, NULL, NULL, NULL);
    struct rsub_host h = {.bad = NULL};
    struct rsub_vnode *list;
    size_t n_list;
    int rc;

    if (!vnodes)
        return -cmd_error(&q->o.a, "No nodes found") + 1;
    list = pbs_rsub_sort_vnodes(vnodes, &n_list);
    strbuf_init(&h.select, HOSTS_MAX);
    strbuf_init(&h.nodes, HOSTS_MAX);
    for (int i = 0; list && i < n && !h.bad; i++)
        add_host(&h, list, n_list, hosts[i]);
    rc = list && strbuf_ok(&h.select) && strbuf_ok(&h.nodes) ? submit_hosts_with(q, c, &h)
                                                             : -cmd_error(&q->o.a, "no memory") + 1;
    free(list);
    strbuf_fini(&h.select);
    strbuf_fini(&h.nodes);
    pbs_statfree(vnodes);
    return rc;
}

/* --- the whole ------------------------------------------------------------------------------------------------- */

/* Of a job that waits, whose resources the server adds: the start that means as soon as possible. -1, said. */
static int pbs_rsub_take_job(struct rsub *q, int c, const char *id)
{
    struct batch_status *job = pbs_statjob(c, (char *)id, NULL, NULL);
    const char *state = job ? attrs_value(job->attribs, "job_state", NULL) : NULL;

    if (!job)
        return cmd_error(&q->o.a, "Job %s does not exist", id);
    if (!state || strchr("RTE", *state)) {
        pbs_statfree(job);
        return cmd_error(&q->o.a, "Job not in qmove state");
    }
    attrs_set(&q->o.attrs, "reserve_start", NULL, asap_start);
    if (!attrs_find(&q->o.attrs, "interactive", NULL))
        attrs_set(&q->o.attrs, "interactive", NULL, asap_wait);
    pbs_statfree(job);
    return q->o.attrs.failed ? cmd_error(&q->o.a, "no memory") : 0;
}

static int submit_one(struct rsub *q, int c)
{
    const char *of = attrs_find(&q->o.attrs, "qmove", NULL);
    char *text;

    if (of && pbs_rsub_take_job(q, c, of) < 0)
        return 2;
    text = pbs_submit_resv(c, q->o.attrs.first, NULL);
    if (!text)
        return api_error_report(&q->o.a, c, "");
    puts(text);
    free(text);
    return 0;
}

static void pbs_rsub_refuse_operands(const struct rsub *q, int n, char *operands[])
{
    struct strbuf b;

    strbuf_init(&b, 1 << 16);
    for (int i = 0; i < n; i++)
        strbuf_addf(&b, "%s%s", i ? " " : "", operands[i]);
    cmd_error(&q->o.a, "directive error: %s", strbuf_str(&b));
    strbuf_fini(&b);
}

static bool pbs_rsub_asks_amounts(const struct rsub *q)
{
    for (const struct attropl *a = q->o.attrs.first; a; a = a->next)
        if (strcmp(a->name, "Resource_List") == 0)
            return true;
    return false;
}

enum {
    RSUB_HOSTS = 1,
    RSUB_INTERACTIVE = 2,
    RSUB_AMOUNTS = 4, /* -l */
    RSUB_OPERANDS = 8,
    RSUB_JOB = 16,
    RSUB_TIMES = 32, /* -R or -E */
    RSUB_QMOVE = 64,
    RSUB_WAITS = 128, /* -I with a number that does not delete the reservation */
};

static const struct cmd_rule pbs_rsub_rules[] = {
    {.all = RSUB_HOSTS | RSUB_INTERACTIVE, .text = "can't use -I with --hosts"},
    {.all = RSUB_HOSTS | RSUB_AMOUNTS, .text = "can't use -l with --hosts"},
    {.all = RSUB_HOSTS, .none = RSUB_OPERANDS, .text = "missing host(s)"},
    {.all = RSUB_JOB | RSUB_TIMES, .text = "Start/End time cannot be used with --job option"},
    {.all = RSUB_QMOVE | RSUB_TIMES, .text = "-Wqmove is not compatible with -R or -E option"},
    {.all = RSUB_QMOVE | RSUB_WAITS,
     .text = "-I <timeout> value must be negative when used with -Wqmove option."},
};

static unsigned pbs_rsub_given(const struct rsub *q, bool operands)
{
    const char *wait = attrs_find(&q->o.attrs, "interactive", NULL);

    return RSUB_HOSTS * q->hosts | RSUB_INTERACTIVE * !!wait | RSUB_AMOUNTS * pbs_rsub_asks_amounts(q) |
           RSUB_OPERANDS * operands | RSUB_JOB * !!q->job | RSUB_TIMES * (q->o.start || q->o.end) |
           RSUB_QMOVE * !!attrs_find(&q->o.attrs, "qmove", NULL) |
           RSUB_WAITS * (wait && strtol(wait, NULL, 10) >= 0);
}

/* Errors of options are reported before the server is asked: exit status 2 with the usage. */
static int pbs_rsub_check(struct rsub *q, int n, char *operands[])
{
    const char *wrong = cmd_rule_broken(pbs_rsub_rules, sizeof pbs_rsub_rules / sizeof pbs_rsub_rules[0],
                                        pbs_rsub_given(q, n > 0));

    if (wrong)
        return cmd_error(&q->o.a, "%s", wrong);
    if (q->hosts)
        return check_hosts(q, n, operands);
    if (n)
        pbs_rsub_refuse_operands(q, n, operands);
    return !n && (q->o.timed || q->o.attrs.first || q->job) ? 0 : -1;
}

static int pbs_rsub_run(void *settings, int n, char *operands[])
{
    struct rsub *q = settings;
    struct conn_pool *s;
    int c, rc;

    if (pbs_rsub_check(q, n, operands) < 0)
        return cmd_usage(&q->o.a);
    if (add_zone(q) < 0)
        return 2;
    if (q->job)
        attrs_set(&q->o.attrs, "reserve_job", NULL, q->job);
    resv_options_times(&q->o);
    add_variables(q);
    if (q->o.attrs.failed)
        return -cmd_error(&q->o.a, "no memory");
    s = conn_pool_create(&q->o.a);
    c = s ? conn_pool_connect(s, q->o.server) : -1;
    rc = c < 0 ? (s ? pbs_errno : 1) : q->hosts ? submit_hosts(q, c, n, operands) : submit_one(q, c);
    conn_pool_destroy(s);
    return rc;
}

static void pbs_rsub_fini(void *settings)
{
    resv_options_fini(&((struct rsub *)settings)->o);
}

const struct cmd command = {
    .options = {.program = "pbs_rsub", .operands = "[host...]", CMD_ROWS(rows)},
    .usage = "usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]\n"
             "                [-N reservation_name] [-u user_list] [-g group_list]\n"
             "                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]\n"
             "                [-R start_time] [-E end_time] [-D duration] [-q @server]\n"
             "                [-r rrule_expression] [-W otherattributes=value...]\n"
             "                -l resource_list | --hosts host... | --job job_identifier\n",
    .usage_exit = 2,
    .size = sizeof(struct rsub),
    .run = pbs_rsub_run,
    .fini = pbs_rsub_fini,
};
