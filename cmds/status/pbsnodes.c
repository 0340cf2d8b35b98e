/* pbsnodes: show nodes, or set whether they take jobs.
 *
 * Two commands in one, told apart by is_change: a change is a call for each host named; showing asks for hosts or
 * vnodes, all or by name, and writes one of several forms. The heading, or the head of the JSON, is written before
 * the first node: without a node there is no output. pbsnodes_rules says which options go together. */
#include "cmd.h"

#include <strings.h>
#include <time.h>

#include "attrs.h"
#include "date_text.h"
#include "jobid_set.h"
#include "json_out.h"
#include "node_show.h"
#include "pbs_error.h"
#include "conn_pool.h"
#include "status_out.h"
#include "term_out.h"

enum { COMMENT_MAX = 79 };

struct pbsnodes {
    struct cmd_args a;
    bool all, vnodes, hosts_vnodes, down, offline, clear, quiet, table, table_jobs, table_whole;
    const char *comment, *delimiter, *server, *drain;
    int64_t drain_at_s; /* 0: at once */
    enum status_format format;
};

static int pbsnodes_take_format(void *settings, const struct option_row *row, const char *value,
                                struct err *e)
{
    struct pbsnodes *p = settings;

    return status_out_format(value, &p->format) < 0 ? cmd_bad_value(&p->a, row) : 0;
}

static int pbsnodes_take_comment(void *settings, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct pbsnodes *p = settings;

    p->comment = value;
    if (strlen(value) <= COMMENT_MAX)
        return 0;
    p->a.errors++;
    cmd_error(&p->a, "comment is longer than %d characters", COMMENT_MAX);
    return 0;
}

static int pbsnodes_take_at(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct pbsnodes *p = settings;

    return date_text_parse(value, (int64_t)time(NULL), &p->drain_at_s) < 0 ? cmd_bad_value(&p->a, row) : 0;
}

static const struct option_row rows[] = {
    CMD_FLAG('a', struct pbsnodes, all, "all hosts; with -v all vnodes"),
    CMD_FLAG('c', struct pbsnodes, clear, "older form of -r"),
    {'C', NULL, OPTION_VALUE, "comment", "a comment for the hosts; empty: none", pbsnodes_take_comment, 0},
    CMD_FLAG('d', struct pbsnodes, offline, "older form of -o"),
    CMD_TEXT('D', struct pbsnodes, delimiter, "delimiter", "between the fields of -F dsv"),
    {'F', NULL, OPTION_VALUE, "format", "json, dsv or default", pbsnodes_take_format, 0},
    CMD_FLAG('H', struct pbsnodes, hosts_vnodes, "all vnodes of the hosts named"),
    CMD_FLAG('j', struct pbsnodes, table_jobs, "with -S: jobs"),
    CMD_FLAG('l', struct pbsnodes, down, "hosts that are down or offline"),
    CMD_FLAG('L', struct pbsnodes, table_whole, "with -S: nothing is cut"),
    CMD_FLAG('o', struct pbsnodes, offline, "take the hosts offline"),
    CMD_FLAG('q', struct pbsnodes, quiet, "no messages of errors"),
    CMD_FLAG('r', struct pbsnodes, clear, "hosts are no longer offline"),
    CMD_TEXT('s', struct pbsnodes, server, "server", "ask this server"),
    CMD_FLAG('S', struct pbsnodes, table, "a line a node"),
    CMD_FLAG('v', struct pbsnodes, vnodes, "vnodes instead of hosts"),
    {0, "drain", OPTION_VALUE, "letters",
     "with -o: their jobs leave by C, R or D, the first that can be applied to each", cmd_take_text,
     (int)offsetof(struct pbsnodes, drain)},
    {0, "at", OPTION_VALUE, "date", "with --drain: when these are told, as in qsub -a; else at once",
     pbsnodes_take_at, 0},
};

static bool is_change(const struct pbsnodes *p)
{
    return p->offline || p->clear || p->comment;
}

static int pbsnodes_report(const struct pbsnodes *p, int c, const char *node)
{
    const char *text = pbs_geterrmsg(c);
    char code[48];

    snprintf(code, sizeof code, "Error (%d) returned from server", pbs_errno);
    if (!p->quiet && *node && pbs_errno == PBSE_UNKNODE)
        fprintf(stderr, "Node: %s,  Error: Unknown node  %s\n", node, node);
    else if (!p->quiet && *node)
        fprintf(stderr, "Node: %s,  Error: %s\n", node, text && *text ? text : code);
    else if (!p->quiet)
        cmd_error(&p->a, "%s", text && *text ? text : code);
    return 1;
}

/* --- changing ----------------------------------------------------------------------------------------------- */

