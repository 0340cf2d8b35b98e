/* The record of a run, and its way to the store and back. See job_run.h.
 *
 * It is stored as one JSON object in the job's hot part. `fields` says which fields of the struct are members and when: those
 * that came later may be missing, so a store of an older version is read. What is only true of this process (sent_mono_ms) has
 * no row. To add a stored member: a field of the struct and its row; free its text in job_run_destroy if it is one. */
#include "job_run.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

struct run *job_run_create(unsigned version, const char *exec_vnode, const char *exec_host, size_t n_hosts)
{
    struct run *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->version = version;
    r->n_hosts = r->n_saves[RUN_SAVES_UNKNOWN] = n_hosts;
    r->exec_vnode = intern_ref(exec_vnode);
    r->exec_host = intern_ref(exec_host);
    r->hosts = calloc(n_hosts ? n_hosts : 1, sizeof *r->hosts);
    if (!r->hosts || !r->exec_vnode || !r->exec_host) {
        job_run_destroy(r);
        return NULL;
    }
    return r;
}

void job_run_destroy(struct run *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->hosts && i < r->n_hosts; i++) {
        intern_unref(r->hosts[i].service);
        intern_unref(r->hosts[i].image);
        intern_unref(r->hosts[i].kept);
        intern_unref(r->hosts[i].declared);
    }
    free(r->hosts);
    intern_unref(r->exec_vnode);
    intern_unref(r->exec_host);
    intern_unref(r->note);
    intern_unref(r->deleted_by);
    intern_unref(r->no_image_why);
    intern_unref(r->lost_host);
    intern_unref(r->now_vnode);
    intern_unref(r->now_host);
    intern_unref(r->freed);
    intern_unref(r->declared);
    free(r);
}

/* Members that most hosts have not. */
static int add_conversation(json_t *o, const struct run_host *h)
{
    if ((h->kept && json_object_set_new(o, "kept", json_string(h->kept)) < 0) ||
        (h->declared && json_object_set_new(o, "declared", json_string(h->declared)) < 0) ||
        (h->need_s && json_object_set_new(o, "need_s", json_integer(h->need_s)) < 0) ||
        (h->takes_part && json_object_set_new(o, "takes_part", json_true()) < 0) ||
        (h->answer && json_object_set_new(o, "answer", json_integer(h->answer)) < 0))
        return -1;
    return 0;
}

