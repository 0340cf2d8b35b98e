/* Dumps: between all pairs of stores row for row, and a fault or a kill on the way leaves the target as it was. */
#include "dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dump_line.h"
#include "file.h"
#include "lease.h"
#include "schema.h"
#include "scratch_pg_test.h"
#include "strbuf.h"

enum { KINDS = 2, MODERATE_JOBS = 20000, BATCH_JOBS = 1000 };

struct world {
    char dir[64];
    struct scratch_pg *pg;
    int made;
};

static struct world *world;

static int begin_world(void **state)
{
    const char form[] = "/tmp/cede-dump-XXXXXX";

    world = calloc(1, sizeof *world);
    memcpy(world->dir, form, sizeof form);
    assert_non_null(mkdtemp(world->dir));
    world->pg = scratch_pg_start();
    return world->pg ? 0 : -1;
}

static int end_world(void **state)
{
    scratch_pg_stop(world->pg);
    file_remove_tree(AT_FDCWD, world->dir, NULL);
    free(world);
    return 0;
}

/* Where a fresh store would be; kind 0 SQLite, 1 PostgreSQL. The text is leaked to the test's end. */
static struct store_where fresh(int kind)
{
    struct store_where w = {0};
    char *name = NULL;

    world->made++;
    if (kind == 0) {
        assert_true(asprintf(&name, "%s/%d.db", world->dir, world->made) > 0);
        w.path = name;
    } else {
        assert_true(asprintf(&name, "dump%d", world->made) > 0);
        w.host = scratch_pg_dir(world->pg);
        w.user = "postgres";
        w.database = name;
    }
    return w;
}

static void forget(struct store_where *w)
{
    free((char *)(w->path ? w->path : w->database));
}

