/* What a query is to show: names, ranges, a queue, or everything. See status_names.h.
 *
 * Who writes: status_names_choose, once, from the request; afterwards the walks move `at` and `last` only.
 *
 * The list is made when the query begins, as names and keys, never pointers: an object may go before its
 * turn comes. One that was named and is gone is counted as missing; one of "everything" is not counted.
 * Jobs are not listed when all are asked for: the walk then continues from the last key. */
#include "status_names.h"

#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "intern.h"
#include "pbs_error.h"
#include "words.h"

/* Choices, so that one request cannot take memory and time without end: no list of names that users write is near. */
enum { NAMES_MAX = 1000000, RANGED_MAX = 1000000 };

/* ---- kinds of objects -------------------------------------------------------------------------------- */

/* How the objects of a kind are found. Jobs and resources have walks of their own. */
struct status_names_kind {
    struct object *(*find)(const struct server_ctx *s, const char *name);
    struct object *(*next)(const struct server_ctx *s, struct object *o); /* o NULL: the first */
    int code; /* for a name that is unknown, with these words before it */
    const char *words;
};

static struct object *status_names_server_find(const struct server_ctx *s, const char *name)
{
    return &s->server->obj;
}

/* find and next of the objects that a table of the server context holds. */
#define TABLE(type, table)                                                                                   \
    static struct object *status_names_##type##_find(const struct server_ctx *s, const char *name)           \
    {                                                                                                        \
        struct type *x = table##_find(s->table, name);                                                       \
                                                                                                             \
        return x ? &x->obj : NULL;                                                                           \
    }                                                                                                        \
    static struct object *status_names_##type##_next(const struct server_ctx *s, struct object *o)           \
    {                                                                                                        \
        struct type *x = o ? table##_next((struct type *)(void *)o) : table##_first(s->table);               \
                                                                                                             \
        return x ? &x->obj : NULL;                                                                           \
    }
TABLE(queue, queues)
TABLE(node, nodes)
TABLE(sched_obj, scheds)
TABLE(earmark_obj, earmarks)
TABLE(resv, resvs)

#define FROM(type) status_names_##type##_find, status_names_##type##_next
static const struct status_names_kind kinds[OF_COUNT] = {
    [OF_SERVER] = {.find = status_names_server_find},
    [OF_QUEUE] = {FROM(queue), PBSE_UNKQUE, "Unknown queue"},
    [OF_NODE] = {FROM(node), PBSE_UNKNODE, "Unknown node"},
    [OF_SCHED] = {FROM(sched_obj), PBSE_UNKSCHED, "Unknown Scheduler"},
    [OF_HOLD] = {FROM(earmark_obj), PBSE_UNKJOBID, "No room is held for"},
    [OF_RESV] = {FROM(resv), PBSE_UNKRESVID, "Unknown Reservation Id"},
    [OF_JOB] = {NULL, NULL, PBSE_UNKJOBID, "Unknown Job Id"},
    [OF_RESOURCE] = {NULL, NULL, PBSE_UNKRESC, "Unknown resource"},
};

/* ---- what is asked ----------------------------------------------------------------------------------- */

static int add_name(struct status_names *w, const char *name, struct job_key key, struct err *e)
{
    size_t cap = w->cap ? 2 * w->cap : 16;

    if (w->n == NAMES_MAX)
        return err_set(e, PBSE_IVALREQ, "more than %d names are asked for", NAMES_MAX);
    if (w->n == w->cap) {
        const char **names = realloc(w->names, cap * sizeof *names);
        struct job_key *keys = names ? realloc(w->keys, cap * sizeof *keys) : NULL;

        if (names)
            w->names = names;
        if (keys)
            w->keys = keys;
        if (!names || !keys)
            return err_set(e, PBSE_SYSTEM, "no memory for a status");
        w->cap = cap;
    }
    w->keys[w->n] = key;
    w->names[w->n] = intern_ref(name);
    return w->names[w->n++] ? 0 : err_set(e, PBSE_SYSTEM, "no memory for a status");
}

/* A range stays one name: what it means is known when its turn comes, and never is more than its array has. */
static int add_range(struct status_names *w, const struct status_filter *f, const char *text,
                     const struct jobid *id, struct err *e)
{
    const struct job *array = jobs_find(f->ctx->jobs, (struct job_key){id->key.seq, JOBID_NO_INDEX});

    if (jobid_check_indices(id, e) < 0)
        return -1;
    if (w->ranged > RANGED_MAX)
        return err_set(e, PBSE_IVALREQ, "ranges of arrays with more than %d subjobs together", RANGED_MAX);
    w->ranged += array && array->array ? array_map_size(array->array) : 0;
    return add_name(w, text, (struct job_key){id->key.seq, STATUS_RANGE}, e);
}

/* "41[]" is not another way to write 41: does what is in memory have the form that was asked for? */
static bool is_other(const struct server_ctx *s, const struct jobid *id)
{
    const struct job *j = id->form == JOBID_RANGE ? NULL : jobs_find(s->jobs, id->key);

    return j && (j->array != NULL) != (id->form == JOBID_ARRAY);
}

static int status_names_add_job(struct status_names *w, const struct status_filter *f, const char *text,
                                struct err *e)
{
    const struct job *j;
    struct jobid id;