static json_t *encode_host(const struct run_host *h)
{
    json_t *o = json_pack("{s:s, s:i, s:I, s:b, s:b, s:i, s:I, s:I, s:I, s:I, s:i, s:i}", "service",
                          h->service, "state", (int)h->state, "seq", (json_int_t)h->seq, "suspended",
                          (int)h->suspended, "leaving", (int)h->leaving, "status", h->status, "cput_ms",
                          (json_int_t)h->usage.cput_ms, "walltime_ms", (json_int_t)h->usage.walltime_ms,
                          "mem_kb", (json_int_t)h->usage.mem_kb, "vmem_kb", (json_int_t)h->usage.vmem_kb,
                          "ncpus", (int)h->usage.ncpus, "cpupercent", (int)h->usage.cpupercent);

    if (o && add_conversation(o, h) < 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}

enum run_form { RUN_FORM_BOOL, RUN_FORM_INT, RUN_FORM_UINT, RUN_FORM_INT64, RUN_FORM_TEXT };
/* When a field has its member. Rows that an older version of the server wrote lack those that came later. */
enum run_member { RUN_MEMBER_ALWAYS, RUN_MEMBER_CAME_LATER, RUN_MEMBER_IF_SET };

struct run_field {
    const char *name;
    enum run_form form;
    enum run_member member;
    size_t offset;
};

#define FIELD(name, form, member)                                                                            \
    {                                                                                                        \
#name, RUN_FORM_##form, RUN_MEMBER_##member, offsetof(struct run, name)                              \
    }

/* version, exec_vnode and exec_host go before these, hosts and phase behind them. */
static const struct run_field fields[] = {
    FIELD(forced, BOOL, ALWAYS),
    FIELD(launched, BOOL, ALWAYS),
    FIELD(started, BOOL, ALWAYS),
    FIELD(finished, BOOL, ALWAYS),
    FIELD(status, INT, ALWAYS),
    FIELD(reason, INT, ALWAYS),
    FIELD(note, TEXT, IF_SET),
    FIELD(lost, INT, CAME_LATER),
    FIELD(lost_host, TEXT, IF_SET),
    FIELD(attempt, UINT, ALWAYS),
    FIELD(terminations, UINT, ALWAYS),
    FIELD(suspending, BOOL, ALWAYS),
    FIELD(resuming, BOOL, ALWAYS),
    FIELD(altered, BOOL, CAME_LATER),
    FIELD(checkpointing, BOOL, CAME_LATER),
    FIELD(notices, UINT, CAME_LATER),
    FIELD(leaves_vnodes, BOOL, CAME_LATER),
    FIELD(suspended_s, INT64, CAME_LATER),
    FIELD(paused_s, INT64, CAME_LATER),
    FIELD(deleted_by, TEXT, IF_SET),
    FIELD(staying, BOOL, IF_SET),
    FIELD(withdrawing, BOOL, IF_SET),
    FIELD(hook_status, INT, IF_SET),
    FIELD(hook_ends, BOOL, IF_SET),
    FIELD(declared, TEXT, IF_SET),
    FIELD(need_s, UINT, IF_SET),
};

enum { N_FIELDS = sizeof fields / sizeof fields[0] };

/* The JSON value of a field, or NULL: no memory, or a text that is not set. */
static json_t *encode_field(const struct run *r, const struct run_field *f)
{
    const void *at = (const char *)r + f->offset;

    switch (f->form) {
    case RUN_FORM_BOOL:
        return json_boolean(*(const bool *)at);
    case RUN_FORM_INT:
        return json_integer(*(const int *)at);
    case RUN_FORM_UINT:
        return json_integer(*(const unsigned *)at);
    case RUN_FORM_INT64:
        return json_integer(*(const int64_t *)at);
    case RUN_FORM_TEXT:
        return json_string(*(const char *const *)at);
    }
    return NULL;
}

/* Return true if the field is not 0, false or NULL. */
static bool field_is_set(const struct run *r, const struct run_field *f)
{
    const void *at = (const char *)r + f->offset;

    switch (f->form) {
    case RUN_FORM_BOOL:
        return *(const bool *)at;
    case RUN_FORM_INT:
    case RUN_FORM_UINT:
        return *(const unsigned *)at;
    case RUN_FORM_INT64:
        return *(const int64_t *)at;
    case RUN_FORM_TEXT:
        return *(const char *const *)at;
    }
    return false;
}

static int encode_fields(const struct run *r, json_t *o)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if ((fields[i].member != RUN_MEMBER_IF_SET || field_is_set(r, &fields[i])) &&
            json_object_set_new(o, fields[i].name, encode_field(r, &fields[i])) < 0)
            return -1;
    return 0;
}

static int encode_hosts(const struct run *r, json_t *o)
{
    json_t *hosts = json_array();

    if (json_object_set_new(o, "hosts", hosts) < 0)
        return -1;
    for (size_t i = 0; i < r->n_hosts; i++)
        if (json_array_append_new(hosts, encode_host(&r->hosts[i])) < 0)
            return -1;
    return 0;
}

/* A member that is written only when vnodes were given back. */
static int encode_phase(const struct run *r, json_t *o)
{
    json_t *phase;

    if (!r->now_vnode && !r->freed)
        return 0;
    phase = json_pack("{s:s*, s:s*, s:s*, s:I, s:I, s:I, s:I}", "vnode", r->now_vnode, "host", r->now_host,
                      "freed", r->freed, "cput_ms", (json_int_t)r->before_phase.cput_ms, "walltime_ms",
                      (json_int_t)r->before_phase.walltime_ms, "mem_kb", (json_int_t)r->before_phase.mem_kb,
                      "vmem_kb", (json_int_t)r->before_phase.vmem_kb);
    return json_object_set_new(o, "phase", phase);
}