static struct store *need_open(const struct store_where *w)
{
    struct err e = {0};
    struct store *s = store_open(w, &e);

    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static struct store *need_target(const struct store_where *w)
{
    struct store *s = need_open(w);
    struct err e = {0};

    if (lease_hold(s, &e) < 0)
        fail_msg("%s", e.text);
    return s;
}

static void put_job(struct store_batch *b, int64_t seq, const char *attrs)
{
    store_batch_begin(b, STMT_JOB_PUT);
    store_batch_number(b, seq);
    store_batch_number(b, -1);
    store_batch_text(b, "41.svr");
    store_batch_text(b, "queued");
    store_batch_text(b, NULL);
    store_batch_text(b, "");
    store_batch_text(b, "_pbs_project_default");
    store_batch_text(b, "{\"a\": [1,  2.50]}");
    store_batch_text(b, attrs);
    store_batch_text(b, "{}");
    store_batch_text(b, "{}");
}

/* A row in every table, with all that a column may hold. */
static void put_rows(struct store_batch *b)
{
    unsigned char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    put_job(b, 1, "{\"Variable_List\": \"A=\\\"b\\\"\\n\\t\\u00e9\xc3\xa9\xf4\x8f\xbf\xbf\\\\\"}");
    put_job(b, INT64_MAX, "{}");
    store_batch_begin(b, STMT_OBJECT_PUT);
    store_batch_text(b, "queue");
    store_batch_text(b, "workq \"\\/\b\f\n\r\t\x01\x7f \xf0\x9f\x98\x80");
    store_batch_text(b, NULL);
    store_batch_text(b, "{}");
    store_batch_number(b, 1);
    store_batch_begin(b, STMT_ARRAY_PUT);
    store_batch_number(b, 7);
    store_batch_number(b, 0);
    store_batch_text(b, "0-99");
    store_batch_text(b, "");
    for (int i = 0; i < 4; i++) {
        store_batch_begin(b, STMT_SCRIPT_PUT);
        store_batch_number(b, 1);
        store_batch_number(b, -1);
        store_batch_number(b, i);
        store_batch_bytes(b, all, i < 3 ? (size_t)i : sizeof all);
    }
    store_batch_begin(b, STMT_HISTORY_PUT);
    store_batch_number(b, 3);
    store_batch_number(b, 5);
    store_batch_text(b, "3[5].svr");
    store_batch_number(b, -12345678901);
    store_batch_text(b, "user@host");
    store_batch_text(b, "workq");
    store_batch_text(b, "{\"a\":1}");
    store_batch_begin(b, STMT_ACCT_PUT);
    store_batch_number(b, 9);
    store_batch_number(b, 10);
    store_batch_bytes(b, "11/23;Q;\xff\xfe;", 11);
    store_batch_begin(b, STMT_LOG_PUT);
    store_batch_number(b, 1);
    store_batch_number(b, 2);
    store_batch_number(b, 3);
    store_batch_number(b, -1);
    store_batch_text(b, "a line");
}

static void need_apply(struct store *s, const struct store_batch *b, uint64_t epoch)
{
    struct err e = {0};

    if (!store_batch_is_ok(b) || store_apply(s, b, epoch, &e) < 0)
        fail_msg("%s", e.text);
}

/* A store that a server has used, with `jobs` jobs beyond put_rows. */
static void need_used(const struct store_where *w, int jobs)
{
    struct store *s = need_open(w);
    struct store_batch *b = store_batch_create();
    struct lease l = {0};
    struct err e = {0};

    if (lease_take(s, &l, &e) < 0)
        fail_msg("%s", e.text);
    put_rows(b);
    for (int i = 0; i < jobs; i++) {
        put_job(b, 1000 + i, "{\"Job_Name\":\"x\",\"Resource_List\":\"ncpus=1\"}");
        if (i % BATCH_JOBS == 0) {
            need_apply(s, b, l.epoch);
            store_batch_clear(b);
        }
    }
    need_apply(s, b, l.epoch);
    store_batch_destroy(b);
    store_close(s);
}

/* The dump of a store as a text. */
static char *need_dump(const struct store_where *w)
{
    struct store *s = need_open(w);
    struct dump_counts c;
    struct err e = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    if (dump_write(s, f, &c, &e) < 0)
        fail_msg("%s", e.text);
    fclose(f);
    store_close(s);
    return text;
}

/* Its rows: without the first line, the last, and the number of activations, which a copy raises. */
static char *rows_of(const char *dump)
{
    struct strbuf out;
    const char *end;

    strbuf_init(&out, SIZE_MAX / 2);
    for (const char *at = dump; *at; at = end + 1) {
        end = strchr(at, '\n');
        if (*at == '[' && strncmp(at, "[\"meta\",\"epoch\"", 15) != 0)
            strbuf_add_bytes(&out, at, (size_t)(end - at + 1));
    }
    return strbuf_take(&out);
}

static uint64_t epoch_in(const char *dump)
{
    const char *at = strstr(dump, "[\"meta\",\"epoch\",\"");

    assert_non_null(at);
    return strtoull(at + 17, NULL, 10);
}

static int restore_text(const struct store_where *w, const char *text, size_t n, bool replace, struct err *e)
{
    struct store *s = need_target(w);
    FILE *f = fmemopen((char *)text, n, "r");
    struct dump_counts c;
    int rc;

    assert_non_null(f);
    rc = dump_read(s, f, replace, &c, e);
    fclose(f);
    store_close(s);
    return rc;
}

static void expect_same_rows(const char *a, const char *b)
{
    char *x = rows_of(a), *y = rows_of(b);

    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void a_dump_restores_to_the_same_rows_in_either_store(void **state)
{
    for (int from = 0; from < KINDS; from++)
        for (int to = 0; to < KINDS; to++) {
            struct store_where a = fresh(from), b = fresh(to);
            char *before, *after;
            struct err e = {0};

            need_used(&a, 0);
            before = need_dump(&a);
            if (restore_text(&b, before, strlen(before), false, &e) < 0)
                fail_msg("%s", e.text);
            after = need_dump(&b);
            expect_same_rows(before, after);
            assert_true(epoch_in(after) == epoch_in(before) + DUMP_EPOCH_STRIDE);
            free(before);
            free(after);
            forget(&a);
            forget(&b);
        }
}

static void a_store_of_moderate_size_is_copied_row_for_row(void **state)
{
    for (int from = 0; from < KINDS; from++) {
        struct store_where a = fresh(from), b = fresh(!from);
        struct store *source, *target;
        struct dump_counts c;
        struct err e = {0};
        char *before, *after;

        need_used(&a, MODERATE_JOBS);
        source = need_target(&a);
        target = need_target(&b);
        if (dump_copy(target, source, false, &c, &e) < 0)
            fail_msg("%s", e.text);
        assert_true(c.jobs == MODERATE_JOBS + 2);
        store_close(source);
        store_close(target);
        before = need_dump(&a);
        after = need_dump(&b);
        expect_same_rows(before, after);
        free(before);
        free(after);
        forget(&a);
        forget(&b);
    }
}

static void a_store_in_use_is_replaced_only_where_that_was_said(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct store_where a = fresh(kind), b = fresh(kind);
        struct err e = {0};
        char *dump, *before, *after;

        need_used(&a, 0);
        need_used(&b, 50);
        dump = need_dump(&a);
        before = need_dump(&b);
        assert_int_equal(restore_text(&b, dump, strlen(dump), false, &e), -1);
        assert_int_equal(e.code, EEXIST);
        after = need_dump(&b);
        expect_same_rows(before, after);
        free(after);
        if (restore_text(&b, dump, strlen(dump), true, &e) < 0)
            fail_msg("%s", e.text);
        after = need_dump(&b);
        expect_same_rows(dump, after);
        free(dump);
        free(before);
        free(after);
        forget(&a);
        forget(&b);
    }
}

static void expect_refused(const struct store_where *w, const char *dump, size_t n, const char *why)
{
    char *before = need_dump(w), *after;
    struct err e = {0};

    if (restore_text(w, dump, n, true, &e) == 0)
        fail_msg("a dump was taken that %s", why);
    assert_int_equal(e.code, EINVAL);
    after = need_dump(w);
    expect_same_rows(before, after);
    free(before);
    free(after);
}

static void a_dump_that_is_cut_off_or_altered_changes_nothing(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct store_where a = fresh(kind), b = fresh(kind);
        char *dump, *at;
        size_t n;

        need_used(&a, 20);
        need_used(&b, 30);
        dump = need_dump(&a);
        n = strlen(dump);
        for (at = strchr(dump, '\n'); at[1]; at = strchr(at + 1, '\n')) {
            expect_refused(&b, dump, (size_t)(at - dump) + 1, "ends behind a line");
            expect_refused(&b, dump, (size_t)(at - dump) - 1, "ends in a line");
        }
        at = strstr(dump, "ncpus=1");
        at[6] = '2';
        expect_refused(&b, dump, n, "has another digit");
        free(dump);
        forget(&a);
        forget(&b);
    }
}