    if (jobid_parse(text, &id, e) < 0)
        return -1;
    j = server_ctx_find_job(f->ctx, &id);
    if (!server_ctx_is_asked(f->ctx, &id) ||
        (j && !job_key_is_equal(j->key, id.key))) /* it came here, or came back */
        return add_name(w, text, j ? j->key : (struct job_key){.seq = -1, .index = JOBID_NO_INDEX}, e);
    if (is_other(f->ctx, &id))
        return add_name(w, text, (struct job_key){.seq = -1, .index = JOBID_NO_INDEX}, e); /* of no job */
    return id.form == JOBID_RANGE ? add_range(w, f, text, &id, e) : add_name(w, text, id.key, e);
}

/* Commas inside brackets belong to a range. */
static int each_word(struct status_names *w, const struct status_filter *f, const char *list,
                     int (*fn)(struct status_names *, const struct status_filter *, const char *,
                               struct err *),
                     struct err *e)
{
    int rc = 0, depth = 0;

    while (*list && rc == 0) {
        const char *end = list;
        char *word;

        for (; *end && (*end != ',' || depth); end++)
            depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        word = strndup(list, (size_t)(end - list));
        if (!word)
            return err_set(e, PBSE_SYSTEM, "no memory for a status");
        if (*words_trim(word))
            rc = fn(w, f, words_trim(word), e);
        free(word);
        list = *end ? end + 1 : end;
    }
    return rc;
}

static int status_names_add_other(struct status_names *w, const struct status_filter *f, const char *text,
                                  struct err *e)
{
    char name[PBS_MAXHOSTNAME + 1];
    size_t n = strcspn(text, "@");

    if (f->of == OF_NODE || f->of == OF_HOLD || n >= sizeof name)
        return add_name(w, text, (struct job_key){0, 0}, e);
    memcpy(name, text, n); /* queue@server: what follows @ was for the client */
    name[n] = '\0';
    if (f->of == OF_RESV && !strchr(name, '.') && n + strlen(f->ctx->name) + 2 < sizeof name)
        snprintf(name + n, sizeof name - n, ".%s", f->ctx->name);
    return *name ? add_name(w, name, (struct job_key){0, 0}, e) : 0;
}

static int add_resources(struct status_names *w, const struct status_filter *f, struct err *e)
{
    const struct resource_table *all = f->ctx->resources;
    int rc = 0;

    for (const struct resource *r = resource_next(all, NULL); r && rc == 0; r = resource_next(all, r))
        if (resource_may_read(r, f->reader.level))
            rc = add_name(w, r->name, (struct job_key){0, 0}, e);
    return rc;
}

static int add_all(struct status_names *w, const struct status_filter *f, struct err *e)
{
    const struct status_names_kind *kind = &kinds[f->of];
    const struct server_ctx *s = f->ctx;
    int rc = 0;

    if (f->of == OF_RESOURCE)
        return add_resources(w, f, e);
    if (kind->next)
        for (struct object *o = kind->next(s, NULL); o && rc == 0; o = kind->next(s, o))
            rc = add_name(w, o->name, (struct job_key){0, 0}, e);
    return rc;
}

static int choose_jobs(struct status_names *w, struct status_filter *f, const char *ids, struct err *e)
{
    struct destination d;

    f->all_jobs = !*ids || !jobid_is_jobid(ids);
    w->last = (struct job_key){-1, -1};
    if (!f->all_jobs)
        return each_word(w, f, ids, status_names_add_job, e);
    if (!*ids || jobid_parse_destination(ids, &d, e) < 0)
        return *ids ? -1 : 0;
    if (*d.queue && !queues_find(f->ctx->queues, d.queue))
        return err_set(e, PBSE_UNKQUE, "Unknown queue %s", d.queue);
    f->queue = *d.queue ? intern_ref(d.queue) : NULL;
    return 0;
}

int status_names_choose(struct status_names *w, struct status_filter *f, const char *ids, struct err *e)
{
    ids = ids ? ids : "";
    if (f->of == OF_JOB)
        return choose_jobs(w, f, ids, e);
    if (f->of == OF_SERVER)
        return add_name(w, f->ctx->server->obj.name, (struct job_key){0, 0}, e);
    if (!*ids || *ids == '@') {
        w->everything = true;
        return add_all(w, f, e);
    }
    return each_word(w, f, ids, status_names_add_other, e);
}

/* ---- names that are asked for, one after the other --------------------------------------------------- */

struct object *status_names_find(const struct status_filter *f, const char *name)
{
    const struct status_names_kind *kind = &kinds[f->of];

    return kind->find ? kind->find(f->ctx, name) : NULL;
}

void status_names_unknown(const struct status_names *w, enum attr_of of, const char *name,
                          struct status_tally *t)
{
    const struct status_names_kind *kind = &kinds[of];

    if (!w->everything)
        status_tally_miss_name(t, kind->words ? kind->code : PBSE_IVALREQ,
                               kind->words ? kind->words : "there is no", name);
}

void status_names_fini(struct status_names *w)
{
    for (size_t i = 0; i < w->n; i++)
        intern_unref(w->names[i]);
    free(w->names);
    free(w->keys);
}
