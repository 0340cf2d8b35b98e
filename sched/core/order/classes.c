/* A class is found by its key, interned texts compared by address and hashed as bytes, which explains the
 * memset before a key is filled. A job knows its place in the heap (class_at), so that it can leave from
 * the middle; every move in the heap writes it.
 *
 * A class without jobs stays until classes_sweep: the cycle has pointers to classes while it takes jobs out
 * of them. One that is used again is parsed again, since it may have been made with the resources as they
 * were then.
 *
 * Each text of a key is referenced by the class, so an address stays the text's own as long as a class has
 * it. */
#include "classes.h"

#include <stdlib.h>
#include <string.h>

#include "primetime.h"
#include "intern.h"
#include "mem.h"
#include "job_order.h"
#include "strbuf.h"

/* Of a key: DYNAMIC_MAX (files.c) numbers of 20 digits and a colon are 4200 bytes. */
enum { DYNAMIC_TEXT_MAX = 8192 };

struct classes {
    struct cluster *cl;
    struct class *all;
};

/* Has the job's queue, or the server, any run limit on entities of this kind? */
static bool limited(const struct classes *c, const struct job *j, enum limit_of of)
{
    return limit_list_have(&j->queue->limits, of) || limit_list_have(&cluster_server(c->cl)->limits, of);
}