static void what_is_no_dump_is_refused_by_name(void **state)
{
    static const char head[] = "{\"cede_dump\":1,\"schema\":2}\n";
    static const struct {
        const char *text, *says;
        bool headed;
    } rows[] = {
        {"", "is empty", false},
        {"hello\n", "not a dump of pbs_store", false},
        {"{\"cede_dump\":9,\"schema\":2}\n", "format 9", false},
        {"{\"cede_dump\":1,\"schema\":77}\n", "version 77", false},
        {"[\"nothing\",1]\n", "line 2 of the dump: there is no table \"nothing\"", true},
        {"[\"acct\",1,2]\n", "has 2 columns where 3 belong", true},
        {"[\"acct\",1,2,\"YQ==\",3]\n", "more than 3 columns", true},
        {"[\"acct\",1,2,\"a\"]\n", "column line of a row of table acct is not a text in base64", true},
        {"[\"acct\",\"1\",2,\"\"]\n", "column n of a row of table acct is not a number", true},
        {"[\"acct\",99999999999999999999,2,\"\"]\n", "column n of a row of table acct is not a number", true},
        {"[\"meta\",\"a\",\"b\\u0000\"]\n", "column value of a row of table meta is not a text", true},
        {"[\"meta\",\"a\",\"b\\ud800\"]\n", "column value of a row of table meta is not a text", true},
        {"[\"meta\",\"a\",\"b\"] x\n", "text follows a row", true},
        {"[\"meta\",\"a\n", "is not a text", true},
        {"[\"meta\",null,\"b\"]\n", "has no name", true},
        {"{\"rows\":0,\"sha256\":\"\"}\n", "altered", true},
        {"{\"rows\":5,\"sha256\":\"\"}\n", "last line says 5", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct store_where w = fresh(0);
        struct err e = {0};
        struct strbuf text;

        strbuf_init(&text, 1000);
        strbuf_add(&text, rows[i].headed ? head : "");
        strbuf_add(&text, rows[i].text);
        assert_int_equal(restore_text(&w, strbuf_str(&text), text.len ? text.len : 1, false, &e), -1);
        if (text.len && !strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.text);
        strbuf_fini(&text);
        forget(&w);
    }
}

/* The half of a dump goes into a pipe; when the child has read it, it waits for more within its transaction. */
static void a_killed_restore_leaves_the_store_as_it_was(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct store_where a = fresh(kind), b = fresh(kind);
        char *dump, *before, *after;
        int to[2], status, left = 1;
        pid_t pid;

        need_used(&a, 3 * BATCH_JOBS);
        need_used(&b, 10);
        dump = need_dump(&a);
        before = need_dump(&b);
        assert_int_equal(pipe(to), 0);
        pid = fork();
        if (pid == 0) {
            FILE *f = fdopen(to[0], "r");
            struct store *s = store_open(&b, NULL);
            struct dump_counts c;

            close(to[1]);
            if (s && lease_hold(s, NULL) == 0)
                dump_read(s, f, true, &c, NULL);
            _exit(1);
        }
        close(to[0]);
        assert_int_equal(file_write_all(to[1], dump, strlen(dump) * 9 / 10, NULL), 0);
        while (left) /* until it has all been taken out of the pipe */
            assert_int_equal(ioctl(to[1], FIONREAD, &left), 0);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        close(to[1]);
        after = need_dump(&b);
        expect_same_rows(before, after);
        free(dump);
        free(before);
        free(after);
        forget(&a);
        forget(&b);
    }
}