static void add_drain(const struct pbsnodes *p, struct attrs *attrs)
{
    char at[24];

    snprintf(at, sizeof at, "%lld", (long long)p->drain_at_s);
    attrs_add(attrs, "drain_at", NULL, p->drain_at_s ? at : "", p->drain_at_s ? SET : UNSET);
    attrs_add(attrs, "drain", NULL, p->drain, SET);
}

static int change_vnode(const struct pbsnodes *p, int c, const char *vnode)
{
    struct attrs attrs = {0};
    int rc;

    if (p->offline || p->clear)
        attrs_add(&attrs, ATTR_NODE_state, NULL, "offline", p->offline ? INCR : DECR);
    if (p->drain)
        add_drain(p, &attrs);
    if (p->clear) { /* unset where it was not set is well */
        attrs_add(&attrs, "drain", NULL, "", UNSET);
        attrs_add(&attrs, "drain_at", NULL, "", UNSET);
    }
    if (p->comment)
        attrs_add(&attrs, ATTR_comment, NULL, p->comment, *p->comment ? SET : UNSET);
    else if (p->clear) /* it gave the reason for which the host was offline */
        attrs_add(&attrs, ATTR_comment, NULL, "", UNSET);
    rc = pbs_manager(c, MGR_CMD_SET, MGR_OBJ_NODE, vnode, attrs.first, NULL);
    attrs_fini(&attrs);
    return rc ? pbsnodes_report(p, c, vnode) : 0;
}

/* Change all vnodes of a host; with -v the name is that of one vnode. */
static int change_host(const struct pbsnodes *p, int c, const struct batch_status *vnodes, const char *host)
{
    int rc = 0, n = 0;

    for (const struct batch_status *v = vnodes; v; v = v->next) {
        const char *is = attrs_value(v->attribs, ATTR_rescavail, "host");

        if (is && strcasecmp(is, host) == 0) {
            rc |= change_vnode(p, c, v->name);
            n++;
        }
    }
    return n ? rc : change_vnode(p, c, host);
}

static int pbsnodes_change(const struct pbsnodes *p, int c, int n, char *operands[])
{
    char name[] = ATTR_rescavail, host[] = "host", nothing[] = "";
    struct attrl want = {.name = name, .resource = host, .value = nothing};
    struct batch_status *vnodes = p->vnodes ? NULL : pbs_statvnode(c, NULL, &want, NULL);
    int i, rc = 0;

    for (i = 0; i < n; i++)
        rc |= change_host(p, c, vnodes, operands[i]);
    pbs_statfree(vnodes);
    return rc;
}

/* --- showing ------------------------------------------------------------------------------------------------ */

struct pbsnodes_show {
    const struct pbsnodes *p;
    int c;
    struct json_out json;
    struct jobid_set names, *suspended; /* -Sj: the suspended jobs; else NULL */
    struct batch_status *of_hosts;      /* -l: all vnodes, once a host has some in different states */
    bool begun;
};

/* Ask which jobs are suspended: a node's list of jobs does not say. */
static void fetch_suspended(struct pbsnodes_show *s)
{
    struct attrs criteria = {0};
    char **ids, **id;

    attrs_add(&criteria, ATTR_state, NULL, "S", EQ);
    ids = pbs_selectjob(s->c, criteria.first, "T");
    for (id = ids; id && *id; id++)
        jobid_set_add(&s->names, *id);
    jobid_set_sort(&s->names);
    s->suspended = &s->names;
    free(ids);
    attrs_fini(&criteria);
}

static void pbsnodes_open_json(struct pbsnodes_show *s)
{
    struct batch_status *server;

    if (s->begun)
        return;
    s->begun = true;
    if (s->p->format == STATUS_JSON) {
        server = pbs_statserver(s->c, NULL, NULL);
        status_out_json_head(&s->json, stdout, server);
        pbs_statfree(server);
        json_out_open(&s->json, "nodes", '{');
    } else if (s->p->table && s->p->format == STATUS_FULL) {
        node_show_heading(stdout, s->p->table_jobs);
    }
}

static void pbsnodes_close_json(struct pbsnodes_show *s)
{
    if (s->p->format != STATUS_JSON || s->p->down)
        return;
    pbsnodes_open_json(s); /* JSON is a whole document, with or without nodes */
    json_out_close(&s->json, '}');
    json_out_end(&s->json);
}

static bool is_of_host(const struct batch_status *n, const char *host)
{
    const char *own = attrs_value(n->attribs, ATTR_rescavail, "host");

    return !strcmp(host, own ? own : n->name);
}

