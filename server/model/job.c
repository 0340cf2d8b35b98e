/* Jobs: made, freed, and written to the store and back. See job.h.
 *
 * Two tables say which fields are stored, in which form and under which name: `hot_fields` change often,
 * what is in `fixed_fields` hardly ever does. Encoder, decoder and destructor walk the same rows, so that
 * they cannot differ. A field of value 0 is not written, and one that a row lacks stays 0: a store of an
 * older version is read as it is. State, run, preemption and token have forms of their own. Attributes are
 * written elsewhere (row_encode.c). Encoding runs for every change of every job, so it writes text
 * directly and builds no tree. */
#include "job.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "intern.h"
#include "job_run.h"
#include "json_scan.h"
#include "json_text.h"
#include "pbs_error.h"
#include "value.h"

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_ARRIVING] = "arriving",   [JOB_QUEUED] = "queued",     [JOB_HELD] = "held",
    [JOB_WAITING] = "waiting",     [JOB_STARTING] = "starting", [JOB_RUNNING] = "running",
    [JOB_SUSPENDED] = "suspended", [JOB_EXITING] = "exiting",   [JOB_FINISHED] = "finished",
    [JOB_GONE] = "gone",
};

const char *job_state_name(enum job_state s)
{
    return state_names[s];
}

int job_state_find(const char *name)
{
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        if (strcmp(state_names[i], name) == 0)
            return i;
    return -1;
}

/* ---- fields as JSON: one table, both ways ------------------------------------------------------------ */

enum job_form { FORM_INT, FORM_UINT, FORM_INT64, FORM_BOOL, FORM_TEXT };

struct job_field {
    const char *name;
    enum job_form form;
    size_t offset;
};

#define FIELD(name, form)                                                                                    \
    {                                                                                                        \
#name, FORM_##form, offsetof(struct job, name)                                                       \
    }
#define USAGE(name, form)                                                                                    \
    {                                                                                                        \
        "used_" #name, FORM_##form, offsetof(struct job, usage.name)                                         \
    }

static const struct job_field hot_fields[] = {
    FIELD(intent, INT),           FIELD(suspender, INT),     FIELD(hold, UINT),
    FIELD(dependent, BOOL),       FIELD(no_history, BOOL),   FIELD(queue_name, TEXT),
    FIELD(queue_rank, INT64),     FIELD(euser, TEXT),        FIELD(egroup, TEXT),
    FIELD(project, TEXT),         FIELD(mtime_s, INT64),     FIELD(qtime_s, INT64),
    FIELD(etime_s, INT64),        FIELD(stime_s, INT64),     FIELD(obittime_s, INT64),
    FIELD(history_s, INT64),      FIELD(exec_time_s, INT64), FIELD(ptime_s, INT64),
    FIELD(eligible_s, INT64),     FIELD(run_version, UINT),  FIELD(run_count, UINT),
    FIELD(exited, BOOL),          FIELD(exit_status, INT),   FIELD(session, INT),
    FIELD(preempt_count, UINT),   FIELD(ckpt_cost_ms, UINT), FIELD(script_have, INT64),
    USAGE(cput_ms, INT64),        USAGE(walltime_ms, INT64), USAGE(mem_kb, INT64),
    USAGE(vmem_kb, INT64),        USAGE(ncpus, UINT),        USAGE(cpupercent, UINT),
    FIELD(begun, BOOL),           FIELD(broken, BOOL),       FIELD(preempted_by, TEXT),
    FIELD(preempt_time_s, INT64), FIELD(restart_from, TEXT), FIELD(unbound, TEXT),
    FIELD(preempt_method, INT),   FIELD(accrue_type, INT),   FIELD(accrue_since_s, INT64),
    FIELD(output_at, TEXT),       FIELD(moved_to, TEXT),     FIELD(restarts_failed, UINT),
    FIELD(left_at, TEXT),
};

static const struct job_field fixed_fields[] = {
    FIELD(owner, TEXT),    FIELD(user, TEXT),          FIELD(host, TEXT),
    FIELD(ctime_s, INT64), FIELD(script_bytes, INT64),
};

enum {
    HOT_COUNT = sizeof hot_fields / sizeof hot_fields[0],
    FIXED_COUNT = sizeof fixed_fields / sizeof fixed_fields[0]
};

static const void *at(const struct job *j, const struct job_field *f)
{
    return (const char *)j + f->offset;
}

