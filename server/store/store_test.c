/* Both stores, with the same tests: a SQLite file, and a PostgreSQL cluster of our own in a scratch directory. */
#include "store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "lease.h"
#include "schema.h"
#include "scratch_pg_test.h"
#include "strbuf.h"

struct place {
    struct store_where where;
    char dir[64];
    struct scratch_pg *pg;
    struct strbuf path;
};

static int begin_sqlite(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    const char form[] = "/tmp/cede-store-XXXXXX";

    memcpy(p->dir, form, sizeof form);
    assert_non_null(mkdtemp(p->dir));
    strbuf_init(&p->path, 1000);
    strbuf_addf(&p->path, "%s/cede.db", p->dir);
    p->where.path = strbuf_str(&p->path);
    *state = p;
    return 0;
}

static int end_sqlite(void **state)
{
    struct place *p = *state;

    file_remove_tree(AT_FDCWD, p->dir, NULL);
    strbuf_fini(&p->path);
    free(p);
    return 0;
}

static int begin_pg(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    p->pg = scratch_pg_start();
    if (!p->pg) {
        free(p);
        return -1;
    }
    p->where.host = scratch_pg_dir(p->pg);
    p->where.user = "postgres";
    *state = p;
    return 0;
}

static int end_pg(void **state)
{
    struct place *p = *state;

    scratch_pg_stop(p->pg);
    free(p);
    return 0;
}

static struct store *need_store(const struct place *p)
{
    struct err e = {0};
    struct store *s = store_open(&p->where, &e);

    if (!s)
        fail_msg("%s", e.text);
    return s;
}

enum { TRIES = 6000 };

/* A session that ended is known to PostgreSQL for a while, and so is its lease: the caller tries again, as the server does. */
static void wait_for_lease(int tries, const struct err *e)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    if (e->code != EWOULDBLOCK || tries == TRIES)
        fail_msg("%s", e->text);
    nanosleep(&pause, NULL);
}

static struct lease need_lease(struct store *s)
{
    struct err e = {0};
    struct lease l = {.epoch = 0};

    for (int tries = 0; lease_take(s, &l, &e) < 0; tries++)
        wait_for_lease(tries, &e);
    return l;
}

static void need_apply(struct store *s, const struct store_batch *b, uint64_t epoch)
{
    struct err e = {0};

    if (store_apply(s, b, epoch, &e) < 0)
        fail_msg("%s", e.text);
}

static void put_job(struct store_batch *b, int64_t seq, const char *state, const char *hot)
{
    store_batch_begin(b, STMT_JOB_PUT);
    store_batch_number(b, seq);
    store_batch_number(b, -1);
    store_batch_text(b, "41.svr");
    store_batch_text(b, state);
    store_batch_text(b, NULL);
    store_batch_text(b, "anna@h");
    store_batch_text(b, "p");
    store_batch_text(b, hot);
    store_batch_text(b, "{\"Priority\":5}");
    store_batch_text(b, "{}");
    store_batch_text(b, "{\"Variable_List\":\"A=1\"}");
}

struct seen {
    size_t n;
    struct strbuf text;
};

/* seq/hot of each job, one after the other */
static int see_job(void *arg, const struct store_row *row, struct err *e)
{
    struct seen *s = arg;

    s->n++;
    assert_int_equal(store_row_number(row, 1), -1);
    strbuf_addf(&s->text, "%lld %s;", (long long)store_row_number(row, 0), store_row_text(row, 3));
    return 0;
}

static void expect_jobs(struct store *s, const char *text)
{
    struct seen seen = {.n = 0};
    struct store_batch_stmt q;
    struct err e = {0};

    strbuf_init(&seen.text, 10000);
    stmt_init(&q, STMT_JOB_ALL);
    for (int tries = 0; store_query(s, &q, see_job, &seen, &e) < 0; tries++)
        wait_for_lease(tries, &e);
    assert_string_equal(strbuf_str(&seen.text), text);
    strbuf_fini(&seen.text);
}

