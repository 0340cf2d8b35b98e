/* Calls of the server's IFL procedures, made of words that are right, nearly right and wrong.
 *
 * A row names a procedure, how often it is drawn, and its arguments as letters in the order of ifl.x; put_field() says what
 * each letter is. A procedure of req_table.c without a row ends the program, so a new one is not forgotten. */
#include <string.h>

#include <ifl.h>

#include "histogram.h"
#include "pbs_ifl.h"
#include "req_table.h"
#include "talk.h"

static const struct {
    unsigned proc, weight;
    const char *fields;
    bool may_wait; /* the answer may be far away */
    bool acts;     /* does something to the job that it names: its owner's and managers' right */
} rows[] = {
    {IFL_SUBMIT, 120, "kdaLxe", false, false},
    {IFL_SCRIPT, 12, "jpe", false, true},
    {IFL_READ_SCRIPT, 6, "jpe", false, true},
    {IFL_PEEK, 6, "juuue", true, true},
    {IFL_COMMIT, 10, "jxe", false, true},
    {IFL_DELETE, 10, "jxe", true, true},
    {IFL_HOLD, 14, "jhxe", true, true},
    {IFL_LOCATE, 4, "jxe", false, false},
    {IFL_MANAGER, 25, "cxe", false, false},
    {IFL_MODIFY, 20, "jaxe", false, true},
    {IFL_MODIFY_ASYNC, 10, "jaxe", false, true},
    {IFL_MOVE, 12, "jdxe", true, true},
    {IFL_RELEASE, 14, "jhxe", false, true},
    {IFL_RERUN, 10, "jxe", true, true},
    {IFL_RUN, 20, "jwxe", true, true},
    {IFL_RUN_ASYNC, 30, "jwxe", false, true},
    {IFL_RUN_ACK, 20, "jwxe", false, true},
    {IFL_ORDER, 8, "jixe", false, true},
    {IFL_SELECT, 8, "SWxe", false, false},
    {IFL_SELSTAT, 8, "SWxe", false, false},
    {IFL_SHUTDOWN, 0, "uxe", true, false},
    {IFL_MESSAGE, 6, "jutxe", true, true},
    {IFL_SIGNAL, 20, "jgxe", true, true},
    {IFL_STATUS_JOB, 16, "IWxe", false, false},
    {IFL_STATUS_QUEUE, 5, "IWxe", false, false},
    {IFL_STATUS_SERVER, 5, "IWxe", false, false},
    {IFL_STATUS_NODE, 5, "IWxe", false, false},
    {IFL_SUBMIT_RESV, 8, "jaxe", true, false},
    {IFL_DELETE_RESV, 4, "jaxe", false, false},
    {IFL_CONFIRM_RESV, 4, "jwuuxe", false, false},
    {IFL_MODIFY_RESV, 4, "jaxe", true, false},
    {IFL_STATUS_RESV, 2, "IWxe", false, false},
    {IFL_STATUS_HOOK, 2, "IWxe", false, false},
    {IFL_STATUS_SCHED, 3, "IWxe", false, false},
    {IFL_STATUS_RESOURCE, 3, "IWxe", false, false},
    {IFL_SCHED_REPLY, 5, "ujute", false, false},
    {IFL_RELEASE_NODES, 8, "jbxe", true, true},
    {IFL_PREEMPT_JOBS, 8, "Je", true, false},
    {IFL_REGISTER_SCHED, 5, "nxe", false, false},
    {IFL_DELETE_LIST, 8, "Jxe", true, true},
    {IFL_WATCH, 6, "Kxe", false, false},
    {IFL_WATCH_NEXT, 14, "Ne", true, false},
    {IFL_PREEMPT_RUN, 12, "jwVxe", false, false},
    {IFL_STATUS_HOLD, 4, "IWxe", false, false},
    {IFL_ARRIVE, 5, "kdaLxejouDe", false, false},
    {IFL_TRACK, 4, "jjuue", true, false},
    {IFL_REGIST_DEP, 4, "jjdje", false, false},
    {IFL_DELETE_HOLD, 4, "jxe", false, false},
    {IFL_EXPLAIN, 5, "jxe", true, false},
    {IFL_WHEN, 5, "kdaLxxe", true, false},
    {IFL_EXPLAIN_REPLY, 4, "ujEe", false, false},
    {IFL_STATUS_COUNTS, 3, "xe", false, false},
    {IFL_SCHED_COUNTS, 3, "CCAe", false, false},
    {IFL_AUTHENTICATE, 2, "nte", false, false},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* In values: %j a job, %t the time in a little, %n a number. */
static const struct {
    const char *name, *resource, *values[10];
} attrs[] = {
    {"Resource_List",
     "select",
     {"1:ncpus=1", "2:ncpus=1", "1:ncpus=2:mem=1mb", "1:ncpus=1+1:ncpus=2", "1:ncpus=0", "", "1:none=1",
      "1:ncpus=99", "100000:ncpus=1", "2:ncpus=2:mpiprocs=2"}},
    {"Resource_List", "ncpus", {"1", "2", "0", "-1", "99999999999999999999"}},
    {"Resource_List", "walltime", {"10", "1:00:00", "-1", "99999999999", "100:99"}},
    {"Resource_List",
     "place",
     {"free", "pack", "scatter", "excl", "vscatter:shared", "exclhost", "group=host", "x"}},
    {"Resource_List", "mem", {"1mb", "1gb", "-1kb", "18446744073709551615b"}},
    {"Resource_List", "none", {"1", ""}},
    {"Job_Name",
     "",
     {"a", "talk", "1bad name", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
    {"Priority", "", {"0", "1023", "-1024", "5000", "x"}},
    {"Hold_Types", "", {"u", "n", "uos", "s", "p", "xyz"}},
    {"Rerunable", "", {"True", "False", "y", "maybe"}},
    {"Execution_Time", "", {"%t", "0", "1", "9999999999", "-5"}},
    {"depend",
     "",
     {"afterok:%j", "afterany:%j:%j", "after:%j,beforeany:%j", "before:%j", "on:1", "on:2", "afternotok:%j",
      "afterok:99999.talk", "afterok:5@127.0.0.1", "runone:%j"}},
    {"array_indices_submitted",
     "",
     {"0-3", "1-9:2", "0-99", "1-4%2", "5", "3-1", "0-9999:3", "1-3,7-9", "0-2147000000:214721"}},
    {"project", "", {"p1", "p2", "", "a b"}},
    {"Variable_List", "", {"A=b,PBS_O_WORKDIR=/", "A=b", "=", "A", "PBS_JOBID=1"}},
    {"Output_Path", "", {"/dev/null", "here:/tmp/x", "", ":"}},
    {"Mail_Points", "", {"n", "abe", "x"}},
    {"Mail_Users", "", {"a@b", "daemon", ""}},
    {"User_List", "", {"daemon", "bin", "root", "sys@talk,bin"}},
    {"group_list", "", {"daemon", "root", "nogroup"}},
    {"max_run_subjobs", "", {"1", "3", "0"}},
    {"preempt_signal", "", {"USR1", "TERM", "99"}},
    {"tolerate_node_failures", "", {"all", "job_start", "none"}},
    {"Checkpoint", "", {"c=1", "n", "u", "w=2", "x"}},
    {"Keep_Files", "", {"oe", "n", "ood"}},
    {"comment", "", {"something", ""}},
    {"run_count", "", {"3", "-1"}},
    {"Job_Owner", "", {"bin@talk"}},
    {"job_state", "", {"R", "QH"}},
    {"queue", "", {"workq", "q2"}},
    {"no_such", "", {"1"}},
};

/* What managers say; users try it, too. */
static const struct {
    int command, kind;
    const char *name, *attr, *resource, *value;
} orders[] = {
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "comment", "", "%n"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "scheduling", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "scheduling", "", "False"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "max_queued", "", "[u:PBS_GENERIC=20]"},
    {MGR_CMD_UNSET, MGR_OBJ_SERVER, "", "max_queued", "", ""},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "eligible_time_enable", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "max_array_size", "", "200"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "resources_default", "ncpus", "1"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "resources_max", "ncpus", "50"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "job_requeue_timeout", "", "5"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "node_fail_requeue", "", "3"},
    {MGR_CMD_SET, MGR_OBJ_SERVER, "", "no_such", "", "1"},
    {MGR_CMD_CREATE, MGR_OBJ_QUEUE, "q2", "queue_type", "", "Execution"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", "enabled", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", "started", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", "started", "", "False"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", "max_run", "", "[o:PBS_ALL=2]"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", "Priority", "", "200"},
    {MGR_CMD_DELETE, MGR_OBJ_QUEUE, "q2", "", "", ""},
    {MGR_CMD_CREATE, MGR_OBJ_QUEUE, "r", "queue_type", "", "Route"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "r", "route_destinations", "", "q2,workq"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "r", "enabled", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "r", "started", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", "enabled", "", "False"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", "enabled", "", "True"},
    {MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", "started", "", "True"},
    {MGR_CMD_CREATE, MGR_OBJ_RSC, "foo", "type", "", "long"},
    {MGR_CMD_SET, MGR_OBJ_RSC, "foo", "flag", "", "nh"},
    {MGR_CMD_DELETE, MGR_OBJ_RSC, "foo", "", "", ""},
    {MGR_CMD_SET, MGR_OBJ_NODE, "n1", "resources_available", "foo", "3"},
    {MGR_CMD_CREATE, MGR_OBJ_NODE, "n3", "", "", ""},
    {MGR_CMD_DELETE, MGR_OBJ_NODE, "n3", "", "", ""},
    {MGR_CMD_DELETE, MGR_OBJ_NODE, "n2", "", "", ""},
    {MGR_CMD_SET, MGR_OBJ_NODE, "n1", "state", "", "offline"},
    {MGR_CMD_UNSET, MGR_OBJ_NODE, "n1", "state", "", ""},
    {MGR_CMD_SET, MGR_OBJ_NODE, "n2", "state", "", "offline"},
    {MGR_CMD_UNSET, MGR_OBJ_NODE, "n2", "state", "", ""},
    {MGR_CMD_SET, MGR_OBJ_NODE, "n2", "resources_available", "ncpus", "6"},
    {MGR_CMD_SET, MGR_OBJ_NODE, "n1", "queue", "", "q2"},
    {MGR_CMD_UNSET, MGR_OBJ_NODE, "n1", "queue", "", ""},
    {MGR_CMD_CREATE, MGR_OBJ_SCHED, "other", "", "", ""},
    {MGR_CMD_SET, MGR_OBJ_SCHED, "default", "preempt_order", "", "SCRD"},
    {MGR_CMD_SET, MGR_OBJ_SCHED, "default", "preempt_grace", "", "5"},
    {MGR_CMD_UNSET, MGR_OBJ_SCHED, "default", "preempt_grace", "", ""},
    {MGR_CMD_SET, MGR_OBJ_SCHED, "default", "scheduling", "", "True"},
    {MGR_CMD_DELETE, MGR_OBJ_SCHED, "other", "", "", ""},
    {MGR_CMD_CREATE, MGR_OBJ_HOOK, "h", "", "", ""},
    {MGR_CMD_LIST, MGR_OBJ_SERVER, "", "", "", ""},
    {99, 99, "x", "y", "z", "w"},
};

/* What a call turns out to say. */
struct said {
    struct talk *t;
    struct caller *c;
    struct byte_buf *b;
    int job;      /* the first one named, or -1 */
    int last;     /* the last one */
    bool foreign; /* one that lives is another's */
    bool purges;  /* history, too */
    bool waits;   /* for the scheduler */
    bool pieces;  /* its script is to come in pieces */
};

/* --- words ------------------------------------------------------------------------------------------------ */

static void put_u32(struct byte_buf *b, uint32_t v)
{
    char at[4];

    rpc_buf_put_u32(at, v);
    if (byte_buf_add(b, at, sizeof at) < 0)
        talk_fail("no memory");
}

static void put_u64(struct byte_buf *b, uint64_t v)
{
    put_u32(b, (uint32_t)(v >> 32));
    put_u32(b, (uint32_t)v);
}

static void put_bytes(struct byte_buf *b, const void *bytes, size_t n)
{
    put_u32(b, (uint32_t)n);
    if (byte_buf_add(b, bytes, n) < 0 || byte_buf_add(b, "\0\0\0", -n % 4) < 0)
        talk_fail("no memory");
}

static void put_text(struct byte_buf *b, const char *text)
{
    put_bytes(b, text, strlen(text));
}

static int pick_job(struct said *s)
{
    struct talk *t = s->t;
    size_t recent = t->n_jobs < 10 ? t->n_jobs : 10;
    int best = -1;

    for (int tries = 0; tries < 4 && t->n_jobs; tries++) {
        best = (int)(t->n_jobs - 1 -
                     chance_below(&t->chance, chance_one_in(&t->chance, 8) ? t->n_jobs : recent));
        if (s->c->kind != CALLER_USER || t->jobs[best].owner == s->c->who)
            break;
    }
    return best;
}

/* The name of a job, a subjob, a range, or of nothing. */
static void name_job(struct said *s, char *out, size_t size)
{
    static const char *const odd[] = {"",
                                      "x",
                                      "0",
                                      "1[",
                                      "1[].talk",
                                      "-1.talk",
                                      "1.other",
                                      "1@other",
                                      "1[0-9].talk",
                                      "1[5]",
                                      "99999.talk",
                                      "1[1-100000:3].talk",
                                      "1.talk@127.0.0.1",
                                      "1[1,2,3]",
                                      "1[0-2147483646:2147]",
                                      "1[0-2147483646:2148].talk",
                                      "2[0-2147483646:2,1-2147483645:2]"};
    struct chance *x = &s->t->chance;
    int i = pick_job(s);
    const char *id, *open;

    if (i < 0 || chance_one_in(x, 12)) {
        snprintf(out, size, "%s", CHANCE_PICK(x, odd));
        return;
    }
    s->job = s->job < 0 ? i : s->job;
    s->last = i;
    id = s->t->jobs[i].id;
    s->foreign |= s->t->jobs[i].owner != TALK_ANYBODY && s->t->jobs[i].owner != s->c->who;
    open = strstr(id, "[]");
    if (open && chance_one_in(x, 2))
        snprintf(out, size, "%.*s[%zu%s]%s", (int)(open - id), id, chance_below(x, 10),
                 chance_one_in(x, 4) ? "-7:2" : "", open + 2);
    else
        snprintf(out, size, "%s", id);
}

/* A value of the tables with its %. */
static void put_value(struct said *s, const char *value)
{
    char text[1024], id[TALK_ID_MAX];
    size_t n = 0;

    for (; *value && n < sizeof text - 100; value++) {
        if (*value != '%' || !strchr("jtn", value[1]) || !value[1]) {
            text[n++] = *value;
            continue;
        }
        value++;
        if (*value == 'j') {
            bool foreign = s->foreign;
            int job = s->job;

            name_job(s, id, sizeof id);
            s->foreign = foreign; /* every user may depend on another's job */
            s->job = job;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", id);
        } else if (*value == 't') {
            n += (size_t)snprintf(text + n, sizeof text - n, "%lld",
                                  (long long)house_now_s(&s->t->house) +
                                      (long long)chance_below(&s->t->chance, 2000));
        } else {
            n += (size_t)snprintf(text + n, sizeof text - n, "%zu", chance_below(&s->t->chance, 100));
        }
    }
    text[n] = '\0';
    put_text(s->b, text);
    talk_say(s->t, "       with the value \"%s\"", text);
}

static void put_attr(struct said *s, size_t i)
{
    struct chance *x = &s->t->chance;
    size_t n = 0;

    while (n < 10 && attrs[i].values[n])
        n++;
    put_text(s->b, attrs[i].name);
    put_text(s->b, attrs[i].resource);
    talk_say(s->t, "       an attribute %s %s", attrs[i].name, attrs[i].resource);
    /* the first value is a good one */
    put_value(s, attrs[i].values[chance_one_in(x, 2) ? 0 : chance_below(x, n)]);
    put_u32(s->b, chance_one_in(x, 10) ? (uint32_t)chance_below(x, 14) : SET);
}

/* What a submission has that is to be taken: a selection, and at most one thing more. */
static void put_good_attrs(struct said *s)
{
    static const char *const others[] = {
        "depend",  "depend",    "array_indices_submitted", "Hold_Types", "Execution_Time",
        "project", "Rerunable", "Variable_List",           "Priority",   "Checkpoint"};
    const char *other = CHANCE_PICK(&s->t->chance, others);
    bool more = chance_one_in(&s->t->chance, 2);
    size_t i = 0;

    while (strcmp(attrs[i].name, other) != 0)
        i++;
    put_u32(s->b, 1 + more);
    put_text(s->b, "Resource_List");
    put_text(s->b, "select");
    put_text(s->b, attrs[0].values[chance_below(&s->t->chance, 4)]);
    put_u32(s->b, SET);
    if (!more)
        return;
    put_text(s->b, other);
    put_text(s->b, "");
    put_value(s, attrs[i].values[0]);
    put_u32(s->b, SET);
}

static void put_attrs(struct said *s)
{
    struct chance *x = &s->t->chance;
    size_t n = chance_below(x, 5);

    if (!chance_one_in(x, 3)) {
        put_good_attrs(s);
        return;
    }
    put_u32(s->b, (uint32_t)n);
    while (n--)
        put_attr(s, chance_below(x, chance_one_in(x, 5) ? sizeof attrs / sizeof attrs[0] : 18));
}

static void put_wanted(struct said *s)
{
    struct chance *x = &s->t->chance;
    size_t n = chance_one_in(x, 3) ? chance_below(x, 4) : 0;

    put_u32(s->b, (uint32_t)n);
    while (n--) {
        size_t i = chance_below(x, sizeof attrs / sizeof attrs[0]);

        put_text(s->b, attrs[i].name);
        put_text(s->b, attrs[i].resource);
    }
}

/* A script holds its owner's secret: who sees it may read that script. */
static void put_script(struct said *s)
{
    struct chance *x = &s->t->chance;
    char text[200];
    int n = snprintf(text, sizeof text, "#!/bin/sh\n# SECRET-%s-\nexit 0\n",
                     s->c->kind == CALLER_USER ? talk_users[s->c->who] : "root");

    s->pieces = chance_one_in(x, 12);
    if (s->pieces) { /* it comes later, in pieces, or never */
        put_u64(s->b, chance_one_in(x, 4) ? chance_next(x) >> chance_below(x, 64) : (uint64_t)n * 3);
        put_text(s->b, "");
    } else {
        put_u64(s->b, chance_one_in(x, 40) ? (uint64_t)n + 1 : (uint64_t)n);
        put_bytes(s->b, text, (size_t)n);
    }
}

/* A piece: offset and bytes; mostly the next one of a job whose script comes in pieces. */
static void put_piece(struct said *s)
{
    struct chance *x = &s->t->chance;
    char text[100];
    int n = snprintf(text, sizeof text, "#!/bin/sh\n# SECRET-%s-\nexit 0\n",
                     s->c->kind == CALLER_USER ? talk_users[s->c->who] : "root");

    put_u64(s->b,
            chance_one_in(x, 5) ? chance_next(x) >> chance_below(x, 64) : chance_below(x, 4) * (size_t)n);
    put_bytes(s->b, text, chance_one_in(x, 8) ? 0 : (size_t)n);
}

static void put_counts(struct said *s)
{
    struct chance *x = &s->t->chance;
    size_t n = chance_one_in(x, 4) ? chance_below(x, 33) : HISTOGRAM_BOUNDS + 1;

    put_u32(s->b, (uint32_t)n);
    while (n--)
        put_u64(s->b, chance_next(x));
}

static void put_place(struct said *s)
{
    static const char *const places[] = {"(n1:ncpus=1)",
                                         "(n1:ncpus=1)",
                                         "(n2:ncpus=1)",
                                         "(n1:ncpus=2)",
                                         "(n1:ncpus=1)+(n2:ncpus=1)",
                                         "",
                                         "n1",
                                         "n1+n2",
                                         "(n1:ncpus=99)",
                                         "(n9:ncpus=1)",
                                         "(n1:none=1)",
                                         "((",
                                         "(n1:ncpus=1+n2:ncpus=1)",
                                         "(n2:ncpus=2:mem=1mb)"};

    const char *place = CHANCE_PICK(&s->t->chance, places);

    s->waits |= !*place;
    put_text(s->b, place);
}

static void put_extend(struct said *s)
{
    static const char *const texts[] = {"force",
                                        "deletehist",
                                        "x",
                                        "t",
                                        "xt",
                                        "deadline=30",
                                        "keep_select=1",
                                        "nomail=1",
                                        "suppress_email",
                                        "forcedeletehist",
                                        "no such thing"};
    const char *text = chance_one_in(&s->t->chance, 3) ? CHANCE_PICK(&s->t->chance, texts) : "";

    s->purges |= strstr(text, "deletehist") != NULL;
    put_text(s->b, text);
}

static void put_order(struct said *s)
{
    size_t i = chance_below(&s->t->chance, sizeof orders / sizeof orders[0]);

    put_u32(s->b, (uint32_t)orders[i].command);
    put_u32(s->b, (uint32_t)orders[i].kind);
    put_text(s->b, orders[i].name);
    put_u32(s->b, *orders[i].attr != '\0');
    if (*orders[i].attr) {
        put_text(s->b, orders[i].attr);
        put_text(s->b, orders[i].resource);
        put_value(s, orders[i].value);
        put_u32(s->b, chance_one_in(&s->t->chance, 10) ? (uint32_t)chance_below(&s->t->chance, 12) : SET);
    }
}

static void put_jobs(struct said *s)
{
    size_t n = chance_below(&s->t->chance, 5);
    char id[TALK_ID_MAX];

    put_u32(s->b, (uint32_t)n);
    while (n--) {
        name_job(s, id, sizeof id);
        put_text(s->b, id);
    }
}

static void put_victims(struct said *s)
{
    static const char *const methods[] = {"", "S", "R", "SCRD", "X", "D", "CR"};
    struct chance *x = &s->t->chance;
    size_t n = chance_below(x, 4);
    char id[TALK_ID_MAX];

    put_u32(s->b, (uint32_t)n);
    while (n--) {
        name_job(s, id, sizeof id);
        put_text(s->b, id);
        put_u32(s->b, (uint32_t)chance_below(x, 4));
        put_text(s->b, CHANCE_PICK(x, methods));
    }
}

static void put_kinds(struct said *s)
{
    size_t n = chance_one_in(&s->t->chance, 4) ? chance_below(&s->t->chance, 17) : 8;

    put_u32(s->b, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_u32(s->b, (uint32_t)(i % 8));
        put_wanted(s);
    }
}

static void put_cursor(struct said *s)
{
    struct chance *x = &s->t->chance;
    bool wild = chance_one_in(x, 6);

    put_u32(s->b, wild ? (uint32_t)chance_below(x, 9) : s->t->watch);
    put_u64(s->b, wild ? chance_below(x, 5) : s->t->epoch);
    put_u64(s->b, chance_one_in(x, 10) ? chance_next(x) : s->t->number);
}

static void put_found(struct said *s)
{
    size_t n = chance_below(&s->t->chance, 3);
    char id[TALK_ID_MAX];

    put_u32(s->b, (uint32_t)n);
    while (n--) {
        name_job(s, id, sizeof id);
        put_text(s->b, id);
        put_u32(s->b, 0);
        put_text(s->b, "found");
    }
}

static void put_token(struct said *s)
{
    uint64_t token[2] = {chance_next(&s->t->chance), s->t->step};

    if (chance_one_in(&s->t->chance, 30))
        token[0] = token[1] = 4711; /* again and again */
    if (byte_buf_add(s->b, token, sizeof token) < 0)
        talk_fail("no memory");
}

static void put_field(struct said *s, char letter)
{
    static const char *const queues[] = {
        "", "", "", "", "workq", "workq", "workq", "q2", "q2", "r", "none", "q2@talk", "workq@127.0.0.1:1",
        "@"};
    static const char *const holds[] = {"u", "u", "o", "s", "n", "uos", "p", "x", ""};
    static const char *const signals[] = {"suspend", "suspend", "resume", "resume",        "suspend",
                                          "TERM",    "SIGKILL", "9",      "admin-suspend", "admin-resume",
                                          "0",       "NONE",    ""};
    static const char *const vnodes[] = {"", "n1", "n2", "n1+n2", "n9", "+"};
    static const char *const names[] = {"default", "default", "other", "none", "munge"};
    static const char *const owners[] = {"daemon@there", "bin@there", "nobody-here@there", "root@there", "x"};
    static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 100, 4294967295u};
    struct chance *x = &s->t->chance;
    char id[TALK_ID_MAX];

    switch (letter) {
    case 'k':
        put_token(s);
        return;
    case 'd':
        put_text(s->b, CHANCE_PICK(x, queues));
        return;
    case 'a':
    case 'S':
        put_attrs(s);
        return;
    case 'L':
        put_script(s);
        return;
    case 'D':
        put_text(s->b, "");
        return;
    case 'x':
        put_extend(s);
        return;
    case 'e':
        put_bytes(s->b, "abcd", chance_one_in(x, 20) ? chance_below(x, 5) : 0);
        return;
    case 'I':
    case 'j':
    case 'i':
        if (letter == 'I' && chance_one_in(x, 2))
            id[0] = '\0';
        else
            name_job(s, id, sizeof id);
        put_text(s->b, id);
        return;
    case 'J':
        put_jobs(s);
        return;
    case 'p':
        put_piece(s);
        return;
    case 'h':
        put_text(s->b, CHANCE_PICK(x, holds));
        return;
    case 'g':
        put_text(s->b, CHANCE_PICK(x, signals));
        return;
    case 'w':
        put_place(s);
        return;
    case 'b':
        put_text(s->b, CHANCE_PICK(x, vnodes));
        return;
    case 't':
        put_text(s->b, chance_one_in(x, 3) ? "\33[2J%s%n" : "text");
        return;
    case 'u':
        put_u32(s->b, CHANCE_PICK(x, numbers));
        return;
    case 'C':
        put_u64(s->b, chance_next(x) >> chance_below(x, 64));
        return;
    case 'A':
        put_counts(s);
        return;
    case 'n':
        put_text(s->b, CHANCE_PICK(x, names));
        return;
    case 'o':
        put_text(s->b, CHANCE_PICK(x, owners));
        return;
    case 'c':
        put_order(s);
        return;
    case 'W':
        put_wanted(s);
        return;
    case 'V':
        put_victims(s);
        return;
    case 'K':
        put_kinds(s);
        return;
    case 'N':
        put_cursor(s);
        return;
    case 'E':
        put_found(s);
        return;
    default:
        talk_fail("no field %c", letter);
    }
}

/* --- calls ------------------------------------------------------------------------------------------------ */

const char *words_proc_name(unsigned proc)
{
    for (size_t i = 0; i < req_table_count; i++)
        if (req_table[i].proc == proc)
            return req_table[i].name;
    return proc == IFL_AUTHENTICATE ? "Authenticate" : "no procedure";
}

static int row_of(unsigned proc)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].proc == proc)
            return i;
    return -1;
}

