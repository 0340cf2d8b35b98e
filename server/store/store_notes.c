/* Notes by name, and in the order of their age. See store_notes.h.
 *
 * One hash is both: it keeps the order of adding, and a note that is written again is added again, at the end. So the
 * oldest are always first, and each new note takes away what is too old or too many. Memory has all notes; the store is
 * read at the start only, and sorted by time then, since rows come in any order.
 *
 * A note is promised to another server or to users: it is stored in the same batch as the change that it belongs to, and where there is
 * no memory for it the server ends, so that a restart finds both or neither. What another server asks for later than STORE_NOTES_KEEP_S,
 * or after STORE_NOTES_MAX newer notes, is not known any more. A row without text or time is reported at the start and left out. */
#include "store_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "clock.h"
#include "commit.h"
#include "json_read.h"
#include "restore.h"
#include "schema.h"
#include "store.h"

struct store_notes_row {
    char name[STORE_NOTES_NAME_MAX];
    char *text;
    int64_t at_s;
    UT_hash_handle hh; /* keeps the order of adding: oldest first */
};

struct store_notes {
    struct clock *clock;
    struct commit *commit;
    struct store_notes_row *all;
};

struct store_notes *store_notes_create(struct clock *clock, struct commit *c)
{
    struct store_notes *n = calloc(1, sizeof *n);

    if (n)
        *n = (struct store_notes){.clock = clock, .commit = c};
    return n;
}

static void store_notes_forget(struct store_notes *n, struct store_notes_row *x)
{
    HASH_DEL(n->all, x);
    free(x->text);
    free(x);
}

void store_notes_destroy(struct store_notes *n)
{
    if (!n)
        return;
    while (n->all)
        store_notes_forget(n, n->all);
    free(n);
}

static void store_notes_drop_row(struct store_notes *n, struct store_notes_row *x)
{
    commit_drop_object(n->commit, "note", x->name);
    store_notes_forget(n, x);
}

static void store_notes_purge(struct store_notes *n)
{
    int64_t old_s = clock_wall_s(n->clock) - STORE_NOTES_KEEP_S;

    while (n->all && (n->all->at_s < old_s || HASH_COUNT(n->all) > STORE_NOTES_MAX))
        store_notes_drop_row(n, n->all);
}

static void store_notes_name_of(char out[static STORE_NOTES_NAME_MAX], const char *kind, const char *name)
{
    snprintf(out, STORE_NOTES_NAME_MAX, "%s:%s", kind, name);
}

static struct store_notes_row *store_notes_find_row(struct store_notes *n, const char *name)
{
    struct store_notes_row *x;

    HASH_FIND_STR(n->all, name, x);
    return x;
}

static struct store_notes_row *store_notes_add(struct store_notes *n, const char *name, const char *text,
                                               int64_t at_s)
{
    struct store_notes_row *x = calloc(1, sizeof *x);

    if (!x || !(x->text = strdup(text)))
        abort(); /* without memory the process ends: a note that was promised cannot be lost */
    snprintf(x->name, sizeof x->name, "%s", name);
    x->at_s = at_s;
    HASH_ADD_STR(n->all, name, x);
    return x;
}

void store_notes_put(struct store_notes *n, const char *kind, const char *name, const char *text)
{
    char full[STORE_NOTES_NAME_MAX];
    struct store_notes_row *old;
    char *json;
    json_t *o;

    store_notes_name_of(full, kind, name);
    old = store_notes_find_row(n, full);
    if (old)
        store_notes_forget(n, old);
    store_notes_add(n, full, text, clock_wall_s(n->clock));
    o = json_pack("{s:s,s:I}", "text", text, "at", (json_int_t)clock_wall_s(n->clock));
    json = o ? json_dumps(o, JSON_COMPACT) : NULL;
    if (!json)
        abort();
    commit_put_object(n->commit, "note", full, json, NULL);
    free(json);
    json_decref(o);
    store_notes_purge(n);
}

void store_notes_drop(struct store_notes *n, const char *kind, const char *name)
{
    char full[STORE_NOTES_NAME_MAX];
    struct store_notes_row *x;

    store_notes_name_of(full, kind, name);
    x = store_notes_find_row(n, full);
    if (x)
        store_notes_drop_row(n, x);
}

const char *store_notes_find(struct store_notes *n, const char *kind, const char *name)
{
    char full[STORE_NOTES_NAME_MAX];
    struct store_notes_row *x;

    store_notes_name_of(full, kind, name);
    x = store_notes_find_row(n, full);
    return x ? x->text : NULL;
}

struct notes_taking {
    struct store_notes *store_notes;
    const struct restore_errors *errors;
};

static int store_notes_take(void *arg, const struct store_row *row, struct err *e)
{
    const struct notes_taking *t = arg;
    const char *name = store_row_text(row, 0), *hot = store_row_text(row, 1), *text;
    json_t *o = json_read_own(hot);
    json_int_t at = 0;

    if (!name || !o || json_unpack(o, "{s:s,s:I}", "text", &text, "at", &at) < 0)
        restore_tell_object(t->errors, "note", row, false, "it has no text, or no time");
    else if (!store_notes_find_row(t->store_notes, name))
        store_notes_add(t->store_notes, name, text, at);
    json_decref(o);
    return 0;
}

static int by_age(struct store_notes_row *a, struct store_notes_row *b)
{
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

int store_notes_restore(struct store_notes *n, struct store *from, const struct restore_errors *errors,
                        struct err *e)
{
    struct notes_taking t = {n, errors};
    struct store_batch_stmt q;

    stmt_init(&q, STMT_OBJECT_ALL);
    stmt_text(&q, "note");
    if (store_query(from, &q, store_notes_take, &t, e) < 0)
        return -1;
    HASH_SORT(n->all, by_age);
    store_notes_purge(n);
    return 0;
}

const char *store_notes_find_alias(void *store_notes, const char *id)
{
    return store_notes_find(store_notes, "was", id);
}
