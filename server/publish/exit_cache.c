/* How jobs ended that a request waits for. See exit_cache.h.
 *
 * A ring by time of the end; each is a row of kind "end" in the store. A lookup goes through the ring from
 * the newest: who asks mostly asks at once. */
#include "exit_cache.h"

#include <jansson.h>
#include <stdlib.h>

#include "commit.h"
#include "job_fsm.h"
#include "json_read.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "restore.h"
#include "schema.h"
#include "server_ctx.h"
#include "strbuf.h"

/* An entry lives at most that much longer than EXIT_CACHE_KEEP_S. */
enum { PURGE_EVERY_MS = 60 * 1000 };

struct exit_cache {
    struct server_ctx *ctx;
    struct commit *commit;
    struct loop_timer *purge;
    size_t first, n;
    struct job_end_note ring[EXIT_CACHE_MAX];
};

static struct job_end_note *at(struct exit_cache *d, size_t i)
{
    return &d->ring[(d->first + i) % EXIT_CACHE_MAX];
}

static const char *exit_cache_name_of(const struct exit_cache *d, struct job_key key,
                                      char out[static JOBID_TEXT_MAX])
{
    return jobid_format(out, key, false, d->ctx->name);
}

static void drop_first(struct exit_cache *d)
{
    char name[JOBID_TEXT_MAX];

    commit_drop_object(d->commit, "end", exit_cache_name_of(d, at(d, 0)->key, name));
    d->first = (d->first + 1) % EXIT_CACHE_MAX;
    d->n--;
}

static void exit_cache_add(struct exit_cache *d, const struct job_end_note *note)
{
    if (d->n == EXIT_CACHE_MAX)
        drop_first(d);
    *at(d, d->n++) = *note;
}

static void exit_cache_purge(void *arg)
{
    struct exit_cache *d = arg;

    while (d->n > 0 && at(d, 0)->at_s + EXIT_CACHE_KEEP_S <= server_ctx_now_s(d->ctx))
        drop_first(d);
    if (d->n > 0)
        loop_timer_set(d->purge, PURGE_EVERY_MS);
}

void exit_cache_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct exit_cache *d = arg;
    struct job_end_note note = {j->key, j->exited, j->exit_status, j->stime_s, server_ctx_now_s(d->ctx)};
    char name[JOBID_TEXT_MAX], json[192];

    if (!job_is_over(j) || from == JOB_FINISHED || attr_list_number(&j->obj.attrs, JOB_ATTR_block, 0) == 0)
        return;
    exit_cache_add(d, &note);
    snprintf(json, sizeof json,
             "{\"seq\":%lld,\"index\":%d,\"exited\":%s,\"status\":%d,\"start\":%lld,\"at\":%lld}",
             (long long)note.key.seq, note.key.index, note.exited ? "true" : "false", note.exit_status,
             (long long)note.start_s, (long long)note.at_s);
    commit_put_object(d->commit, "end", exit_cache_name_of(d, note.key, name), json, NULL);
    loop_timer_set(d->purge, PURGE_EVERY_MS);
}

struct exit_cache *exit_cache_create(struct loop *l, struct server_ctx *s, struct commit *c)
{
    struct exit_cache *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->ctx = s;
    d->commit = c;
    d->purge = loop_timer_create(l, LOOP_CLOCK, exit_cache_purge, d);
    if (!d->purge) {
        free(d);
        return NULL;
    }
    return d;
}

void exit_cache_destroy(struct exit_cache *d)
{
    if (!d)
        return;
    loop_timer_destroy(d->purge);
    free(d);
}

struct exit_cache_taking {
    struct exit_cache *exit_cache;
    const struct restore_errors *errors;
};

static int exit_cache_take(void *arg, const struct store_row *row, struct err *e)
{
    const struct exit_cache_taking *t = arg;
    json_t *json = json_read_own(store_row_text(row, 1));
    json_int_t seq = 0, index = 0, status = 0, start = 0, when = 0;
    int exited = 0;

    if (json && json_unpack(json, "{s:I,s:I,s:b,s:I,s?I,s:I}", "seq", &seq, "index", &index, "exited",
                            &exited, "status", &status, "start", &start, "at", &when) == 0)
        exit_cache_add(t->exit_cache, &(struct job_end_note){.key = {seq, (int32_t)index},
                                                             .exited = exited != 0,
                                                             .exit_status = (int)status,
                                                             .start_s = start,
                                                             .at_s = when});
    else
        restore_tell_object(t->errors, "end", row, false, "the note of a job's end cannot be read");
    json_decref(json);
    return 0;
}

static int exit_cache_by_time(const void *a, const void *b)
{
    const struct job_end_note *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

int exit_cache_restore(struct exit_cache *d, struct store *from, const struct restore_errors *errors,
                       struct err *e)
{
    struct exit_cache_taking t = {d, errors};
    struct store_batch_stmt q;

    stmt_init(&q, STMT_OBJECT_ALL);
    stmt_text(&q, "end");
    if (store_query(from, &q, exit_cache_take, &t, e) < 0)
        return -1;
    qsort(d->ring, d->n, sizeof d->ring[0],
          exit_cache_by_time); /* no entry has been dropped yet: the ring begins at 0 */
    exit_cache_purge(d);
    return 0;
}

const struct job_end_note *exit_cache_find(const struct exit_cache *d, struct job_key key)
{
    for (size_t i = d->n; i-- > 0;) {
        const struct job_end_note *note = &d->ring[(d->first + i) % EXIT_CACHE_MAX];

        if (job_key_is_equal(note->key, key))
            return note;
    }
    return NULL;
}