/* pbs_stathost says "<various>" of a host whose vnodes are in different states: these are listed one by one. */
static void pbsnodes_show_down(struct pbsnodes_show *s, const struct batch_status *n)
{
    const char *state = attrs_value(n->attribs, ATTR_NODE_state, NULL);
    const bool differ = state && strcmp(state, "<various>") == 0;

    if (node_show_is_down(n))
        node_show_down(stdout, n);
    if (differ && !s->of_hosts)
        s->of_hosts = pbs_statvnode(s->c, NULL, NULL, NULL);
    for (const struct batch_status *o = differ ? s->of_hosts : NULL; o; o = o->next)
        if (is_of_host(o, n->name) && node_show_is_down(o))
            node_show_down(stdout, o);
}

static void show_node(struct pbsnodes_show *s, const struct batch_status *n)
{
    const struct pbsnodes *p = s->p;

    if (p->down) {
        pbsnodes_show_down(s, n);
        return;
    }
    pbsnodes_open_json(s);
    if (p->format == STATUS_DSV && p->table)
        node_show_row_dsv(stdout, p->delimiter ? p->delimiter : "|", n, s->suspended);
    else if (p->format == STATUS_DSV)
        node_show_dsv(stdout, p->delimiter ? p->delimiter : "|", n);
    else if (p->format == STATUS_JSON && p->table)
        node_show_row_json(&s->json, n, s->suspended);
    else if (p->format == STATUS_JSON)
        node_show_json(&s->json, n);
    else if (p->table)
        node_show_row(stdout, n, s->suspended, p->table_whole);
    else
        node_show_record(stdout, n);
}

/* Return true if the vnode is of one of the hosts named. */
static bool is_of_hosts(const struct batch_status *n, int count, char *hosts[])
{
    int i;

    for (i = 0; i < count; i++)
        if (is_of_host(n, hosts[i]))
            return true;
    return false;
}

/* -H: report hosts without a vnode. */
static int report_missing(const struct pbsnodes *p, int c, const struct batch_status *list, int n,
                          char *hosts[])
{
    int i, rc = 0;

    for (i = 0; i < n; i++) {
        const struct batch_status *o = list;

        while (o && !is_of_host(o, hosts[i]))
            o = o->next;
        if (o)
            continue;
        pbs_errno = PBSE_UNKNODE;
        rc = pbsnodes_report(p, c, hosts[i]);
    }
    return rc;
}

static int no_nodes(const struct pbsnodes *p)
{
    if (!p->quiet)
        cmd_error(&p->a, "Server has no node list");
    return 1;
}

static int pbsnodes_show_all(struct pbsnodes_show *s, int n, char *operands[])
{
    const struct pbsnodes *p = s->p;
    struct batch_status *list, *o;
    int rc;

    pbs_errno = 0;
    list = p->vnodes || p->hosts_vnodes || p->table ? pbs_statvnode(s->c, NULL, NULL, NULL)
                                                    : pbs_stathost(s->c, NULL, NULL, NULL);
    if (!list && !pbs_errno)
        return no_nodes(p);
    if (!list)
        return pbsnodes_report(p, s->c, "");
    for (o = list; o; o = o->next)
        if (!n || is_of_hosts(o, n, operands))
            show_node(s, o);
    rc = report_missing(p, s->c, list, n, operands);
    pbs_statfree(list);
    return rc;
}

static int show_named(struct pbsnodes_show *s, const char *name)
{
    struct batch_status *list, *o;

    pbs_errno = 0;
    list = s->p->vnodes || s->p->table ? pbs_statvnode(s->c, name, NULL, NULL)
                                       : pbs_stathost(s->c, name, NULL, NULL);
    if (!list && !pbs_errno)
        return no_nodes(s->p);
    if (!list)
        return pbsnodes_report(s->p, s->c, name);
    for (o = list; o; o = o->next)
        show_node(s, o);
    pbs_statfree(list);
    return 0;
}

static int pbsnodes_show(const struct pbsnodes *p, int c, int n, char *operands[])
{
    struct pbsnodes_show s = {.p = p, .c = c};
    int i, rc = 0;

    term_out_buffer(stdout);
    if (p->table_jobs)
        fetch_suspended(&s);
    if (p->all || p->down || (!n && p->table))
        rc = pbsnodes_show_all(&s, 0, NULL);
    else if (p->hosts_vnodes)
        rc = pbsnodes_show_all(&s, n, operands);
    else
        for (i = 0; i < n; i++)
            rc |= show_named(&s, operands[i]);
    pbsnodes_close_json(&s);
    pbs_statfree(s.of_hosts);
    jobid_set_fini(&s.names);
    return rc;
}

/* --- the whole ---------------------------------------------------------------------------------------------- */

