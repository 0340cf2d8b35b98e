/* Users, groups and hosts by a worker: see names.h.
 *
 * A question that is asked becomes an entry, and stays in the table with its answer until that is old. While the
 * worker has it, another caller with the same question is added to its list; the answer goes to all of them. An
 * answer is never changed, so a callback may ask again. */
#include "names.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <uthash.h>

#include "clock.h"
#include "loop.h"
#include "worker.h"

/* Questions that wait behind a slow directory, and answers that are remembered: more users and hosts than a large site has
 * in an hour. */
enum { NAMES_WAITING_MAX = 1000, NAMES_KEPT_MAX = 10000 };

enum names_kind { KIND_USER, KIND_UID, KIND_HOST, KIND_ADDRESS };

struct names_asker {
    struct names_asker *next;
    names_user_fn *user_fn;
    names_host_fn *host_fn;
    void *arg;
};

struct names_entry {
    char *key; /* "u:name", "#:uid", "h:name", "a:address" */
    UT_hash_handle hh;
    struct names *n;
    enum names_kind kind;
    uid_t uid;
    bool asked;            /* the worker has it, or will be told of it */
    bool stale;            /* names_forget came meanwhile */
    int64_t until_mono_ms; /* the answer holds until then */
    struct names_asker *first, **last;
    struct names_user *user; /* the answer: one of these, */
    struct names_host *host;
    struct err why; /* or this */
};

struct names {
    struct loop *l;
    struct worker *users, *hosts; /* two, so that a name server that does not answer holds no user up */
    struct names_entry *table;
    int64_t keep_ms;
};

/* --- the table --- */

static void names_entry_free(struct names_entry *en)
{
    while (en->first) {
        struct names_asker *next = en->first->next;

        free(en->first);
        en->first = next;
    }
    names_user_free(en->user);
    names_host_free(en->host);
    free(en->key);
    free(en);
}

static struct names_entry *entry_find(const struct names *n, const char *key)
{
    struct names_entry *en;

    HASH_FIND_STR(n->table, key, en);
    return en;
}

static void entry_drop(struct names_entry *en)
{
    HASH_DEL(en->n->table, en);
    names_entry_free(en);
}

/* An answer that may still be used. */
static bool is_fresh(const struct names_entry *en)
{
    return !en->asked && !en->stale && clock_real_mono_ms() < en->until_mono_ms;
}

/* Room in a full table: all entries go that no question waits for. They are asked again when they are
 * needed. */
static void drop_old(struct names *n)
{
    struct names_entry *en, *next;

    if (HASH_COUNT(n->table) < NAMES_KEPT_MAX)
        return;
    HASH_ITER(hh, n->table, en, next)
    if (!en->asked && !en->first)
        entry_drop(en);
}

static struct names_entry *entry_create(struct names *n, enum names_kind kind, const char *key, uid_t uid)
{
    struct names_entry *en = calloc(1, sizeof *en);

    if (en)
        en->key = strdup(key);
    if (!en || !en->key) {
        free(en);
        return NULL;
    }
    en->n = n;
    en->kind = kind;
    en->uid = uid;
    en->last = &en->first;
    drop_old(n);
    HASH_ADD_KEYPTR(hh, n->table, en->key, strlen(en->key), en);
    return en;
}

/* --- telling --- */

static void names_tell(const struct names_entry *en, const struct names_asker *a)
{
    const struct err *why = en->why.code ? &en->why : NULL;

    if (a->user_fn)
        a->user_fn(a->arg, en->user, why);
    else
        a->host_fn(a->arg, en->host, why);
}

/* Call all waiting callbacks; a question asked inside a callback waits for the next round. The entry cannot be
 * removed meanwhile: `asked`. */
static void names_tell_all(struct names_entry *en)
{
    struct names_asker *a = en->first, *next;

    en->first = NULL;
    en->last = &en->first;
    for (; a; a = next) {
        next = a->next;
        names_tell(en, a);
        free(a);
    }
}