int words_proc(struct talk *t)
{
    size_t sum = 0, n;
    int i;

    for (size_t k = 0; k < req_table_count; k++)
        if (row_of(req_table[k].proc) < 0)
            talk_fail("%s has no row in talk_words.c", req_table[k].name);
    for (i = 0; i < ROWS; i++)
        sum += rows[i].weight;
    n = chance_below(&t->chance, sum);
    for (i = 0; n >= rows[i].weight; i++)
        n -= rows[i].weight;
    return (int)rows[i].proc;
}

void words_change(struct talk *t, struct byte_buf *b)
{
    for (size_t n = 1 + chance_below(&t->chance, 4); n && b->len >= 4; n--) {
        size_t at = chance_below(&t->chance, b->len);

        switch (chance_below(&t->chance, 4)) {
        case 0:
            b->bytes[at] ^= (char)(1 << chance_below(&t->chance, 8));
            break;
        case 1:
            b->bytes[at] = (char)chance_next(&t->chance);
            break;
        case 2:
            rpc_buf_put_u32(b->bytes + at / 4 * 4 - (at / 4 * 4 + 4 > b->len ? 4 : 0),
                            (uint32_t)(chance_next(&t->chance) >> chance_below(&t->chance, 64)));
            break;
        default:
            byte_buf_cut(b, b->len - chance_below(&t->chance, b->len / 4 + 1) / 4 * 4);
            break;
        }
    }
}