/* Fields that are 0 are left out: most are, of most jobs. */
static int64_t number_of(const struct job *j, const struct job_field *f)
{
    switch (f->form) {
    case FORM_INT:
        return *(const int *)at(j, f);
    case FORM_UINT:
        return *(const unsigned *)at(j, f);
    case FORM_INT64:
        return *(const int64_t *)at(j, f);
    case FORM_BOOL:
        return *(const bool *)at(j, f);
    case FORM_TEXT:
        break;
    }
    return 0;
}

static void add_key(struct strbuf *out, const char *name)
{
    if (out->len && out->s[out->len - 1] != '{')
        strbuf_add_char(out, ',');
    strbuf_add_char(out, '"');
    strbuf_add(out, name);
    strbuf_add(out, "\":");
}

static void add_number(struct strbuf *out, int64_t n)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do {
        *--p = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (n < 0)
        *--p = '-';
    strbuf_add_bytes(out, p, (size_t)(digits + sizeof digits - p));
}

static void add_field(struct strbuf *out, const struct job *j, const struct job_field *f)
{
    if (f->form == FORM_TEXT) {
        const char *text = *(const char *const *)at(j, f);

        if (text) {
            add_key(out, f->name);
            json_text_add(out, text);
        }
        return;
    }
    if (number_of(j, f)) {
        add_key(out, f->name);
        add_number(out, number_of(j, f));
    }
}

static void add_run(struct strbuf *out, const struct run *r)
{
    json_t *o = job_run_encode(r);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    if (text) {
        add_key(out, "run");
        strbuf_add(out, text);
    } else {
        out->failed = true;
    }
    free(text);
    json_decref(o);
}

static void add_notice(struct strbuf *out, const struct preempt_notice *n)
{
    if (n->grace_ms)
        strbuf_addf(out,
                    ",\"grace_ms\":%lld,\"grace_max_ms\":%lld,\"given_ms\":%lld,\"deadline_ms\":%lld,"
                    "\"attempt\":%u,\"foretold\":%d,\"over\":%s,\"reply\":%d",
                    (long long)n->grace_ms, (long long)n->grace_max_ms, (long long)n->given_ms,
                    (long long)n->deadline_ms, n->attempt, preempt_method_row(n->method)->letter,
                    n->over ? "true" : "false", n->reply);
}

static void add_preempt(struct strbuf *out, const struct preempt_record *p)
{
    char letters[PREEMPT_LETTERS_MAX];

    add_key(out, "preempt");
    strbuf_add(out, "{\"left\":");
    json_text_add(out, preempt_methods_format(&p->left, letters));
    strbuf_add(out, ",\"tried\":");
    json_text_add(out, preempt_methods_format(&p->tried, letters));
    strbuf_addf(out, ",\"method\":%d,\"lost_core_s\":%.0f,\"since_ms\":%lld,\"by\":",
                preempt_method_row(p->method)->letter, p->lost_core_s, (long long)p->since_ms);
    json_text_add(out, p->by);
    if (p->scheduler) {
        strbuf_add(out, ",\"scheduler\":");
        json_text_add(out, p->scheduler);
    }
    if (p->urgent) {
        strbuf_add(out, ",\"urgent\":");
        json_text_add(out, p->urgent);
    }
    if (p->charged) {
        strbuf_addf(out, ",\"charged_s\":%lld,\"charged\":", (long long)p->charged_s);
        json_text_add(out, p->charged);
    }
    if (p->policy) {
        strbuf_add(out, ",\"policy\":");
        json_text_add(out, p->policy);
    }
    if (p->authority) {
        strbuf_add(out, ",\"authority\":");
        json_text_add(out, p->authority);
    }
    if (p->offer) {
        strbuf_add(out, ",\"offer\":");
        json_text_add(out, p->offer);
    }
    add_notice(out, &p->notice);
    strbuf_add_char(out, '}');
}

static int encode_hot(const struct job *j, struct strbuf *out)
{
    strbuf_add(out, "{\"state\":");
    json_text_add(out, state_names[j->state]);
    for (size_t i = 0; i < HOT_COUNT; i++)
        add_field(out, j, &hot_fields[i]);
    if (j->run)
        add_run(out, j->run);
    if (j->preempt)
        add_preempt(out, j->preempt);
    return strbuf_add_char(out, '}');
}

static int encode_fixed(const struct job *j, struct strbuf *out)
{
    strbuf_add_char(out, '{');
    for (size_t i = 0; i < FIXED_COUNT; i++)
        add_field(out, j, &fixed_fields[i]);
    add_key(out, "token");
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < JOB_TOKEN_SIZE; i++)
        strbuf_addf(out, "%02x", j->token[i]);
    return strbuf_add(out, "\"}");
}