static void a_batch_is_there_after_the_store_was_opened_again(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s), again;
    struct store_batch *b = store_batch_create();

    assert_true(l.is_new);
    assert_int_equal(l.epoch, 1);
    put_job(b, 7, "queued", "{\"a\":1}");
    put_job(b, 3, "held", "{\"a\":2}");
    need_apply(s, b, l.epoch);
    store_close(s);

    s = need_store(*state);
    again = need_lease(s);
    assert_false(again.is_new);
    assert_int_equal(again.epoch, 2);
    assert_string_equal(again.identity, l.identity);
    expect_jobs(s, "3 {\"a\":2};7 {\"a\":1};");

    store_batch_clear(b);
    store_batch_begin(b, STMT_JOB_HOT);
    store_batch_text(b, "running");
    store_batch_text(b, "workq");
    store_batch_text(b, "{\"a\":3}");
    store_batch_number(b, 7);
    store_batch_number(b, -1);
    store_batch_begin(b, STMT_JOB_REMOVE);
    store_batch_number(b, 3);
    store_batch_number(b, -1);
    need_apply(s, b, again.epoch);
    need_apply(s, b, again.epoch); /* as after a commit that was not confirmed */
    expect_jobs(s, "7 {\"a\":3};");
    store_batch_clear(b);
    store_batch_begin(b, STMT_JOB_REMOVE);
    store_batch_number(b, 7);
    store_batch_number(b, -1);
    need_apply(s, b, again.epoch);
    store_batch_destroy(b);
    store_close(s);
}

static void who_lost_the_epoch_writes_nothing(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s);
    struct store_batch *b = store_batch_create();
    struct err e = {0};

    put_job(b, 9, "queued", "{}");
    assert_int_equal(store_apply(s, b, l.epoch - 1, &e), -1);
    assert_int_equal(e.code, ESTALE);
    expect_jobs(s, "");
    need_apply(s, b, l.epoch); /* the right one still works */
    expect_jobs(s, "9 {};");
    store_batch_clear(b);
    store_batch_begin(b, STMT_JOB_REMOVE);
    store_batch_number(b, 9);
    store_batch_number(b, -1);
    need_apply(s, b, l.epoch);
    store_batch_destroy(b);
    store_close(s);
}

static void a_second_server_gets_no_lease(void **state)
{
    struct store *one = need_store(*state), *two = need_store(*state);
    struct lease l = need_lease(one), other;
    struct err e = {0};

    assert_int_equal(lease_take(two, &other, &e), -1);
    assert_int_equal(e.code, EWOULDBLOCK);
    store_close(one);
    other = need_lease(two);
    assert_int_equal(other.epoch, l.epoch + 1);
    store_close(two);
}

static void a_batch_with_one_bad_statement_changes_nothing(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s);
    struct store_batch *b = store_batch_create();
    struct err e = {0};

    put_job(b, 11, "queued", "{}");
    store_batch_begin(b, STMT_ACCT_PUT);
    store_batch_number(b, 1);
    store_batch_number(b, 1);
    store_batch_null(b); /* the line must be there */
    assert_int_equal(store_apply(s, b, l.epoch, &e), -1);
    assert_int_not_equal(e.code, ESTALE);
    expect_jobs(s, "");
    store_batch_destroy(b);
    store_close(s);
}

static int see_bytes(void *arg, const struct store_row *row, struct err *e)
{
    size_t n = 0;
    const char *bytes = store_row_bytes(row, 1, &n);

    return strbuf_add_bytes(arg, bytes, n);
}

static void bytes_of_a_script_come_back_as_they_were(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s);
    struct store_batch *b = store_batch_create();
    const char one[] = "a\0b\xff", two[] = "zz";
    struct store_batch_stmt q;
    struct strbuf got;

    store_batch_begin(b, STMT_SCRIPT_PUT);
    store_batch_number(b, 1);
    store_batch_number(b, -1);
    store_batch_number(b, 4);
    store_batch_bytes(b, two, 2);
    store_batch_begin(b, STMT_SCRIPT_PUT);
    store_batch_number(b, 1);
    store_batch_number(b, -1);
    store_batch_number(b, 0);
    store_batch_bytes(b, one, 4);
    need_apply(s, b, l.epoch);
    strbuf_init(&got, 100);
    stmt_init(&q, STMT_SCRIPT_GET);
    stmt_number(&q, 1);
    stmt_number(&q, -1);
    stmt_number(&q, 0);
    stmt_number(&q, 1000);
    assert_int_equal(store_query(s, &q, see_bytes, &got, NULL), 0);
    assert_int_equal(got.len, 6);
    assert_memory_equal(got.s, "a\0b\xffzz", 6);
    strbuf_fini(&got);
    store_batch_destroy(b);
    store_close(s);
}