/* What hosts are asked for, or threads, has an end: three hours is the longest that a site may set (job_requeue_timeout). */
static int64_t last_moment(const struct said *s, unsigned proc)
{
    static const unsigned procs[] = {IFL_MESSAGE, IFL_SIGNAL, IFL_HOLD,        IFL_RERUN,
                                     IFL_RUN,     IFL_DELETE, IFL_DELETE_LIST, IFL_RELEASE_NODES};

    for (size_t i = 0; i < sizeof procs / sizeof procs[0] && !s->waits; i++)
        if (procs[i] == proc)
            return house_now_s(&s->t->house) + 3 * 3600;
    return 0;
}

/* Kept for the answer, and a history that may go. */
static void note(struct said *s, struct caller_call *call, int row)
{
    bool is_user = s->c->kind == CALLER_USER;

    call->may_wait = rows[row].may_wait || s->waits;
    call->till_s = last_moment(s, rows[row].proc);
    call->foreign = is_user && s->foreign && rows[row].acts;
    call->in_pieces = s->pieces;
    if (s->purges)
        for (size_t i = 0; i < s->t->n_jobs; i++)
            if (!is_user || s->t->jobs[i].owner == s->c->who)
                s->t->jobs[i].may_vanish = true;
}

bool words_call(struct talk *t, struct caller *c, int proc)
{
    struct byte_buf b;
    struct said s = {.t = t, .c = c, .b = &b, .job = -1, .last = -1};
    int row = row_of((unsigned)proc);
    struct caller_call *call;

    if (!caller_has_room(c))
        return false;
    byte_buf_init(&b);
    for (const char *f = rows[row].fields; *f; f++)
        put_field(&s, *f);
    if (chance_one_in(&t->chance, 25)) {
        words_change(t, &b);
        s.foreign = false; /* who knows whose it is now */
        s.purges = s.pieces = s.waits = true;
    }
    call = caller_send(c, PBS_IFL_PROG, (uint32_t)proc, &b);
    note(&s, call, row);
    talk_say(t, "%s: %s%s%s", talk_name(c), words_proc_name((unsigned)proc), s.job < 0 ? "" : " ",
             s.job < 0 ? "" : t->jobs[s.job].id);
    byte_buf_fini(&b);
    return true;
}