static int job_encode(const struct object *o, enum change_part part, struct strbuf *out)
{
    const struct job *j = (const struct job *)o;

    if (part == PART_HOT)
        return encode_hot(j, out);
    return part == PART_FIXED ? encode_fixed(j, out) : 0;
}

/* ---- making and freeing ------------------------------------------------------------------------------ */

/* By the tables too, so a text that is added to one is freed. */
static void free_texts(struct job *j, const struct job_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (f[i].form == FORM_TEXT)
            job_set_text((const char **)((char *)j + f[i].offset), NULL);
}

static void job_destroy(struct object *o)
{
    struct job *j = (struct job *)o;

    free_texts(j, hot_fields, HOT_COUNT);
    free_texts(j, fixed_fields, FIXED_COUNT);
    job_set_text(&j->resv_name, NULL);
    job_run_destroy(j->run);
    resc_free(j->tallied_amounts);
    if (j->preempt) {
        intern_unref(j->preempt->by);
        intern_unref(j->preempt->scheduler);
        intern_unref(j->preempt->urgent);
        intern_unref(j->preempt->offer);
        intern_unref(j->preempt->charged);
        intern_unref(j->preempt->policy);
        intern_unref(j->preempt->authority);
    }
    free(j->preempt);
    array_map_destroy(j->array);
    object_fini(o);
    free(j);
}

const struct object_kind job_kind = {
    .kind = CHANGE_JOB, .name = "job", .attrs = OF_JOB, .encode = job_encode, .destroy = job_destroy};

struct job *job_create(struct job_key key, const char *id)
{
    struct job *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    if (object_init(&j->obj, &job_kind, id) < 0) {
        free(j);
        return NULL;
    }
    j->key = key;
    j->state = JOB_ARRIVING;
    return j;
}

int job_set_text(const char **field, const char *text)
{
    const char *interned = intern_ref(text);

    if (text && !interned)
        return -1;
    intern_unref(*field);
    *field = interned;
    return 0;
}

bool job_is_waiting(const struct job *j)
{
    return j->state == JOB_QUEUED || j->state == JOB_HELD || j->state == JOB_WAITING;
}

bool job_is_placed(const struct job *j)
{
    return j->state == JOB_STARTING || j->state == JOB_RUNNING || j->state == JOB_SUSPENDED ||
           j->state == JOB_EXITING;
}

size_t job_count(const struct job *j)
{
    return j->array ? array_map_count(j->array, ARRAY_QUEUED) : 1;
}

bool job_is_over(const struct job *j)
{
    return j->state == JOB_FINISHED || j->state == JOB_GONE;
}

/* ---- out of the store -------------------------------------------------------------------------------- */

static int bad_row(const struct job *j, const char *what, struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "the stored row of job %s has a bad \"%s\"", j->obj.name, what);
}

static int job_put_text(struct job *j, const struct job_field *f, const struct json_member *m)
{
    json_t *tree = m->kind == JSON_SCAN_OTHER ? value_json_of_member(m) : NULL;
    char *copy = tree && json_is_string(tree) ? strdup(json_string_value(tree)) : NULL, *text = copy;
    int rc = -1;

    if (m->kind == JSON_SCAN_TEXT)
        text = m->text;
    if (text) {
        json_text_restore(text);
        rc = job_set_text((const char **)((char *)j + f->offset), text);
    }
    free(copy);
    json_decref(tree);
    return rc;
}

static int put_field(struct job *j, const struct job_field *f, const struct json_member *m)
{
    void *to = (char *)j + f->offset;

    if (f->form == FORM_TEXT)
        return job_put_text(j, f, m);
    if (m->kind != JSON_SCAN_INTEGER)
        return -1;
    switch (f->form) {
    case FORM_INT:
        *(int *)to = (int)m->n;
        return 0;
    case FORM_UINT:
        *(unsigned *)to = (unsigned)m->n;
        return 0;
    case FORM_INT64:
        *(int64_t *)to = m->n;
        return 0;
    case FORM_BOOL:
        *(bool *)to = m->n != 0;
        return 0;
    case FORM_TEXT:
        break;
    }
    return -1;
}

/* A field that we do not have is of another version, and no harm. */
static int put_named(struct job *j, const struct job_field *f, size_t n, const struct json_member *m,
                     struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (f[i].name[0] == m->name[0] && strcmp(f[i].name, m->name) == 0)
            return put_field(j, &f[i], m) < 0 ? bad_row(j, m->name, e) : 0;
    return 0;
}

