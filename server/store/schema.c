/* Statements and tables as constants. See schema.h.
 *
 * One text serves both implementations; where their dialects differ a word in braces is replaced by what the
 * class says. A new version of the tables is a further step at the end: a store of any older version takes
 * the steps it lacks. */
#include "schema.h"

#include <string.h>

#include "store.h"
#include "strbuf.h"

const struct stmt_row stmt_rows[STMT_COUNT] = {
#define STMT(id, letters, text) [STMT_##id] = {#id, text, sizeof(letters) - 1, letters},
#include "stmt.def"
#undef STMT
};

/* A step is never changed once a version of the server with it is out; what must change is a further step.
 * {number key} and {in key}: see struct store_class. */
const char *const schema_steps[] = {
    /* 0 -> 1 */
    "CREATE TABLE IF NOT EXISTS job (seq BIGINT NOT NULL, idx INTEGER NOT NULL, id TEXT NOT NULL, "
    "state TEXT NOT NULL, queue TEXT, owner TEXT, project TEXT, hot JSON NOT NULL, attrs JSON NOT NULL, "
    "fixed JSON NOT NULL, fixed_attrs JSON NOT NULL, PRIMARY KEY (seq, idx));"
    "CREATE TABLE IF NOT EXISTS object (kind TEXT NOT NULL, name TEXT NOT NULL, hot JSON, attrs JSON, "
    "n BIGINT, PRIMARY KEY (kind, name));"
    "CREATE TABLE IF NOT EXISTS script (seq BIGINT NOT NULL, idx INTEGER NOT NULL, start BIGINT NOT NULL, "
    "bytes BYTEA NOT NULL, PRIMARY KEY (seq, idx, start)){in key};"
    "CREATE TABLE IF NOT EXISTS history (seq BIGINT NOT NULL, idx INTEGER NOT NULL, id TEXT NOT NULL, "
    "ended BIGINT NOT NULL, owner TEXT NOT NULL, queue TEXT NOT NULL, attrs JSON NOT NULL, "
    "PRIMARY KEY (seq, idx));"
    "CREATE INDEX IF NOT EXISTS history_ended ON history (ended);"
    "CREATE TABLE IF NOT EXISTS acct (n {number key}, time BIGINT NOT NULL, line BYTEA NOT NULL);"
    "CREATE TABLE IF NOT EXISTS job_log (n {number key}, time BIGINT NOT NULL, seq BIGINT NOT NULL, "
    "idx INTEGER NOT NULL, text TEXT NOT NULL);",
    /* 1 -> 2: of arrays, pages of indices in which some subjob has ended */
    "CREATE TABLE IF NOT EXISTS array_page (seq BIGINT NOT NULL, page INTEGER NOT NULL, remaining TEXT NOT NULL, "
    "failed TEXT NOT NULL, PRIMARY KEY (seq, page)){in key};",
    NULL,
};

const int schema_version = (int)(sizeof schema_steps / sizeof schema_steps[0]) - 1;

int schema_step(int from, const struct store_class *class, struct strbuf *out)
{
    const struct {
        const char *word, *text;
    } words[] = {{"{number key}", class->number_key}, {"{in key}", class->in_key}};
    const char *at = schema_steps[from], *brace;

    for (; (brace = strchr(at, '{')); at = strchr(brace, '}') + 1) {
        strbuf_add_bytes(out, at, (size_t)(brace - at));
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strncmp(brace, words[i].word, strlen(words[i].word)) == 0)
                strbuf_add(out, words[i].text);
    }
    return strbuf_add(out, at);
}
