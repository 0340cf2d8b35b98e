/* The record of a run, and its way to the store and back. See job_run.h.
 *
 * It is stored as one JSON object in the job's hot part. Members that came later are optional when read
 * ("s?b"), so a store of an older version is read; what is only true of this process (sent_mono_ms) is not
 * written. To add a stored member: the struct, job_run_encode, decode_flags (optional there), and free its text if it is one. */
#include "job_run.h"

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

static json_t *encode_host(const struct run_host *h)
{
    return json_pack("{s:s, s:i, s:I, s:b, s:b, s:i, s:I, s:I, s:I, s:I, s:i, s:i}", "service", h->service,
                     "state", (int)h->state, "seq", (json_int_t)h->seq, "suspended", (int)h->suspended,
                     "leaving", (int)h->leaving, "status", h->status, "cput_ms", (json_int_t)h->usage.cput_ms,
                     "walltime_ms", (json_int_t)h->usage.walltime_ms, "mem_kb", (json_int_t)h->usage.mem_kb,
                     "vmem_kb", (json_int_t)h->usage.vmem_kb, "ncpus", (int)h->usage.ncpus, "cpupercent",
                     (int)h->usage.cpupercent);
}

/* Members that are written only when vnodes were given back. */
static int add_phase(json_t *o, const struct run *r)
{
    json_t *phase =
        json_pack("{s:s*, s:s*, s:s*, s:I, s:I, s:I, s:I}", "vnode", r->now_vnode, "host", r->now_host,
                  "freed", r->freed, "cput_ms", (json_int_t)r->before_phase.cput_ms, "walltime_ms",
                  (json_int_t)r->before_phase.walltime_ms, "mem_kb", (json_int_t)r->before_phase.mem_kb,
                  "vmem_kb", (json_int_t)r->before_phase.vmem_kb);

    return json_object_set_new(o, "phase", phase);
}

json_t *job_run_encode(const struct run *r)
{
    json_t *hosts = json_array(), *o;

    if (!hosts)
        return NULL;
    for (size_t i = 0; i < r->n_hosts; i++)
        if (json_array_append_new(hosts, encode_host(&r->hosts[i])) < 0) {
            json_decref(hosts);
            return NULL;
        }
    o = json_pack(
        "{s:i, s:s, s:s, s:b, s:b, s:b, s:b, s:i, s:i, s:s*, s:i, s:s*, s:i, s:i, s:b, s:b, s:b, s:b, s:i, s:b, s:I, s:I, s:o}",
        "version", (int)r->version, "exec_vnode", r->exec_vnode, "exec_host", r->exec_host, "forced",
        (int)r->forced, "launched", (int)r->launched, "started", (int)r->started, "finished",
        (int)r->finished, "status", r->status, "reason", r->reason, "note", r->note, "lost", r->lost,
        "lost_host", r->lost_host, "attempt", (int)r->attempt, "terminations", (int)r->terminations,
        "suspending", (int)r->suspending, "resuming", (int)r->resuming, "altered", (int)r->altered,
        "checkpointing", (int)r->checkpointing, "notices", (int)r->notices, "leaves_vnodes",
        (int)r->leaves_vnodes, "suspended_s", (json_int_t)r->suspended_s, "paused_s", (json_int_t)r->paused_s,
        "hosts", hosts);
    if (o && ((r->deleted_by && json_object_set_new(o, "deleted_by", json_string(r->deleted_by)) < 0) ||
              (r->staying && json_object_set_new(o, "staying", json_true()) < 0) ||
              (r->hook_status && json_object_set_new(o, "hook_status", json_integer(r->hook_status)) < 0) ||
              (r->hook_ends && json_object_set_new(o, "hook_ends", json_true()) < 0) ||
              (r->declared && json_object_set_new(o, "declared", json_string(r->declared)) < 0) ||
              (r->need_s && json_object_set_new(o, "need_s", json_integer(r->need_s)) < 0) ||
              ((r->now_vnode || r->freed) && add_phase(o, r) < 0))) {
        json_decref(o);
        return NULL;
    }
    return o;
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

static int decode_flags(const json_t *o, struct run *r)
{
    int forced, launched, started, finished, suspending, resuming, attempt, terminations,
        altered = 0, checkpointing = 0, notices = 0, leaves_vnodes = 0;
    const char *note = NULL, *lost_host = NULL;
    json_int_t suspended_s = 0, paused_s = 0;

    if (json_unpack(
            (json_t *)o,
            "{s:b, s:b, s:b, s:b, s:i, s:i, s?s, s?i, s?s, s:i, s:i, s:b, s:b, s?b, s?b, s?i, s?b, s?I, s?I}",
            "forced", &forced, "launched", &launched, "started", &started, "finished", &finished, "status",
            &r->status, "reason", &r->reason, "note", &note, "lost", &r->lost, "lost_host", &lost_host,
            "attempt", &attempt, "terminations", &terminations, "suspending", &suspending, "resuming",
            &resuming, "altered", &altered, "checkpointing", &checkpointing, "notices", &notices,
            "leaves_vnodes", &leaves_vnodes, "suspended_s", &suspended_s, "paused_s", &paused_s) < 0)
        return -1;
    r->forced = forced;
    r->launched = launched;
    r->started = started;
    r->finished = finished;
    r->suspending = suspending;
    r->resuming = resuming;
    r->altered = altered;
    r->checkpointing = checkpointing;
    r->staying = json_is_true(json_object_get(o, "staying"));
    r->hook_status = (int)json_integer_value(json_object_get(o, "hook_status"));
    r->hook_ends = json_is_true(json_object_get(o, "hook_ends"));
    r->notices = (unsigned)notices;
    r->leaves_vnodes = leaves_vnodes;
    r->suspended_s = suspended_s;
    r->paused_s = paused_s;
    r->attempt = (unsigned)attempt;
    r->terminations = (unsigned)terminations;
    r->note = intern_ref(note);
    r->lost_host = intern_ref(lost_host);
    r->deleted_by = intern_ref(json_string_value(json_object_get(o, "deleted_by")));
    r->declared = intern_ref(json_string_value(json_object_get(o, "declared")));
    r->need_s = (unsigned)json_integer_value(json_object_get(o, "need_s"));
    return 0;
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
    if (decode_flags(o, r) < 0 || decode_phase(o, r) < 0)
        goto fail;
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

bool job_run_is_over(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (r->hosts[i].state != RUN_HOST_RELEASED && r->hosts[i].state != RUN_HOST_LOST)
            return false;
    return true;
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