/* Interned, the caller's; NULL: the job asks for none. */
static const char *dynamic_of(const struct classes *c, const struct job *j)
{
    const struct policy *p = cluster_policy(c->cl);
    const char *text = NULL;
    struct strbuf b;
    bool any = false;

    if (p->n_dynamic == 0)
        return NULL;
    strbuf_init(&b, DYNAMIC_TEXT_MAX);
    for (size_t i = 0; i < p->n_dynamic; i++) {
        int64_t n = job_asked_amount(j, cluster_catalogue(c->cl), p->dynamic[i].resource);
        any = any || n > 0;
        strbuf_addf(&b, "%lld:", (long long)n);
    }
    if (any)
        text = mem_intern(strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The key of this job; key.dynamic is the caller's reference. Each field is set only where jobs that differ
 * in it may fare differently; a limit that is set later makes all jobs join again. */
static struct class_key classes_key_of(const struct classes *c, const struct job *j)
{
    struct class_key key;

    memset(&key, 0, sizeof key);
    key.queue = j->queue->name;
    key.select = j->select;
    key.place = j->place;
    key.needs = j->needs;
    key.targets = j->targets;
    key.is_full = j->is_full;
    if (j->sched_state == SCHED_STATE_SUSPENDED || j->urged)
        key.job = j->id;
    if (cluster_policy(c->cl)->enforce_resumption || policy_is_strict(cluster_policy(c->cl)) ||
        primetime_limits_length(cluster_policy(c->cl)) || cluster_next_resv(c->cl, NULL)) {
        key.lasts_s = j->limit_s;
        key.least_s = j->least_s;
    }
    if (limited(c, j, LIMIT_OF_USER) || cluster_limits_vnodes(c->cl))
        key.user = j->user;
    if (limited(c, j, LIMIT_OF_GROUP) || cluster_limits_vnodes(c->cl))
        key.group = j->group;
    if (limited(c, j, LIMIT_OF_PROJECT))
        key.project = j->project;
    key.share = policy_orders_by_share(cluster_policy(c->cl)) ? j->share : NULL;
    key.dynamic = dynamic_of(c, j);
    return key;
}

/* --- the heap ---------------------------------------------------------------------------------------- */

static bool before(const struct classes *c, const struct job *a, const struct job *b)
{
    return job_order_compare(cluster_policy(c->cl), a, b) < 0;
}

static void classes_set(struct class *k, size_t i, struct job *j)
{
    k->heap[i] = j;
    j->class_at = i;
}

/* Entry i goes up while it is before its parent. */
static void rise(const struct classes *c, struct class *k, size_t i)
{
    struct job *j = k->heap[i];

    for (; i > 0 && before(c, j, k->heap[(i - 1) / 2]); i = (i - 1) / 2)
        classes_set(k, i, k->heap[(i - 1) / 2]);
    classes_set(k, i, j);
}

/* Entry i goes down while a child is before it. */
static void sink(const struct classes *c, struct class *k, size_t i)
{
    struct job *j = k->heap[i];

    for (size_t child; (child = 2 * i + 1) < k->n; i = child) {
        if (child + 1 < k->n && before(c, k->heap[child + 1], k->heap[child]))
            child++;
        if (!before(c, k->heap[child], j))
            break;
        classes_set(k, i, k->heap[child]);
    }
    classes_set(k, i, j);
}

/* --- listening --------------------------------------------------------------------------------------- */

/* The class of this job, made if it is not there. A new one takes its own references; of key.dynamic it
 * takes the one just made. */
static struct class *class_of(struct classes *c, const struct job *j)
{
    struct class_key key = classes_key_of(c, j);
    struct class *k;

    HASH_FIND(hh, c->all, &key, sizeof key, k);
    if (k) {
        intern_unref(key.dynamic);
        return k;
    }
    k = mem_new(1, sizeof *k);
    k->key = key;
    k->of = c;
    intern_again(key.queue);
    intern_again(key.select);
    intern_again(key.place);
    intern_again(key.needs);
    intern_again(key.targets);
    intern_again(key.job);
    intern_again(key.user);
    intern_again(key.group);
    intern_again(key.project);
    HASH_ADD(hh, c->all, key, sizeof k->key, k);
    return k;
}

static void classes_add(const struct classes *c, struct class *k, struct job *j)
{
    k->heap = mem_room(k->heap, k->n, &k->cap, sizeof *k->heap);
    k->heap[k->n++] = j;
    j->class = k;
    rise(c, k, k->n - 1);
}

/* A full array that comes back and is as it was, but that fewer indices are left, is not news: none of them can begin. */
static bool classes_is_back(const struct class *k, const struct job *j)
{
    return j->is_array && j->is_full && j->left == k && j->joined_look == j->rest_look;
}

/* failed_at 0: a class that was empty has never been tried as it is now. */
static void classes_job_waits(void *arg, struct job *j)
{
    struct classes *c = arg;
    struct class *k = class_of(c, j);
    bool is_back = classes_is_back(k, j);

    if (k->n == 0) { /* what it was before may have been another catalogue's */
        request_destroy(k->request);
        k->request = request_parse(cluster_catalogue(c->cl), j->select, j->place);
        k->failed_at = is_back ? k->failed_at : 0;
    }
    j->joined_look = j->rest_look;
    k->queue = j->queue;
    classes_add(c, k, j);
    k->told = false;
    k->has_new = k->has_new || !is_back;
}

/* The last entry takes its place. The class may be empty now, and stays. */
static void classes_job_leaves(void *arg, struct job *j)
{
    struct classes *c = arg;
    struct class *k = j->class;
    size_t at = j->class_at;
    struct job *last = k->heap[--k->n];

    j->class = NULL;
    j->left = k;
    if (last == j)
        return;
    classes_set(k, at, last);
    rise(c, k, at); /* the entry came from another branch of the heap, so it may have to move up or down */
    sink(c, k, last->class_at);
}

/* Another program, or a manager, has changed the comment: the class tells its jobs again. */
static void classes_job_comment(void *arg, struct job *j)
{
    if (j->class && j->class->comment != j->comment)
        j->class->told = false;
}

struct classes *classes_create(struct cluster *cl)
{
    struct classes *c = mem_new(1, sizeof *c);

    c->cl = cl;
    cluster_listen(cl, &(struct cluster_listener){.job_waits = classes_job_waits,
                                                  .job_leaves = classes_job_leaves,
                                                  .job_comment = classes_job_comment,
                                                  .arg = c});
    return c;
}

static void classes_drop(struct classes *c, struct class *k)
{
    HASH_DEL(c->all, k);
    intern_unref(k->key.queue);
    intern_unref(k->key.select);
    intern_unref(k->key.place);
    intern_unref(k->key.needs);
    intern_unref(k->key.targets);
    intern_unref(k->key.job);
    intern_unref(k->key.user);
    intern_unref(k->key.group);
    intern_unref(k->key.project);
    intern_unref(k->key.dynamic);
    intern_unref(k->comment);
    request_destroy(k->request);
    free(k->heap);
    free(k);
}

void classes_destroy(struct classes *c)
{
    if (!c)
        return;
    for (struct class *k = c->all, *next; k; k = next) {
        next = k->hh.next;
        classes_drop(c, k);
    }
    free(c);
}

struct class *classes_next(const struct classes *c, const struct class *after)
{
    return after ? after->hh.next : c->all;
}

void classes_sweep(struct classes *c)
{
    for (struct class *k = c->all, *next; k; k = next) {
        next = k->hh.next;
        if (k->n == 0)
            classes_drop(c, k);
    }
}

void classes_take_out(struct class *k, struct job *j)
{
    classes_job_leaves(k->of, j);
}

void classes_put_back(struct class *k, struct job *j)
{
    classes_add(k->of, k, j);
}

void classes_say(struct class *k, const char *comment)
{
    const char *text = mem_intern(comment);

    if (text != k->comment) {
        k->told = false;
        k->cursor = 0;
    }
    intern_unref(k->comment);
    k->comment = text;
}
