/* The table of runs: a hash by (sequence, index, run) that owns them. A run is added by START (prepare.c) or found in its
 * directory (recover.c), and dropped when its state is GONE (actions_changed); act_leave_forget has given up the directory before.
 *
 * Two runs of one job may be here at once: an earlier one still delivers its files while the next one waits for that
 * (run_serialize.c). So run_find needs the number of the run, and run_find_any is for questions about the job.
 *
 * A run is plain data with many writers, each for its own fields (mom_run.h says which). run_drop frees what no other part
 * owns: the key, the texts, START's attributes, the end record, the journal's descriptor. A part that has a timer, a process
 * or a list for a run frees that before. The numbers of run_substate are PBS's substates. */
#include "mom_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attr_set.h"

struct runs {
    struct run *by_key;
};

struct runs *runs_create(void)
{
    return calloc(1, sizeof(struct runs));
}

static void run_free(struct run *r)
{
    if (r->has_start)
        xdr_free((xdrproc_t)xdr_exec_start_args, &r->start);
    if (r->journal_fd >= 0)
        close(r->journal_fd);
    free(r->ended_record.text);
    free(r->note);
    free(r->lost_hosts);
    free(r->release_hook);
    free(r->release);
    free(r->cpus);
    free(r->owner_home);
    free(r->jobdir);
    free(r->id);
    free(r->path);
    free(r);
}

void run_drop(struct runs *t, struct run *r)
{
    HASH_DEL(t->by_key, r);
    run_free(r);
}

void runs_destroy(struct runs *t)
{
    if (!t)
        return;
    while (t->by_key)
        run_drop(t, t->by_key);
    free(t);
}

struct run *run_add(struct runs *t, const struct run_key *key, const char *id, const char *path)
{
    struct run *r;

    HASH_FIND(hh, t->by_key, key, sizeof *key, r);
    if (r)
        return NULL;
    r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->key = *key;
    r->journal_fd = -1;
    r->id = strdup(id);
    r->path = strdup(path);
    if (!r->id || !r->path) {
        run_free(r);
        return NULL;
    }
    HASH_ADD(hh, t->by_key, key, sizeof r->key, r);
    return r;
}

struct run *run_find(const struct runs *t, const wire_job *job, unsigned run)
{
    struct run_key key = {.seq = job->seq, .index = job->index, .run = run};
    struct run *r;

    HASH_FIND(hh, t->by_key, &key, sizeof key, r);
    return r;
}

bool run_has_other(const struct runs *t, const struct run *r)
{
    for (const struct run *x = t->by_key; x; x = x->hh.next)
        if (x != r && x->key.seq == r->key.seq && x->key.index == r->key.index)
            return true;
    return false;
}

struct run *run_find_any(const struct runs *t, const wire_job *job)
{
    for (struct run *x = t->by_key; x; x = x->hh.next)
        if (x->key.seq == job->seq && x->key.index == job->index)
            return x;
    return NULL;
}

const struct run *run_find_writer(const struct runs *t, const wire_job *job, const char *store)
{
    for (const struct run *x = t->by_key; x; x = x->hh.next)
        if (x->key.seq == job->seq && x->key.index == job->index && !run_is_sister(x) &&
            x->slot.state < RUN_RELEASED && strcmp(x->start.store, store) == 0)
            return x;
    return NULL;
}

size_t runs_count(const struct runs *t)
{
    return HASH_COUNT(t->by_key);
}

void runs_each(struct runs *t, void (*fn)(void *arg, struct run *r), void *arg)
{
    struct run *next;

    for (struct run *r = t->by_key; r; r = next) {
        next = r->hh.next;
        fn(arg, r);
    }
}

void run_set_owner(struct run *r, unsigned uid, unsigned gid)
{
    snprintf(r->owner_uid, sizeof r->owner_uid, "%u", uid);
    snprintf(r->owner_gid, sizeof r->owner_gid, "%u", gid);
}

wire_job run_job(const struct run *r)
{
    return (wire_job){.seq = r->key.seq, .index = r->key.index};
}

const char *run_attr(const struct run *r, const char *name, const char *resource)
{
    for (u_int i = 0; i < r->start.attrs.wire_attrs_len; i++) {
        const struct wire_attr *a = &r->start.attrs.wire_attrs_val[i];

        if (strcmp(a->name, name) == 0 && strcmp(a->resource, resource) == 0)
            return a->value;
    }
    return NULL;
}

const char *run_files_key(const struct run *r, int *n)
{
    const char *ext = r->start.ext.wire_ext_val;
    const char *blank = ext ? memchr(ext, ' ', r->start.ext.wire_ext_len) : NULL;

    *n = blank ? (int)(blank - ext) : (int)r->start.ext.wire_ext_len;
    return ext ? ext : "";
}

void run_alter(struct run *r, const wire_attrs *attrs)
{
    for (u_int i = 0; i < attrs->wire_attrs_len; i++)
        attr_set(&r->start.attrs, attrs->wire_attrs_val[i].name, attrs->wire_attrs_val[i].resource,
                 attrs->wire_attrs_val[i].value);
    r->altered = true;
}

int run_substate(const struct run *r)
{
    static const int numbers[RUN_STATE_COUNT] = {
        [RUN_PREPARING] = 41, [RUN_READY] = 41,  [RUN_LAUNCHING] = 41, [RUN_RUNNING] = 42,
        [RUN_SUSPENDED] = 43, [RUN_ENDING] = 51, [RUN_RELEASED] = 53,  [RUN_GONE] = 53,
    };

    return numbers[r->slot.state];
}

bool run_is_active(const struct run *r)
{
    return r->slot.state == RUN_LAUNCHING || r->slot.state == RUN_RUNNING || r->slot.state == RUN_SUSPENDED;
}

bool run_is_sister(const struct run *r)
{
    return r->start.my_host != 0;
}

static bool are_hosts_same(const struct exec_start_args *a, const struct exec_start_args *b)
{
    if (a->my_host != b->my_host || a->hosts.hosts_len != b->hosts.hosts_len)
        return false;
    for (u_int i = 0; i < a->hosts.hosts_len; i++)
        if (strcmp(a->hosts.hosts_val[i].service, b->hosts.hosts_val[i].service) != 0)
            return false;
    return true;
}

bool run_start_is_same(const struct exec_start_args *a, const struct exec_start_args *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->store, b->store) == 0 && strcmp(a->user, b->user) == 0 &&
           strcmp(a->group, b->group) == 0 && strcmp(a->cookie, b->cookie) == 0 &&
           a->script_length == b->script_length && a->launch == b->launch && are_hosts_same(a, b);
}