static int count_row(void *arg, const struct store_table *t, const struct store_batch_stmt *row,
                     struct err *e)
{
    ++*(int *)arg;
    return 0;
}

static void a_dump_shows_one_moment_while_the_server_writes(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct store_where w = fresh(kind);
        struct store *server, *reader;
        struct store_batch *b = store_batch_create();
        struct lease l = {0};
        int before = 0, after = 0;

        need_used(&w, 0);
        server = need_open(&w);
        assert_int_equal(lease_take(server, &l, NULL), 0);
        reader = need_open(&w);
        assert_int_equal(store_begin(reader, STORE_READ, NULL), 0);
        assert_int_equal(store_table_walk(reader, count_row, &before, NULL), 0);
        put_job(b, 77, "{}");
        need_apply(server, b, l.epoch);
        assert_int_equal(store_table_walk(reader, count_row, &after, NULL), 0);
        assert_int_equal(before, after);
        assert_int_equal(store_end(reader, false, NULL), 0);
        after = 0;
        assert_int_equal(store_table_walk(reader, count_row, &after, NULL), 0);
        assert_int_equal(before + 1, after);
        store_close(reader);
        store_close(server);
        store_batch_destroy(b);
        forget(&w);
    }
}

static void a_store_that_a_server_uses_cannot_be_filled(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct store_where w = fresh(kind);
        struct store *server = need_open(&w), *other = need_open(&w);
        struct lease l = {0};
        struct err e = {0};

        assert_int_equal(lease_take(server, &l, NULL), 0);
        assert_int_equal(lease_hold(other, &e), -1);
        assert_int_equal(e.code, EWOULDBLOCK);
        store_close(other);
        store_close(server);
        forget(&w);
    }
}

