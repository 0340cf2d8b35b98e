/* Accounting on a real store and real files: whenever the server dies, no line is lost and none is doubled. */
#include "accounting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr_list.h"
#include "clock.h"
#include "file.h"
#include "lease.h"
#include "loop.h"
#include "strbuf.h"
#include "server_ctx_life.h"

enum { DAY_ONE = 1772532902 /* 2026-03-03 10:15:02 UTC */, WAIT_TURNS = 3000, FILLED = 16 << 20 };

struct bench {
    char dir[64];
    struct strbuf db, file;
    struct store_where where;
    struct clock *clock;
    struct loop *loop;
    struct server_ctx ctx;
    struct commit *commit;
    struct accounting *accounting;
    struct job *job;
};

static void open_site(struct bench *b)
{
    struct store *writer = store_open(&b->where, NULL), *from = store_open(&b->where, NULL);
    struct lease lease;
    struct err e = {0};

    assert_int_equal(lease_take(writer, &lease, &e), 0);
    b->loop = loop_create(b->clock, NULL);
    assert_int_equal(server_ctx_create(&b->ctx, b->clock, "svr1", NULL), 0);
    b->commit = commit_create(b->loop, b->ctx.change, b->ctx.resources, writer, lease.epoch, NULL);
    b->accounting = accounting_create(b->loop, &b->ctx, b->commit, b->dir, &e);
    assert_non_null(b->accounting);
    if (accounting_restore(b->accounting, from, &e) < 0)
        fail_msg("%s", e.text);
    store_close(from);
    b->job = job_create((struct job_key){41, -1}, "41.svr1");
    job_set_text(&b->job->euser, "anna");
    job_set_text(&b->job->egroup, "chem");
    job_set_text(&b->job->project, "_pbs_project_default");
    job_set_text(&b->job->queue_name, "workq");
    b->job->ctime_s = b->job->qtime_s = b->job->etime_s = DAY_ONE - 12;
    b->job->stime_s = DAY_ONE;
}

static void close_site(struct bench *b)
{
    accounting_destroy(b->accounting);
    commit_destroy(b->commit);
    job_unref(b->job);
    server_ctx_destroy(&b->ctx);
    loop_destroy(b->loop);
}

static int begin(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    const char form[] = "/tmp/cede-acct-XXXXXX";

    setenv("TZ", "UTC", 1);
    memcpy(b->dir, form, sizeof form);
    assert_non_null(mkdtemp(b->dir));
    strbuf_init(&b->db, 1000);
    strbuf_init(&b->file, 1000);
    strbuf_addf(&b->db, "%s/cede.db", b->dir);
    strbuf_addf(&b->file, "%s/server_priv/accounting/20260303", b->dir);
    b->where.path = strbuf_str(&b->db);
    b->clock = clock_create_driven((int64_t)DAY_ONE * 1000000000);
    open_site(b);
    *state = b;
    return 0;
}

static int end(void **state)
{
    struct bench *b = *state;

    close_site(b);
    clock_destroy(b->clock);
    file_remove_tree(AT_FDCWD, b->dir, NULL);
    strbuf_fini(&b->db);
    strbuf_fini(&b->file);
    free(b);
    return 0;
}

static void note(void *arg)
{
    *(bool *)arg = true;
}

/* Durable; the file is written by a thread, after that. */
static void settle(struct bench *b)
{
    bool durable = false;

    commit_then(b->commit, note, &durable);
    for (int i = 0; i < WAIT_TURNS && !durable; i++)
        loop_turn(b->loop, 20, NULL);
    assert_true(durable);
}

static char *contents(struct bench *b)
{
    char *bytes;

    assert_int_equal(file_read(AT_FDCWD, strbuf_str(&b->file), 1 << 20, &bytes, NULL, NULL), 0);
    return bytes;
}

static size_t written(struct bench *b)
{
    struct stat st;

    return stat(strbuf_str(&b->file), &st) == 0 ? (size_t)st.st_size : 0;
}

/* Waits until so much is there; what is there too much will be seen as well. */
static void expect_file(struct bench *b, const char *text)
{
    char *bytes;

    for (int i = 0; i < WAIT_TURNS && written(b) < strlen(text); i++)
        loop_turn(b->loop, 20, NULL);
    bytes = contents(b);
    assert_string_equal(bytes, text);
    free(bytes);
}

#define LINE(type) "03/03/2026 10:15:02;" type ";41.svr1;\n"

#define THREE_LINES LINE("C") LINE("T") LINE("C")

