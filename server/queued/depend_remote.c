/* The table of remote dependencies, and their rows. See depend_remote.h.
 *
 * A record is made when a job with dependencies leaves (depends_on_left) or when one is named that has left before
 * (depend_edges_follow), and removed when that job is over or no job depends on it any more (depend_link.c). After a start all of
 * them are told to the other servers again. Without memory the process ends: the store has the row, and a start reads it. */
#include "depend_remote.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "commit.h"
#include "intern.h"
#include "json_read.h"
#include "log.h"
#include "restore.h"
#include "schema.h"
#include "server_events.h"
#include "store.h"

struct depend_remote_entry {
    struct depend_remote depend_remote; /* first: the address of one is the address of its entry */
    UT_hash_handle hh;                  /* by away.key.seq: a moved job is whole, its number says it */
};

struct depend_remotes {
    struct commit *commit;
    struct server_events *events;
    struct depend_remote_entry *all;
};

struct depend_remotes *depend_remotes_create(struct commit *c, struct server_events *b)
{
    struct depend_remotes *all = calloc(1, sizeof *all);

    if (all)
        *all = (struct depend_remotes){.commit = c, .events = b};
    return all;
}

static void depend_remote_set_text(const char **field, const char *text)
{
    const char *now = text && *text ? intern_ref(text) : NULL;

    if (text && *text && !now)
        abort();
    intern_unref(*field);
    *field = now;
}

static void depend_remote_forget(struct depend_remotes *all, struct depend_remote_entry *x)
{
    struct depend_remote *a = &x->depend_remote;
    const char **texts[] = {&a->name, &a->user, &a->server, &a->as, &a->depend, &a->home, &a->doomed};

    HASH_DEL(all->all, x);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        depend_remote_set_text(texts[i], NULL);
    free(x);
}

void depend_remotes_destroy(struct depend_remotes *all)
{
    if (!all)
        return;
    while (all->all)
        depend_remote_forget(all, all->all);
    free(all);
}

/* --- the table */

struct depend_remote *depend_remotes_find(const struct depend_remotes *all, struct job_key key)
{
    struct depend_remote_entry *x = NULL;

    if (key.index == JOBID_NO_INDEX)
        HASH_FIND(hh, all->all, &key.seq, sizeof key.seq, x);
    return x ? &x->depend_remote : NULL;
}

struct depend_remote *depend_remotes_first(const struct depend_remotes *all)
{
    return all->all ? &all->all->depend_remote : NULL;
}

struct depend_remote *depend_remotes_next(const struct depend_remote *a)
{
    const struct depend_remote_entry *x = (const struct depend_remote_entry *)(const void *)a;
    struct depend_remote_entry *next = x->hh.next;

    return next ? &next->depend_remote : NULL;
}

static struct depend_remote_entry *insert(struct depend_remotes *all, const struct depend_remote *of)
{
    struct depend_remote_entry *x = calloc(1, sizeof *x);

    if (!x)
        abort();
    x->depend_remote = (struct depend_remote){.key = of->key,
                                              .array = of->array,
                                              .from_elsewhere = of->from_elsewhere,
                                              .facts = of->facts,
                                              .known = of->known};
    depend_remote_set_text(&x->depend_remote.name, of->name);
    depend_remote_set_text(&x->depend_remote.user, of->user);
    depend_remote_set_text(&x->depend_remote.server, of->server);
    depend_remote_set_text(&x->depend_remote.as, of->as);
    depend_remote_set_text(&x->depend_remote.depend, of->depend);
    depend_remote_set_text(&x->depend_remote.home, of->home);
    depend_remote_set_text(&x->depend_remote.doomed, of->doomed);
    HASH_ADD(hh, all->all, depend_remote.key.seq, sizeof x->depend_remote.key.seq, x);
    return x;
}

struct depend_remote *depend_remotes_add(struct depend_remotes *all, const struct depend_remote *of)
{
    struct depend_remote *a = &insert(all, of)->depend_remote;

    a->unsaid = true;
    depend_remote_store(all, a);
    server_events_tell(all->events, &(struct server_event){.kind = EVENT_REMOTE_CHANGED, .remote = a});
    return a;
}

void depend_remotes_remove(struct depend_remotes *all, struct depend_remote *a)
{
    server_events_tell(all->events, &(struct server_event){.kind = EVENT_REMOTE_GOING, .remote = a});
    commit_drop_object(all->commit, "away", a->name);
    depend_remote_forget(all, (struct depend_remote_entry *)(void *)a);
}

void depend_remote_set(struct depend_remotes *all, struct depend_remote *a, const char **field,
                       const char *text)
{
    const char *now = text && *text ? text : NULL;

    if (now == *field || (now && *field && strcmp(now, *field) == 0))
        return;
    depend_remote_set_text(field, now);
    a->unsaid = true;
    depend_remote_store(all, a);
    server_events_tell(all->events, &(struct server_event){.kind = EVENT_REMOTE_CHANGED, .remote = a});
}

/* --- rows */

void depend_remote_store(struct depend_remotes *all, const struct depend_remote *a)
{
    json_t *o = json_pack("{s:I,s:b,s:b,s:s*,s:s*,s:s*,s:s*,s:s*,s:s*,s:i,s:b}", "seq",
                          (json_int_t)a->key.seq, "array", a->array, "from_elsewhere", a->from_elsewhere,
                          "user", a->user, "server", a->server, "as", a->as, "depend", a->depend, "home",
                          a->home, "doomed", a->doomed, "facts", (int)a->facts, "known", a->known);
    char *json = o ? json_dumps(o, JSON_COMPACT) : NULL;

    if (!json)
        abort();
    commit_put_object(all->commit, "away", a->name, json, NULL);
    free(json);
    json_decref(o);
}

struct depend_remotes_taking {
    struct depend_remotes *all;
    const struct restore_errors *errors;
};

static int depend_remote_take(void *arg, const struct store_row *row, struct err *e)
{
    const struct depend_remotes_taking *t = arg;
    const char *name = store_row_text(row, 0), *hot = store_row_text(row, 1);
    json_t *o = json_read_own(hot);
    struct depend_remote a = {.key = {.index = JOBID_NO_INDEX}, .name = name};
    int array = 0, from_elsewhere = 0, facts = 0, known = 0;
    json_int_t seq = 0;

    if (!name || !o ||
        json_unpack(o, "{s:I,s:b,s:b,s?s,s:s,s?s,s?s,s?s,s?s,s:i,s:b}", "seq", &seq, "array", &array,
                    "from_elsewhere", &from_elsewhere, "user", &a.user, "server", &a.server, "as", &a.as,
                    "depend", &a.depend, "home", &a.home, "doomed", &a.doomed, "facts", &facts, "known",
                    &known) < 0) {
        restore_tell_object(t->errors, "away", row, false, "its dependencies cannot be read");
    } else {
        a.key.seq = seq;
        a.array = array != 0;
        a.from_elsewhere = from_elsewhere != 0;
        a.facts = (unsigned)facts;
        a.known = known != 0;
        insert(t->all, &a)->depend_remote.unsaid = true;
    }
    json_decref(o);
    return 0;
}

int depend_remotes_restore(struct depend_remotes *all, struct store *from,
                           const struct restore_errors *errors, struct err *e)
{
    struct depend_remotes_taking t = {all, errors};
    struct store_batch_stmt q;

    stmt_init(&q, STMT_OBJECT_ALL);
    stmt_text(&q, "away");
    return store_query(from, &q, depend_remote_take, &t, e);
}