/* `asked` stays true while callbacks are made, which keeps the entry: names_forget passes it over. */
static void names_told_cb(void *arg)
{
    struct names_entry *en = arg;
    bool more;

    names_tell_all(en);
    more = en->first && loop_defer(en->n->l, names_told_cb, en) == 0;
    en->asked = more;
    if (!more && en->stale)
        entry_drop(en);
}

/* In the thread: only the entry's key, its answer and its error are touched, and the loop leaves those
 * alone while `asked`. */
static void names_work(void *arg)
{
    struct names_entry *en = arg;

    switch (en->kind) {
    case KIND_USER:
        names_lookup_user(en->key + 2, &en->user, &en->why);
        break;
    case KIND_UID:
        names_lookup_uid(en->uid, &en->user, &en->why);
        break;
    case KIND_HOST:
        names_lookup_host(en->key + 2, &en->host, &en->why);
        break;
    case KIND_ADDRESS:
        names_lookup_address(en->key + 2, &en->host, &en->why);
        break;
    }
}

static void names_done(void *arg, bool ran)
{
    struct names_entry *en = arg;
    int64_t keep_ms = en->why.code ? en->n->keep_ms / 10 : en->n->keep_ms;

    if (!ran) /* names_destroy: the table goes too */
        return;
    if (en->why.code && en->why.code != ENOENT)
        keep_ms = 0; /* it could not be asked: the next one tries again */
    en->until_mono_ms = clock_real_mono_ms() + keep_ms;
    names_told_cb(en);
}

/* --- asking --- */

/* Have the entry answered: by the worker, or at the end of this turn if it is known. */
static void get_answer(struct names_entry *en)
{
    if (en->asked || !en->n->users)
        return; /* stopped: names_stop tells it */
    en->asked = true;
    if (en->until_mono_ms && !en->stale && clock_real_mono_ms() < en->until_mono_ms) {
        if (loop_defer(en->n->l, names_told_cb, en) < 0)
            en->asked = false; /* no memory: answered when the next question comes */
        return;
    }
    names_user_free(en->user);
    names_host_free(en->host);
    en->user = NULL;
    en->host = NULL;
    en->stale = false;
    err_clear(&en->why);
    if (worker_submit(en->kind == KIND_HOST || en->kind == KIND_ADDRESS ? en->n->hosts : en->n->users,
                      names_work, names_done, en, &en->why) == 0)
        return;
    err_prefix(&en->why, "too many names are being looked up");
    en->until_mono_ms = 0;
    if (loop_defer(en->n->l, names_told_cb, en) < 0)
        en->asked = false;
}

/* Found or made, the entry gets one more asker. */
static void names_ask(struct names *n, enum names_kind kind, const char *key, uid_t uid,
                      struct names_asker asker)
{
    struct names_entry *en = entry_find(n, key);
    struct names_asker *a = malloc(sizeof *a);

    if (!en)
        en = entry_create(n, kind, key, uid);
    assert(en && a); /* a few bytes: if they are missing, nothing else can work either */
    *a = asker;
    *en->last = a;
    en->last = &a->next;
    get_answer(en);
}

static void key_of_name(char out[static 300], char kind, const char *name)
{
    snprintf(out, 300, "%c:%s", kind, name);
}

static void key_of_uid(char out[static 300], uid_t uid)
{
    snprintf(out, 300, "#:%lu", (unsigned long)uid);
}

void names_ask_user(struct names *n, const char *name, names_user_fn *fn, void *arg)
{
    char key[300];

    key_of_name(key, 'u', name);
    names_ask(n, KIND_USER, key, 0, (struct names_asker){.user_fn = fn, .arg = arg});
}

void names_ask_uid(struct names *n, uid_t uid, names_user_fn *fn, void *arg)
{
    char key[300];

    key_of_uid(key, uid);
    names_ask(n, KIND_UID, key, uid, (struct names_asker){.user_fn = fn, .arg = arg});
}