static void three_lines(struct bench *b)
{
    accounting_checkpointed(b->accounting, b->job);
    accounting_restarted(b->accounting, b->job);
    accounting_checkpointed(b->accounting, b->job); /* the same text once more */
    settle(b);
    expect_file(b, THREE_LINES);
}

static void lines_are_in_the_file_when_they_are_durable(void **state)
{
    three_lines(*state);
}

static void a_restart_doubles_nothing(void **state)
{
    struct bench *b = *state;

    three_lines(b);
    close_site(b);
    open_site(b);
    expect_file(b, THREE_LINES);
    accounting_restarted(b->accounting, b->job);
    settle(b);
    expect_file(b, THREE_LINES LINE("T"));
}

/* Closing without another turn is a kill as far as the store goes; of the file there is what had been written. */
static void kill_with(struct bench *b, size_t bytes)
{
    close_site(b);
    assert_int_equal(truncate(strbuf_str(&b->file), (off_t)bytes), 0);
    open_site(b);
}

static void a_kill_at_any_byte_of_the_file_loses_nothing(void **state)
{
    struct bench *b = *state;
    const char *whole = THREE_LINES;

    three_lines(b);
    for (size_t n = 0; n <= strlen(whole); n += 7) {
        kill_with(b, n);
        expect_file(b, whole);
    }
    kill_with(b, strlen(LINE("C")));
    expect_file(b, whole);
}

static void a_file_that_was_moved_away_is_made_again(void **state)
{
    struct bench *b = *state;

    three_lines(b);
    close_site(b);
    assert_int_equal(unlink(strbuf_str(&b->file)), 0);
    open_site(b);
    expect_file(b, THREE_LINES);
}

static void what_is_filed_is_not_looked_at_again(void **state)
{
    struct bench *b = *state;

    three_lines(b);
    commit_acct_filed(b->commit, 3, "20260303", 3 * strlen(LINE("C")));
    settle(b);
    accounting_restarted(b->accounting, b->job);
    settle(b);
    close_site(b);
    open_site(b);
    expect_file(b, THREE_LINES LINE("T"));
    accounting_checkpointed(b->accounting, b->job);
    settle(b);
    expect_file(b, THREE_LINES LINE("T") LINE("C"));
}

/* Turns until it is so; the worker needs no turn, but what it has done is told in one. */
static void expect_end(struct bench *b, const char *text)
{
    char *bytes = contents(b);

    for (int i = 0; i < WAIT_TURNS && strcmp(bytes + strlen(bytes) - strlen(text), text) != 0; i++) {
        loop_turn(b->loop, 20, NULL);
        free(bytes);
        bytes = contents(b);
    }
    assert_string_equal(bytes + strlen(bytes) - strlen(text), text);
    free(bytes);
}

static void expect_size(struct bench *b, size_t size)
{
    for (int i = 0; i < WAIT_TURNS && written(b) < size; i++)
        loop_turn(b->loop, 20, NULL);
    assert_int_equal(written(b), size);
}

/* Turns until a line has been written to the file. */
static void expect_touch(struct bench *b, const struct stat *before)
{
    struct stat now = *before;

    for (int i = 0; i < WAIT_TURNS && memcmp(&now.st_ctim, &before->st_ctim, sizeof now.st_ctim) == 0; i++) {
        loop_turn(b->loop, 20, NULL);
        assert_int_equal(stat(strbuf_str(&b->file), &now), 0);
    }
}

/* A file that may not grow simulates a full disk: a write takes what fits, then fails. It is made longer
 * than any file of the store, which the limit would stop otherwise. */
