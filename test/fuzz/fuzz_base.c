/* base: lists of hosts, sets of numbers, times and sizes, words, JSON texts. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "fuzz.h"
#include "hostlist.h"
#include "idset.h"
#include "json_check.h"
#include "json_read.h"
#include "json_text.h"
#include "strbuf.h"
#include "units.h"
#include "words.h"

enum { TEXT_MAX = 1 << 22 };

static void hosts(const char *bytes, size_t n)
{
    struct words l;
    struct err e;

    words_init(&l);
    if (hostlist_parse(bytes, &l, &e) == 0)
        assert(l.n <= HOSTLIST_MAX);
    else
        assert(l.n == 0);
    words_fini(&l);
}

static void sets(const char *bytes, size_t n)
{
    struct idset *s, *again;
    struct strbuf text;
    struct err e;

    if (idset_parse(bytes, 10000000, 1000000, &s, &e) < 0)
        return;
    strbuf_init(&text, TEXT_MAX);
    if (idset_count(s) > 0 && idset_format(s, &text) == 0) {
        assert(idset_parse(strbuf_str(&text), 10000000, 1000000, &again, &e) == 0 &&
               idset_is_equal(s, again));
        idset_destroy(again);
    }
    strbuf_fini(&text);
    idset_destroy(s);
}

static void amounts(const char *bytes, size_t n)
{
    char text[UNITS_TEXT_MAX];
    struct units_size size, size_again;
    int64_t seconds, again;
    struct err e;

    if (units_parse_duration_s(bytes, &seconds, &e) == 0)
        assert(units_parse_duration_s(units_format_duration(text, seconds), &again, &e) == 0 &&
               again == seconds);
    if (units_parse_size(bytes, &size, &e) == 0)
        assert(units_parse_size(units_format_size(text, size), &size_again, &e) == 0 &&
               units_size_compare(size, size_again) == 0);
    units_parse_duration_ms(bytes, &seconds, &e);
}

static void word_lists(const char *bytes, size_t n)
{
    static const unsigned flags[] = {WORDS_PLAIN, WORDS_QUOTES, WORDS_QUOTES | WORDS_BACKSLASH,
                                     WORDS_EMPTY | WORDS_TRIM, WORDS_QUOTES | WORDS_BACKSLASH | WORDS_KEEP};
    struct words l;
    struct err e;

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        words_init(&l);
        words_parse(bytes, ", +", flags[i], &l, &e);
        words_fini(&l);
    }
}

static void json_texts(const char *bytes, size_t n)
{
    struct strbuf text;
    char *copy = strdup(bytes);

    assert(copy);
    strbuf_init(&text, TEXT_MAX);
    assert(json_text_add_n(&text, bytes, n) == 0 && text.s[0] == '"' && text.s[text.len - 1] == '"');
    assert(strlen(strbuf_str(&text)) == text.len);
    json_text_clean(copy);
    json_text_restore(copy);
    free(copy);
    strbuf_fini(&text);
}

static void json_documents(const char *bytes, size_t n)
{
    struct err e;
    json_t *v = json_read(bytes, n, INT32_MAX, &e);
    size_t at;

    assert(v ? json_check(bytes, n) : *e.text != 0);
    assert(json_check_fault(bytes, n, &at) ? at <= n : at == n);
    json_decref(v);
    v = json_read_value(bytes, n);
    assert(v || !json_check(bytes, n));
    json_decref(v);
}

static const char *no_env(const char *name)
{
    return NULL;
}

static void confs(const char *bytes, size_t n)
{
    struct err e;
    struct conf *c;

    c = conf_parse(bytes, no_env, &e);
    if (c)
        assert(conf_text(c, CONF_PBS_HOME) && conf_server(c) && conf_core_bytes(c) >= -2);
    conf_destroy(c);
}

static const struct fuzz_seed host_seeds[] = {FUZZ_SEED("n[1-4,7],x9"), FUZZ_SEED("a,b,c"),
                                              FUZZ_SEED("rack[01-12]n[1-3]"), FUZZ_SEED("n[1-100]")};
static const struct fuzz_seed set_seeds[] = {FUZZ_SEED("1-5,7"), FUZZ_SEED("0-1000000:3"), FUZZ_SEED("9,8,7"),
                                             FUZZ_SEED("4095-4097")};
static const struct fuzz_seed amount_seeds[] = {FUZZ_SEED("1:02:03"), FUZZ_SEED("3600"),
                                                FUZZ_SEED("12:30.5"), FUZZ_SEED("10gb"),
                                                FUZZ_SEED("1024kw"),  FUZZ_SEED("7")};
static const struct fuzz_seed word_seeds[] = {FUZZ_SEED("a, b,'c d',\"e\\\"f\""), FUZZ_SEED("x=1+y=\\,2"),
                                              FUZZ_SEED("")};
static const struct fuzz_seed json_seeds[] = {FUZZ_SEED("plain"), FUZZ_SEED("\xc3\xa4\xff\x01\t\"\\"),
                                              FUZZ_SEED("\xed\xa0\x80"), FUZZ_SEED("\xf4\x90\x80\x80")};
static const struct fuzz_seed document_seeds[] = {
    FUZZ_SEED(
        "{\"op\": \"page\", \"n\": [1, -2.5e3, true, null], \"o\": {\"a\": \"\\u00e4\\ud83d\\udca1\\n\"}}"),
    FUZZ_SEED("[\"\xc3\xa4\", {}, [], \"\\\"\"]"), FUZZ_SEED("[[[[[[[[1]]]]]]]]"),
    FUZZ_SEED("9223372036854775807")};
static const struct fuzz_seed conf_seeds[] = {
    FUZZ_SEED("PBS_HOME=/h\nPBS_EXEC=/x\nPBS_SERVER=s:15001\nPBS_CORE_LIMIT=unlimited\n"),
    FUZZ_SEED("export PBS_SERVER=\"a b\"\n# x\nPBS_EXEC='y'\nPBS_HOME=z\nPBS_START_MOM=1")};

const struct fuzz fuzz_base[] = {
    {"hostlist", hosts, FUZZ_SEEDS(host_seeds)},
    {"idset", sets, FUZZ_SEEDS(set_seeds)},
    {"units", amounts, FUZZ_SEEDS(amount_seeds)},
    {"words", word_lists, FUZZ_SEEDS(word_seeds)},
    {"json_text", json_texts, FUZZ_SEEDS(json_seeds)},
    {"json_read", json_documents, FUZZ_SEEDS(document_seeds)},
    {"conf", confs, FUZZ_SEEDS(conf_seeds)},
    {NULL},
};