static int put_state(struct job *j, const struct json_member *m, struct err *e)
{
    const char *name = m->kind == JSON_SCAN_TEXT ? m->text : "";
    int state = job_state_find(name);

    if (state < 0)
        return err_set(e, PBSE_SYSTEM, "the stored row of job %s has the unknown state \"%s\"", j->obj.name,
                       name);
    j->state = (enum job_state)state;
    return 0;
}

static int job_put_run(struct job *j, const json_t *run, struct err *e)
{
    j->run = job_run_decode(run);
    return j->run ? 0 : err_set(e, PBSE_SYSTEM, "the stored run of job %s cannot be read", j->obj.name);
}

static int put_notice(struct preempt_notice *n, const json_t *mark)
{
    json_int_t grace = 0, max = 0, given = 0, deadline = 0;
    int attempt = 0, letter = 0, over = 0;

    if (json_unpack((json_t *)mark, "{s?I, s?I, s?I, s?I, s?i, s?i, s?b, s?i}", "grace_ms", &grace,
                    "grace_max_ms", &max, "given_ms", &given, "deadline_ms", &deadline, "attempt", &attempt,
                    "foretold", &letter, "over", &over, "reply", &n->reply) < 0)
        return -1;
    n->grace_ms = grace;
    n->grace_max_ms = max;
    n->given_ms = given;
    n->deadline_ms = deadline;
    n->attempt = (unsigned)attempt;
    n->method = preempt_method_of_letter((char)letter);
    n->over = over;
    return 0;
}

static int job_put_preempt(struct job *j, const json_t *mark, struct err *e)
{
    const char *left, *tried = "", *by = NULL, *scheduler = NULL, *urgent = NULL, *offer = NULL;
    const char *policy = NULL, *authority = NULL;
    json_int_t since_s = 0, since_ms = 0; /* older rows have seconds */
    struct preempt_methods to_try, were_tried;
    double lost = 0;
    int method;

    if (json_unpack((json_t *)mark, "{s:s, s?s, s:i, s?F, s?I, s?I, s?s, s?s, s?s, s?s, s?s, s?s}", "left",
                    &left, "tried", &tried, "method", &method, "lost_core_s", &lost, "since_s", &since_s,
                    "since_ms", &since_ms, "by", &by, "scheduler", &scheduler, "urgent", &urgent, "offer",
                    &offer, "policy", &policy, "authority", &authority) < 0 ||
        !preempt_methods_parse(left, &to_try) || !preempt_methods_parse(tried, &were_tried))
        return err_set(e, PBSE_SYSTEM, "the stored preemption of job %s cannot be read", j->obj.name);
    j->preempt = calloc(1, sizeof *j->preempt);
    if (!j->preempt)
        return err_set(e, PBSE_SYSTEM, "no memory for job %s", j->obj.name);
    j->preempt->left = to_try;
    j->preempt->tried = were_tried;
    j->preempt->method = preempt_method_of_letter((char)method);
    j->preempt->lost_core_s = lost;
    j->preempt->since_ms = since_ms ? since_ms : since_s * 1000;
    j->preempt->by = intern_ref(by);
    j->preempt->scheduler = intern_ref(scheduler);
    j->preempt->urgent = intern_ref(urgent);
    j->preempt->offer = intern_ref(offer);
    j->preempt->policy = intern_ref(policy);
    j->preempt->authority = intern_ref(authority);
    j->preempt->charged = intern_ref(json_string_value(json_object_get(mark, "charged")));
    j->preempt->charged_s = json_integer_value(json_object_get(mark, "charged_s"));
    if (put_notice(&j->preempt->notice, mark) < 0)
        return err_set(e, PBSE_SYSTEM, "the stored notice of job %s cannot be read", j->obj.name);
    if (preempt_notice_is_given(j->preempt) && !j->preempt->notice.method) /* older rows do not say */
        j->preempt->notice.method = preempt_methods_first(&to_try);
    return 0;
}

/* Run and preemption: few jobs have them. */
static int put_tree(struct job *j, const struct json_member *m,
                    int (*put)(struct job *j, const json_t *tree, struct err *e), struct err *e)
{
    json_t *tree = value_json_of_member(m);
    int rc = tree ? put(j, tree, e) : bad_row(j, m->name, e);

    json_decref(tree);
    return rc;
}

