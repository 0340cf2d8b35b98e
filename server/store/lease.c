/* Taking a store over. See lease.h.
 *
 * The order matters: the lease first, since without it another server may be writing; then the schema, one
 * transaction a step, so that a server killed in between continues from there; then the identity, which the
 * first server of a store writes and all later ones only read; last the epoch. */
#include "lease.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pbs_error.h"
#include "schema.h"
#include "strbuf.h"

struct lease_text {
    char value[64];
    bool found;
};

static int lease_take_text(void *arg, const struct store_row *row, struct err *e)
{
    struct lease_text *t = arg;
    const char *value = store_row_text(row, 0);
    size_t n = value ? strlen(value) : 0;

    if (n >= sizeof t->value)
        return err_set(e, PBSE_SYSTEM, "the store holds a value of %zu bytes where at most %zu were written",
                       n, sizeof t->value - 1);
    if (n)
        memcpy(t->value, value, n);
    t->value[n] = '\0';
    t->found = true;
    return 0;
}

static int meta_get(struct store *s, const char *name, struct lease_text *out, struct err *e)
{
    struct store_batch_stmt q;

    *out = (struct lease_text){0};
    stmt_init(&q, STMT_META_GET);
    stmt_text(&q, name);
    return store_query(s, &q, lease_take_text, out, e);
}

static int meta_put(struct store *s, enum stmt_id how, const char *name, const char *value, struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, how);
    stmt_text(&q, name);
    stmt_text(&q, value);
    return store_query(s, &q, NULL, NULL, e);
}

/* One step and its number, as one transaction. */
static int migrate_one(struct store *s, int from, struct err *e)
{
    struct strbuf sql;
    int rc;

    strbuf_init(&sql, 1 << 20);
    schema_step(from, s->class, &sql);
    strbuf_addf(&sql,
                " INSERT INTO meta (name, value) VALUES ('schema', '%d') ON CONFLICT (name) DO UPDATE SET "
                "value = excluded.value;",
                from + 1);
    rc = strbuf_ok(&sql) ? store_script(s, strbuf_str(&sql), e)
                         : err_set(e, PBSE_SYSTEM, "no memory for the schema");
    strbuf_fini(&sql);
    return rc;
}

static int migrate(struct store *s, struct lease *l, struct err *e)
{
    struct lease_text schema;
    int version;

    if (store_script(s, "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);", e) <
            0 ||
        meta_get(s, "schema", &schema, e) < 0)
        return -1;
    version = atoi(schema.value);
    l->is_new = version == 0;
    if (version > schema_version)
        return err_set(
            e, PBSE_SYSTEM,
            "the store was written by a newer server (schema %d, this one knows %d): upgrade the server",
            version, schema_version);
    for (; version < schema_version; version++)
        if (migrate_one(s, version, e) < 0)
            return -1;
    return 0;
}

static int make_random(char out[static LEASE_IDENTITY_SIZE], struct err *e)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char random[(LEASE_IDENTITY_SIZE - 1) / 2];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_set(e, PBSE_SYSTEM, "the system gives no random bytes");
    for (size_t i = 0; i < sizeof random; i++) {
        out[2 * i] = hex[random[i] >> 4];
        out[2 * i + 1] = hex[random[i] & 15];
    }
    out[LEASE_IDENTITY_SIZE - 1] = '\0';
    return 0;
}

/* The value under this name in the store, or a new one: the first writer wins. */
static int random_of_store(struct store *s, const char *name, char out[static LEASE_IDENTITY_SIZE],
                           struct err *e)
{
    struct lease_text found;

    if (make_random(out, e) < 0 || meta_put(s, STMT_META_NEW, name, out, e) < 0 ||
        meta_get(s, name, &found, e) < 0)
        return -1;
    if (strlen(found.value) != LEASE_IDENTITY_SIZE - 1)
        return err_set(e, PBSE_SYSTEM, "the %s of the store is not valid", name);
    memcpy(out, found.value, LEASE_IDENTITY_SIZE);
    return 0;
}

static int identify(struct store *s, struct lease *l, struct err *e)
{
    return random_of_store(s, "identity", l->identity, e) < 0 ? -1
                                                              : random_of_store(s, "secret", l->secret, e);
}

static int raise_epoch(struct store *s, struct lease *l, struct err *e)
{
    struct lease_text epoch;
    struct strbuf next;
    int rc;

    if (meta_get(s, "epoch", &epoch, e) < 0)
        return -1;
    l->epoch = strtoull(epoch.value, NULL, 10) + 1;
    strbuf_init(&next, 30);
    strbuf_addf(&next, "%llu", (unsigned long long)l->epoch);
    rc = meta_put(s, STMT_META_SET, "epoch", strbuf_str(&next), e);
    strbuf_fini(&next);
    return rc;
}

int lease_hold(struct store *writer, struct err *e)
{
    struct lease l;

    return writer->class->lease(writer, e) < 0 ? -1 : migrate(writer, &l, e);
}

int lease_take(struct store *writer, struct lease *out, struct err *e)
{
    struct lease l = {.epoch = 0};

    if (writer->class->lease(writer, e) < 0 || migrate(writer, &l, e) < 0 || identify(writer, &l, e) < 0 ||
        raise_epoch(writer, &l, e) < 0)
        return -1;
    *out = l;
    return 0;
}