static void of_a_line_that_a_full_disk_cuts_nothing_stays(void **state)
{
    struct bench *b = *state;
    struct rlimit was, tight;
    struct stat before;

    signal(SIGXFSZ, SIG_IGN);
    three_lines(b);
    assert_int_equal(truncate(strbuf_str(&b->file), FILLED), 0);
    assert_int_equal(stat(strbuf_str(&b->file), &before), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    tight = (struct rlimit){.rlim_cur = FILLED + 10, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    accounting_restarted(b->accounting, b->job);
    settle(b);
    expect_touch(b, &before);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    accounting_checkpointed(b->accounting, b->job);
    settle(b);
    expect_size(b, FILLED + strlen(LINE("T") LINE("C")));
}

static int descriptor_of(const char *path)
{
    struct stat wanted, st;

    assert_int_equal(stat(path, &wanted), 0);
    for (int fd = 3; fd < 256; fd++)
        if (fstat(fd, &st) == 0 && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
            return fd;
    fail_msg("%s is not open", path);
    return -1;
}

/* What is not a file cannot be synced. */
static void lines_go_on_after_a_sync_that_failed(void **state)
{
    struct bench *b = *state;
    int fd, kept, p[2];
    char byte;

    for (int i = 0; i < 1001; i++)
        accounting_checkpointed(b->accounting, b->job);
    settle(b);
    expect_size(b, 1001 * strlen(LINE("C")));
    fd = descriptor_of(strbuf_str(&b->file));
    kept = dup(fd);
    assert_int_equal(pipe(p), 0);
    assert_int_equal(dup2(p[1], fd), fd);
    accounting_checkpointed(b->accounting, b->job);
    settle(b);
    for (int i = 0; i < 10; i++) /* the end of that write is told */
        loop_turn(b->loop, 20, NULL);
    assert_int_equal(read(p[0], &byte, 1), 1);
    assert_int_equal(dup2(kept, fd), fd);
    close(kept);
    close(p[0]);
    close(p[1]);
    accounting_restarted(b->accounting, b->job);
    settle(b);
    expect_end(b, LINE("T"));
}

static void the_fields_are_those_of_the_fact_sheet(void **state)
{
    struct bench *b = *state;
    struct attr_list *l = &b->job->obj.attrs;

    assert_int_equal(attr_list_set_text(l, JOB_ATTR_Job_Name, "relax.sh", NULL), 0);
    assert_int_equal(attr_list_set_text(l, JOB_ATTR_Account_Name, "my lab", NULL), 0);
    assert_int_equal(attr_list_set_text(l, JOB_ATTR_exec_host, "node07/0*4", NULL), 0);
    assert_int_equal(attr_list_set_text(l, JOB_ATTR_exec_vnode, "(node07:ncpus=4:mem=2097152kb)", NULL), 0);
    assert_int_equal(
        attr_list_change(l, b->ctx.resources, JOB_ATTR_Resource_List, "walltime", "01:00:00", SET, NULL), 0);
    assert_int_equal(attr_list_change(l, b->ctx.resources, JOB_ATTR_Resource_List, "ncpus", "4", SET, NULL),
                     0);
    assert_int_equal(attr_list_change(l, b->ctx.resources, JOB_ATTR_Resource_List, "mem", "2gb", SET, NULL),
                     0);
    b->job->state = JOB_RUNNING;
    accounting_listen(b->accounting, b->job, JOB_STARTING, EV_STARTED);
    b->job->state = JOB_FINISHED;
    b->job->exited = true;
    b->job->exit_status = 271;
    b->job->session = 999;
    b->job->run_count = 1;
    b->job->obittime_s = DAY_ONE + 5;
    b->job->usage =
        (struct job_usage){.cput_ms = 4000, .walltime_ms = 5000, .mem_kb = 1000, .vmem_kb = 2000, .ncpus = 4};
    accounting_listen(b->accounting, b->job, JOB_EXITING, EV_RUN_OVER);
    settle(b);
#define SET_OF_JOB                                                                                                        \
    "user=anna group=chem account=\"my lab\" project=_pbs_project_default jobname=relax.sh queue=workq ctime=1772532890 " \
    "qtime=1772532890 etime=1772532890 start=1772532902 exec_host=node07/0*4 "                                            \
    "exec_vnode=(node07:ncpus=4:mem=2097152kb) Resource_List.mem=2gb Resource_List.ncpus=4 "                              \
    "Resource_List.walltime=01:00:00 "
    expect_file(b, "03/03/2026 10:15:02;S;41.svr1;" SET_OF_JOB
                   "resource_assigned.mem=2097152kb resource_assigned.ncpus=4\n"
                   "03/03/2026 10:15:02;E;41.svr1;" SET_OF_JOB
                   "session=999 end=1772532907 Exit_status=271 resources_used.cpupercent=0 "
                   "resources_used.cput=00:00:04 resources_used.mem=1000kb resources_used.ncpus=4 "
                   "resources_used.vmem=2000kb resources_used.walltime=00:00:05 run_count=1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_in_the_file_when_they_are_durable, begin, end),
        cmocka_unit_test_setup_teardown(a_restart_doubles_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_kill_at_any_byte_of_the_file_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_was_moved_away_is_made_again, begin, end),
        cmocka_unit_test_setup_teardown(what_is_filed_is_not_looked_at_again, begin, end),
        cmocka_unit_test_setup_teardown(of_a_line_that_a_full_disk_cuts_nothing_stays, begin, end),
        cmocka_unit_test_setup_teardown(lines_go_on_after_a_sync_that_failed, begin, end),
        cmocka_unit_test_setup_teardown(the_fields_are_those_of_the_fact_sheet, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