static int see_history(void *arg, const struct store_row *row, struct err *e)
{
    return strbuf_addf(arg, "%lld[%d] ", (long long)store_row_number(row, 0), (int)store_row_number(row, 1));
}

static void put_history(struct store_batch *b, int64_t seq, int index, const char *owner)
{
    store_batch_begin(b, STMT_HISTORY_PUT);
    store_batch_number(b, seq);
    store_batch_number(b, index);
    store_batch_text(b, "id");
    store_batch_number(b, 100 + seq);
    store_batch_text(b, owner);
    store_batch_text(b, "workq");
    store_batch_text(b, "{}");
}

static void expect_page(struct store *s, int64_t seq, int index, const char *owner, int64_t limit,
                        const char *text)
{
    struct store_batch_stmt q;
    struct strbuf got;
    struct err e = {0};

    strbuf_init(&got, 1000);
    strbuf_add(&got, "");
    stmt_init(&q, STMT_HISTORY_PAGE);
    stmt_number(&q, seq);
    stmt_number(&q, index);
    stmt_text(&q, owner);
    stmt_text(&q, NULL);
    stmt_number(&q, limit);
    if (store_query(s, &q, see_history, &got, &e) < 0)
        fail_msg("%s", e.text);
    assert_string_equal(strbuf_str(&got), text);
    strbuf_fini(&got);
}

static void history_comes_in_pages_by_key(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s);
    struct store_batch *b = store_batch_create();

    put_history(b, 5, 2, "anna@h");
    put_history(b, 5, -1, "anna@h");
    put_history(b, 5, 0, "bert@h");
    put_history(b, 12, -1, "anna@h");
    need_apply(s, b, l.epoch);
    expect_page(s, -1, -1, NULL, 10, "5[-1] 5[0] 5[2] 12[-1] ");
    expect_page(s, -1, -1, NULL, 2, "5[-1] 5[0] ");
    expect_page(s, 5, 0, NULL, 2, "5[2] 12[-1] ");
    expect_page(s, -1, -1, "anna@h", 10, "5[-1] 5[2] 12[-1] ");
    store_batch_clear(b);
    store_batch_begin(b, STMT_HISTORY_PURGE);
    store_batch_number(b, 110);
    need_apply(s, b, l.epoch);
    expect_page(s, -1, -1, NULL, 10, "12[-1] ");
    store_batch_destroy(b);
    store_close(s);
}

static void a_store_of_a_newer_server_is_refused(void **state)
{
    struct store *s = need_store(*state);
    struct lease l = need_lease(s);
    struct err e = {0};

    assert_int_equal(store_script(s, "UPDATE meta SET value = '999' WHERE name = 'schema';", &e), 0);
    assert_int_equal(lease_take(s, &l, &e), -1);
    assert_non_null(strstr(e.text, "999"));
    assert_int_equal(store_script(s, "UPDATE meta SET value = '1' WHERE name = 'schema';", &e), 0);
    need_lease(s);
    store_close(s);
}

/* What lies on disk at this moment, as after a power cut: the database and its log, copied. */
static void copy_files(const struct place *from, struct strbuf *to)
{
    static const char *const ends[] = {"", "-wal"};
    struct strbuf name;
    char *bytes;
    size_t n;

    strbuf_init(&name, 1000);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        strbuf_reset(&name);
        strbuf_addf(&name, "%s%s", from->where.path, ends[i]);
        assert_int_equal(file_read(AT_FDCWD, strbuf_str(&name), 1 << 24, &bytes, &n, NULL), 0);
        strbuf_reset(&name);
        strbuf_addf(&name, "%s/copy.db%s", from->dir, ends[i]);
        assert_int_equal(file_write_quick(AT_FDCWD, strbuf_str(&name), bytes, n, 0600, NULL), 0);
        free(bytes);
    }
    strbuf_fini(&name);
    strbuf_addf(to, "%s/copy.db", from->dir);
}

/* Another program looks at the tables, as an administrator's would. */
static int look(const char *path)
{
    struct store *s = store_open(&(struct store_where){.path = path}, NULL);
    struct store_batch_stmt q;
    int rc;

    stmt_init(&q, STMT_JOB_ALL);
    rc = s ? store_query(s, &q, NULL, NULL, NULL) : -1;
    store_close(s);
    return rc < 0 ? 1 : 0;
}