static int put_token(struct job *j, const struct json_member *m, struct err *e)
{
    if (m->kind != JSON_SCAN_TEXT || m->len != 2 * sizeof j->token)
        return bad_row(j, "token", e);
    for (size_t i = 0; i < sizeof j->token; i++) {
        const char pair[3] = {m->text[2 * i], m->text[2 * i + 1], '\0'};

        j->token[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return 0;
}

static int job_put_hot(struct job *j, const struct json_member *m, struct err *e)
{
    if (strcmp(m->name, "state") == 0)
        return put_state(j, m, e);
    if (strcmp(m->name, "run") == 0)
        return put_tree(j, m, job_put_run, e);
    if (strcmp(m->name, "preempt") == 0)
        return put_tree(j, m, job_put_preempt, e);
    return put_named(j, hot_fields, HOT_COUNT, m, e);
}

static int job_put_fixed(struct job *j, const struct json_member *m, struct err *e)
{
    return strcmp(m->name, "token") == 0 ? put_token(j, m, e) : put_named(j, fixed_fields, FIXED_COUNT, m, e);
}

/* Every member of one column; `need` must be among them. */
static int put_column(struct job *j, const char *json, const char *need,
                      int (*put)(struct job *j, const struct json_member *m, struct err *e), struct err *e)
{
    char *copy = strdup(json);
    bool found = false;
    struct json_scan s;
    struct json_member m;
    int rc = copy && json_scan_begin(&s, copy) == 0 && s.close == '}' ? 0 : -1;

    while (rc >= 0 && (rc = json_scan_next(&s, &m)) > 0) {
        found |= strcmp(m.name, need) == 0;
        if (put(j, &m, e) < 0)
            goto out;
    }
    if (rc < 0 || !json_scan_is_over(&s))
        rc = err_set(e, PBSE_SYSTEM, "the stored row of job %s is not JSON", j->obj.name);
    else if (!found)
        rc = bad_row(j, need, e);
out:
    free(copy);
    return rc == 0 ? 0 : -1;
}

int job_decode(struct job *j, const char *hot_json, const char *fixed_json, struct err *e)
{
    return put_column(j, hot_json, "state", job_put_hot, e) == 0
               ? put_column(j, fixed_json, "token", job_put_fixed, e)
               : -1;
}

/* Times and amounts are multiplied by a thousand here and there, and must not overflow: none of ours comes near. */
static const int64_t number_max = (int64_t)1 << 52;

static int check_numbers(const struct job *j, const struct job_field *f, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (f[i].form == FORM_INT64 &&
            (number_of(j, &f[i]) > number_max || number_of(j, &f[i]) < -number_max))
            return bad_row(j, f[i].name, e);
    return 0;
}

static int check_run(const struct job *j, struct err *e)
{
    if (job_is_placed(j) != (j->run != NULL) && !job_is_over(j))
        return err_set(e, PBSE_SYSTEM, "the stored row of job %s has %s run, and the job is %s", j->obj.name,
                       j->run ? "a" : "no", job_state_name(j->state));
    if (j->run && !j->run->n_hosts)
        return err_set(e, PBSE_SYSTEM, "the stored run of job %s has no host", j->obj.name);
    for (size_t i = 0; j->run && i < j->run->n_hosts; i++)
        if ((unsigned)j->run->hosts[i].state >= RUN_HOST_STATE_COUNT || !*j->run->hosts[i].service)
            return err_set(e, PBSE_SYSTEM, "the stored run of job %s has a bad host %zu", j->obj.name, i);
    return 0;
}

/* Texts that each job has. */
static int check_texts(const struct job *j, struct err *e)
{
    const struct {
        const char *name, *text;
    } need[] = {{"owner", j->owner},
                {"user", j->user},
                {"host", j->host},
                {"euser", j->euser},
                {"egroup", j->egroup}};

    for (size_t i = 0; i < sizeof need / sizeof need[0]; i++)
        if (!need[i].text)
            return bad_row(j, need[i].name, e);
    return 0;
}

int job_check(const struct job *j, struct err *e)
{
    if (check_texts(j, e) < 0)
        return -1;
    if ((unsigned)j->intent > INTENT_DELETE)
        return bad_row(j, "intent", e);
    if ((unsigned)j->suspender > SUSPENDED_BY_ADMIN)
        return bad_row(j, "suspender", e);
    if (j->accrue_type < 0 || j->accrue_type > 4)
        return bad_row(j, "accrue_type", e);
    if (check_numbers(j, hot_fields, HOT_COUNT, e) < 0 || check_numbers(j, fixed_fields, FIXED_COUNT, e) < 0)
        return -1;
    return check_run(j, e);
}