json_t *job_run_encode(const struct run *r)
{
    json_t *o = json_pack("{s:i, s:s, s:s}", "version", (int)r->version, "exec_vnode", r->exec_vnode,
                          "exec_host", r->exec_host);

    if (o && encode_fields(r, o) == 0 && encode_hosts(r, o) == 0 && encode_phase(r, o) == 0)
        return o;
    json_decref(o);
    return NULL;
}

static int decode_host(const json_t *o, struct run_host *h)
{
    const char *service = NULL;
    int state = 0, suspended = 0, leaving = 0, status = 0, ncpus = 0, cpupercent = 0;
    json_int_t seq = 0, cput = 0, walltime = 0, mem = 0, vmem = 0;

    if (json_unpack((json_t *)o, "{s:s, s:i, s:I, s:b, s?b, s?i, s:I, s:I, s:I, s:I, s:i, s:i}", "service",
                    &service, "state", &state, "seq", &seq, "suspended", &suspended, "leaving", &leaving,
                    "status", &status, "cput_ms", &cput, "walltime_ms", &walltime, "mem_kb", &mem, "vmem_kb",
                    &vmem, "ncpus", &ncpus, "cpupercent", &cpupercent) < 0)
        return -1;
    h->service = intern_ref(service);
    h->state = (enum run_host_state)state;
    h->seq = (uint64_t)seq;
    h->suspended = suspended;
    h->leaving = leaving;
    h->status = status;
    h->usage = (struct job_usage){cput, walltime, mem, vmem, (unsigned)ncpus, (unsigned)cpupercent};
    h->kept = intern_ref(json_string_value(json_object_get(o, "kept")));
    h->declared = intern_ref(json_string_value(json_object_get(o, "declared")));
    h->need_s = (unsigned)json_integer_value(json_object_get(o, "need_s"));
    h->takes_part = json_is_true(json_object_get(o, "takes_part"));
    h->answer = (int)json_integer_value(json_object_get(o, "answer"));
    return h->service ? 0 : -1;
}

static int decode_phase(const json_t *o, struct run *r)
{
    const json_t *phase = json_object_get(o, "phase");
    const char *vnode = NULL, *host = NULL, *freed = NULL;
    json_int_t cput = 0, walltime = 0, mem = 0, vmem = 0;

    if (!phase)
        return 0;
    if (json_unpack((json_t *)phase, "{s?s, s?s, s?s, s?I, s?I, s?I, s?I}", "vnode", &vnode, "host", &host,
                    "freed", &freed, "cput_ms", &cput, "walltime_ms", &walltime, "mem_kb", &mem, "vmem_kb",
                    &vmem) < 0)
        return -1;
    r->now_vnode = intern_ref(vnode);
    r->now_host = intern_ref(host);
    r->freed = intern_ref(freed);
    r->before_phase =
        (struct job_usage){.cput_ms = cput, .walltime_ms = walltime, .mem_kb = mem, .vmem_kb = vmem};
    return 0;
}

static int decode_field(const json_t *value, struct run *r, const struct run_field *f)
{
    void *at = (char *)r + f->offset;

    switch (f->form) {
    case RUN_FORM_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value) ? 0 : -1;
    case RUN_FORM_INT:
        *(int *)at = (int)json_integer_value(value);
        return json_is_integer(value) ? 0 : -1;
    case RUN_FORM_UINT:
        *(unsigned *)at = (unsigned)json_integer_value(value);
        return json_is_integer(value) ? 0 : -1;
    case RUN_FORM_INT64:
        *(int64_t *)at = json_integer_value(value);
        return json_is_integer(value) ? 0 : -1;
    case RUN_FORM_TEXT:
        *(const char **)at = intern_ref(json_string_value(value));
        return json_is_string(value) ? 0 : -1;
    }
    return -1;
}