static void the_server_of_an_older_copy_can_store_nothing_in_a_filled_store(void **state)
{
    struct store_where a = fresh(0), b = fresh(0);
    struct store *s;
    struct lease l = {0};
    struct err e = {0};
    char *dump;

    need_used(&a, 0);
    dump = need_dump(&a);
    for (int i = 0; i < 5; i++) { /* activations since */
        s = need_open(&a);
        assert_int_equal(lease_take(s, &l, NULL), 0);
        store_close(s);
    }
    if (restore_text(&b, dump, strlen(dump), false, &e) < 0)
        fail_msg("%s", e.text);
    s = need_open(&b);
    assert_true(l.epoch == 6);
    assert_int_equal(lease_take(s, &l, NULL), 0);
    assert_true(l.epoch > DUMP_EPOCH_STRIDE);
    store_close(s);
    free(dump);
    forget(&a);
    forget(&b);
}

static void an_empty_store_has_nothing_to_dump(void **state)
{
    struct store_where w = fresh(0), missing = fresh(0);
    struct store *s = need_target(&w);
    struct dump_counts c;
    struct err e = {0};

    assert_int_equal(dump_write(s, stderr, &c, &e), -1);
    assert_non_null(strstr(e.text, "no server has used"));
    store_close(s);
    assert_null(store_open_existing(&missing, &e));
    assert_int_equal(access(missing.path, F_OK), -1);
    forget(&w);
    forget(&missing);
}

/* A line with some bytes changed, cut or put twice; what is read is written and read again to the same. */
static void any_line_is_read_or_refused(void **state)
{
    static const char *const good[] = {
        "[\"meta\",\"a\",\"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\"]", "[\"acct\",1,-2,\"AAECAwQFBgc=\"]",
        "[\"job\",9223372036854775807,-1,\"1.x\",\"queued\",null,\"\",\"p\",\"{}\",\"{}\",\"{}\",\"{}\"]",
        "[\"script\",1,-1,0,\"\"]"};
    static const char spice[] = "\"\\[],{}u0dD8fnull=-+/ \t\xf4\x8f\xbf\xbf\x01";
    unsigned taken = 0;

    srandom(4711);
    for (int run = 0; run < 50000; run++) {
        const char *from = good[random() % 4];
        size_t n = strlen(from), at;
        char *line = malloc(n + 8), *exact;
        const struct store_table *t;
        struct store_batch_stmt row;
        struct err e;

        memcpy(line, from, n + 1);
        for (long k = random() % 4; k > 0 && n; k--) {
            at = (size_t)random() % n;
            if (random() % 8 == 0)
                line[n = at] = '\0';
            else
                line[at] = spice[random() % (long)(sizeof spice - 1)];
        }
        exact = realloc(line, n + 1); /* a byte too far is the sanitizer's */
        assert_non_null(exact);
        line = exact;
        if (dump_line_read(line, &t, &row, &e) == 0) {
            struct strbuf once, twice;

            taken++;
            strbuf_init(&once, 10000);
            strbuf_init(&twice, 10000);
            dump_line_add(&once, t, &row);
            free(line);
            line = strdup(strbuf_str(&once));
            assert_int_equal(dump_line_read(line, &t, &row, &e), 0);
            dump_line_add(&twice, t, &row);
            assert_string_equal(strbuf_str(&once), strbuf_str(&twice));
            strbuf_fini(&once);
            strbuf_fini(&twice);
        }
        free(line);
    }
    assert_true(taken > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_restores_to_the_same_rows_in_either_store),
        cmocka_unit_test(a_store_of_moderate_size_is_copied_row_for_row),
        cmocka_unit_test(a_store_in_use_is_replaced_only_where_that_was_said),
        cmocka_unit_test(a_dump_that_is_cut_off_or_altered_changes_nothing),
        cmocka_unit_test(what_is_no_dump_is_refused_by_name),
        cmocka_unit_test(a_killed_restore_leaves_the_store_as_it_was),
        cmocka_unit_test(a_dump_shows_one_moment_while_the_server_writes),
        cmocka_unit_test(a_store_that_a_server_uses_cannot_be_filled),
        cmocka_unit_test(the_server_of_an_older_copy_can_store_nothing_in_a_filled_store),
        cmocka_unit_test(an_empty_store_has_nothing_to_dump),
        cmocka_unit_test(any_line_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, begin_world, end_world);
}