enum {
    PBSNODES_OFFLINE = 1,
    PBSNODES_CLEAR = 2,
    PBSNODES_CHANGE = 4, /* -o, -r or -C */
    PBSNODES_DRAIN = 8,
    PBSNODES_AT = 16,
    PBSNODES_ALL = 32,
    PBSNODES_DOWN = 64,
    PBSNODES_TABLE = 128,
    PBSNODES_HOSTS_VNODES = 256,
    PBSNODES_OF_TABLE = 512, /* -j or -L */
    PBSNODES_NAMES = 1024,   /* hosts or vnodes are named */
    PBSNODES_NO_DELIMITER = 2048,
};

static const struct cmd_rule pbsnodes_rules[] = {
    {.all = PBSNODES_OFFLINE | PBSNODES_CLEAR, .text = "-o and -r exclude each other"},
    {.all = PBSNODES_DRAIN, .none = PBSNODES_OFFLINE, .text = "--drain goes with -o"},
    {.all = PBSNODES_AT, .none = PBSNODES_DRAIN, .text = "--at goes with --drain"},
    {.all = PBSNODES_NO_DELIMITER, .text = "illegal -D value: a delimiter has at least one character"},
    {.all = PBSNODES_CHANGE,
     .any = PBSNODES_ALL | PBSNODES_DOWN | PBSNODES_TABLE | PBSNODES_HOSTS_VNODES,
     .text = "-o, -r and -C change hosts that are named; -a, -l, -S and -H show"},
    {.all = PBSNODES_CHANGE, .none = PBSNODES_NAMES, .text = "which hosts?"},
    {.all = PBSNODES_OF_TABLE, .none = PBSNODES_CHANGE | PBSNODES_TABLE, .text = "-j and -L go with -S"},
    {.two = PBSNODES_ALL | PBSNODES_DOWN, .text = "-a and -l exclude each other"},
    {.all = PBSNODES_NAMES,
     .any = PBSNODES_ALL | PBSNODES_DOWN,
     .text = "-a and -l show all hosts; name some without them"},
    {.none = PBSNODES_CHANGE | PBSNODES_ALL | PBSNODES_DOWN | PBSNODES_NAMES | PBSNODES_TABLE,
     .text = ""}, /* the usage explains it */
};

/* Find options that do not go together. NULL: none. */
static const char *pbsnodes_find_conflict(const struct pbsnodes *p, bool names)
{
    const unsigned given = PBSNODES_OFFLINE * p->offline | PBSNODES_CLEAR * p->clear |
                           PBSNODES_CHANGE * is_change(p) | PBSNODES_DRAIN * !!p->drain |
                           PBSNODES_AT * !!p->drain_at_s | PBSNODES_ALL * p->all | PBSNODES_DOWN * p->down |
                           PBSNODES_TABLE * p->table | PBSNODES_HOSTS_VNODES * p->hosts_vnodes |
                           PBSNODES_OF_TABLE * (p->table_jobs || p->table_whole) | PBSNODES_NAMES * names |
                           PBSNODES_NO_DELIMITER * (p->delimiter && !*p->delimiter);

    return cmd_rule_broken(pbsnodes_rules, sizeof pbsnodes_rules / sizeof pbsnodes_rules[0], given);
}

static int pbsnodes_run(void *settings, int n, char *operands[])
{
    struct pbsnodes *p = settings;
    struct conn_pool *s;
    const char *wrong = pbsnodes_find_conflict(p, n > 0);
    int c, rc;

    if (wrong && *wrong)
        cmd_error(&p->a, "%s", wrong);
    if (wrong)
        return cmd_usage(&p->a);
    s = conn_pool_create(&p->a);
    if (!s)
        return 1;
    c = conn_pool_connect(s, p->server);
    if (c < 0)
        rc = 1;
    else
        rc = is_change(p) ? pbsnodes_change(p, c, n, operands) : pbsnodes_show(p, c, n, operands);
    conn_pool_destroy(s);
    return rc;
}

const struct cmd command = {
    .options = {.program = "pbsnodes", .operands = "[host ...]", CMD_ROWS(rows)},
    .usage = "usage:\tpbsnodes [-{o|r}][-C comment][-s server] host host ...\n"
             "\tpbsnodes -o --drain letters [--at date] [-C comment][-s server] host host ...\n"
             "\tpbsnodes -l [-s server]\n"
             "\tpbsnodes [-s server] -a [-v] [-S[j][L]] [-F format] [-D delim]\n"
             "\tpbsnodes [-H] [-S[j][L]] [-F format] [-D delim] host host ...\n"
             "\tpbsnodes -v [-S[j][L]] [-F format] [-D delim] vnode vnode ...\n",
    .usage_exit = 1,
    .size = sizeof(struct pbsnodes),
    .run = pbsnodes_run,
};