static int decode_fields(const json_t *o, struct run *r)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const json_t *value = json_object_get(o, fields[i].name);

        if (!value && fields[i].member == RUN_MEMBER_ALWAYS)
            return -1;
        if (value && decode_field(value, r, &fields[i]) < 0)
            return -1;
    }
    return 0;
}

/* A store of before says only of the run what its program has declared: it counts for the host of the script. */
static void give_declaration(struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (r->hosts[i].declared)
            return;
    if (r->n_hosts && r->declared) {
        r->hosts[0].declared = intern_again(r->declared);
        r->hosts[0].need_s = r->need_s;
    }
}

struct run *job_run_decode(const json_t *o)
{
    const char *exec_vnode, *exec_host;
    json_t *hosts;
    int version;
    struct run *r;

    if (json_unpack((json_t *)o, "{s:i, s:s, s:s, s:o}", "version", &version, "exec_vnode", &exec_vnode,
                    "exec_host", &exec_host, "hosts", &hosts) < 0)
        return NULL;
    r = job_run_create((unsigned)version, exec_vnode, exec_host, json_array_size(hosts));
    if (!r)
        return NULL;
    for (size_t i = 0; i < r->n_hosts; i++)
        if (decode_host(json_array_get(hosts, i), &r->hosts[i]) < 0)
            goto fail;
    if (decode_fields(o, r) < 0 || decode_phase(o, r) < 0)
        goto fail;
    give_declaration(r);
    return r;
fail:
    job_run_destroy(r);
    return NULL;
}

struct run_host *job_run_host(struct run *r, const char *service)
{
    for (size_t i = 0; r && i < r->n_hosts; i++)
        if (r->hosts[i].service == service) /* interned: one address */
            return &r->hosts[i];
    return NULL;
}

const char *job_run_host_name(const char *service)
{
    const char *colon = strchr(service, ':');

    return colon ? colon + 1 : service;
}

bool job_run_host_stays(const struct run_host *h)
{
    return h->state <= RUN_HOST_READY && !h->leaving;
}

bool job_run_is_over(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (r->hosts[i].state != RUN_HOST_RELEASED && r->hosts[i].state != RUN_HOST_LOST)
            return false;
    return true;
}

bool job_run_is_withdrawing(const struct job *j)
{
    return j->run && j->run->withdrawing && !j->run->finished;
}

bool job_run_is_wanted(const struct job *j)
{
    return j->intent == INTENT_NONE && !j->run->terminations && !j->run->finished;
}

/* Never more than has passed since the job's start: what preemption charges for is that. */
int64_t job_run_walltime_ms(const struct job *j, int64_t now_s, int64_t mono_ms)
{
    enum { MS = 1000 };
    int64_t said = j->usage.walltime_ms, most, live;

    if (j->state != JOB_RUNNING || !j->run || !j->run->started || j->run->finished || !j->run->used_mono_ms)
        return said;
    live = said + (mono_ms - j->run->used_mono_ms);
    most = (now_s - j->stime_s - job_run_paused_s(j)) * MS;
    live = live < most ? live : most;
    return live > said ? live : said;
}

void job_run_sum_usage(const struct run *r, struct job_usage *out)
{
    struct job_usage sum = {0};

    for (size_t i = 0; i < r->n_hosts; i++) {
        const struct job_usage *u = &r->hosts[i].usage;

        sum.cput_ms += u->cput_ms;
        sum.mem_kb += u->mem_kb;
        sum.vmem_kb += u->vmem_kb;
        sum.ncpus += u->ncpus;
        sum.cpupercent += u->cpupercent;
        if (i == 0)
            sum.walltime_ms = u->walltime_ms; /* sisters hold the run before the script begins */
    }
    *out = sum;
}

const char *job_run_vnodes(const struct run *r)
{
    return r->now_vnode ? r->now_vnode : r->exec_vnode;
}

const char *job_run_where(const struct run *r)
{
    return r->now_host ? r->now_host : r->exec_host;
}

int64_t job_run_paused_s(const struct job *j)
{
    return j->run ? j->run->paused_s : 0;
}