static void let_another_program_look(const char *path)
{
    int status = -1;
    char own[4096];
    ssize_t n =
        readlink("/proc/self/exe", own, sizeof own - 1); /* the link itself is valgrind, under valgrind */
    pid_t pid;

    assert_true(n > 0);
    own[n] = '\0';
    pid = fork();
    if (pid == 0) {
        execl(own, "store_test", path, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_int_equal(status, 0);
}

static void others_who_look_and_close_take_nothing_away(void **state)
{
    const struct place *p = *state;
    struct store *writer = need_store(p), *other, *copy;
    struct lease l = need_lease(writer);
    struct store_batch *b = store_batch_create();
    struct strbuf path;

    put_job(b, 31, "queued", "{}");
    need_apply(writer, b, l.epoch);
    other = need_store(p);
    expect_jobs(other, "31 {};");
    store_close(other);
    let_another_program_look(p->where.path);
    put_job(b, 32, "queued", "{}");
    need_apply(writer, b, l.epoch);
    strbuf_init(&path, 1000);
    copy_files(p, &path);
    copy = store_open(&(struct store_where){.path = strbuf_str(&path)}, NULL);
    expect_jobs(copy, "31 {};32 {};");
    store_close(copy);
    strbuf_fini(&path);
    store_batch_destroy(b);
    store_close(writer);
}

static off_t log_bytes(const struct place *p)
{
    char path[128];
    struct stat st;

    snprintf(path, sizeof path, "%s-wal", p->where.path);
    return stat(path, &st) < 0 ? 0 : st.st_size;
}

/* A commit that makes the log longer waits for the disk twice as long. */
static void the_log_grows_by_pieces_not_by_batches(void **state)
{
    enum { BATCHES = 300, PIECES = 8 };
    const struct place *p = *state;
    struct store *s = need_store(p);
    struct lease l = need_lease(s);
    off_t before = log_bytes(p);
    int n_grown = 0;

    for (int i = 0; i < BATCHES; i++) {
        struct store_batch *b = store_batch_create();
        put_job(b, 100 + i, "queued", "{}");
        need_apply(s, b, l.epoch);
        n_grown += log_bytes(p) != before;
        before = log_bytes(p);
        store_batch_destroy(b);
    }
    assert_in_range(n_grown, 1, PIECES);
    store_close(s);
}

static void a_lost_session_comes_back_and_keeps_the_epoch(void **state)
{
    const struct place *p = *state;
    struct store *s = need_store(p), *other;
    struct lease l = need_lease(s);
    struct store_batch *b = store_batch_create();
    struct err e = {0};

    put_job(b, 21, "queued", "{}");
    other = need_store(p);
    assert_int_equal(
        store_script(other,
                     "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
                     "'pbs_server' AND pid <> pg_backend_pid(); CREATE TABLE IF NOT EXISTS x (y int);",
                     &e),
        0);
    assert_int_equal(store_apply(s, b, l.epoch, &e), -1);
    assert_int_not_equal(e.code, ESTALE);
    need_apply(s, b, l.epoch);
    expect_jobs(s, "21 {};");
    store_close(other);
    store_close(s);
    store_batch_destroy(b);
}

#define BOTH                                                                                                 \
    cmocka_unit_test(a_batch_is_there_after_the_store_was_opened_again),                                     \
        cmocka_unit_test(who_lost_the_epoch_writes_nothing),                                                 \
        cmocka_unit_test(a_second_server_gets_no_lease),                                                     \
        cmocka_unit_test(a_batch_with_one_bad_statement_changes_nothing),                                    \
        cmocka_unit_test(bytes_of_a_script_come_back_as_they_were),                                          \
        cmocka_unit_test(history_comes_in_pages_by_key),                                                     \
        cmocka_unit_test(a_store_of_a_newer_server_is_refused)

/* cmocka gives tests a state of their own; the group's is what they need. */
static int on_both_stores(void)
{
    const struct CMUnitTest sqlite[] = {BOTH, cmocka_unit_test(others_who_look_and_close_take_nothing_away),
                                        cmocka_unit_test(the_log_grows_by_pieces_not_by_batches)};
    const struct CMUnitTest pg[] = {BOTH, cmocka_unit_test(a_lost_session_comes_back_and_keeps_the_epoch)};
    int failed = cmocka_run_group_tests_name("sqlite", sqlite, begin_sqlite, end_sqlite);

    return failed + cmocka_run_group_tests_name("postgresql", pg, begin_pg, end_pg);
}

int main(int argc, char *argv[])
{
    return argc == 2 ? look(argv[1]) : on_both_stores();
}