void names_ask_host(struct names *n, const char *name, names_host_fn *fn, void *arg)
{
    char key[300];

    key_of_name(key, 'h', name);
    names_ask(n, KIND_HOST, key, 0, (struct names_asker){.host_fn = fn, .arg = arg});
}

void names_ask_address(struct names *n, const char *address, names_host_fn *fn, void *arg)
{
    char key[300];

    key_of_name(key, 'a', address);
    names_ask(n, KIND_ADDRESS, key, 0, (struct names_asker){.host_fn = fn, .arg = arg});
}

static const struct names_user *names_find(const struct names *n, const char *key)
{
    const struct names_entry *en = entry_find(n, key);

    return en && is_fresh(en) ? en->user : NULL;
}

const struct names_user *names_find_user(const struct names *n, const char *name)
{
    char key[300];

    key_of_name(key, 'u', name);
    return names_find(n, key);
}

const struct names_user *names_find_uid(const struct names *n, uid_t uid)
{
    char key[300];

    key_of_uid(key, uid);
    return names_find(n, key);
}

const struct names_host *names_find_address(const struct names *n, const char *address)
{
    char key[300];
    const struct names_entry *en;

    key_of_name(key, 'a', address);
    en = entry_find(n, key);
    return en && is_fresh(en) ? en->host : NULL;
}

/* An entry that is being asked for stays until its answer has been told, and goes then. */
void names_forget(struct names *n)
{
    struct names_entry *en, *next;

    HASH_ITER(hh, n->table, en, next)
    {
        en->stale = true;
        if (!en->asked)
            entry_drop(en);
    }
}

struct names *names_create(struct loop *l, int64_t keep_ms, struct err *e)
{
    struct names *n = calloc(1, sizeof *n);

    if (!n) {
        err_set(e, ENOMEM, "no memory for names");
        return NULL;
    }
    n->l = l;
    n->keep_ms = keep_ms;
    n->users = worker_create(l, "names", NAMES_WAITING_MAX, e);
    n->hosts = n->users ? worker_create(l, "hosts", NAMES_WAITING_MAX, e) : NULL;
    if (n->hosts)
        return n;
    worker_destroy(n->users);
    free(n);
    return NULL;
}

/* Tell all that wait, each as far as its answer is known. Return true if there was one. */
static bool names_tell_waiting(struct names *n)
{
    struct names_entry *en, *next;
    bool told = false;

    HASH_ITER(hh, n->table, en, next)
    {
        if (!en->first)
            continue;
        loop_forget(n->l, names_told_cb, en);
        if (!en->user && !en->host && !en->why.code)
            err_set(&en->why, ECANCELED, "names are not looked up any more");
        names_tell_all(en);
        told = true;
    }
    return told;
}

void names_stop(struct names *n)
{
    enum {
        ROUNDS = 8
    }; /* a callback may ask for one name more, and that one's for another; no chain is longer */

    if (!n || !n->users)
        return;
    worker_destroy(n->users);
    worker_destroy(n->hosts);
    n->users = n->hosts = NULL;
    for (int i = 0; i < ROUNDS && names_tell_waiting(n); i++)
        ;
}

/* Askers first, so that an answer that comes in while the workers end calls none of them. */
void names_destroy(struct names *n)
{
    struct names_entry *en, *next;

    if (!n)
        return;
    HASH_ITER(hh, n->table, en, next) /* from here on no callback is made */
    while (en->first) {
        struct names_asker *a = en->first;

        en->first = a->next;
        free(a);
    }
    HASH_ITER(hh, n->table, en, next)
    en->last = &en->first;
    worker_destroy(n->users);
    worker_destroy(n->hosts);
    HASH_ITER(hh, n->table, en, next)
    {
        loop_forget(n->l, names_told_cb, en);
        entry_drop(en);
    }
    free(n);
}
