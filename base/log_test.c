#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock.h"
#include "log.h"
#include "log_head.h"

enum { TEXT_MAX = 65536 };

struct fixture {
    char dir[64], logs[80];
    struct clock *clock;
    char text[TEXT_MAX];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    setenv("TZ", "UTC", 1);
    tzset();
    snprintf(f->dir, sizeof f->dir, "/tmp/log_test.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->logs, sizeof f->logs, "%s/server_logs", f->dir);
    f->clock = clock_create_driven(1700000000123456000LL); /* 2023-11-14 22:13:20.123456 */
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[100];

    log_close();
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    clock_destroy(f->clock);
    free(f);
    return 0;
}

static const char *read_log(struct fixture *f, const char *name)
{
    char path[200];
    FILE *in;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", f->logs, name);
    in = fopen(path, "r");
    assert_non_null(in);
    n = fread(f->text, 1, sizeof f->text - 1, in);
    f->text[n] = '\0';
    fclose(in);
    return f->text;
}

static void open_log(struct fixture *f, bool highres)
{
    struct err e = {0};
    struct log_options o = {.dir = f->logs,
                            .daemon = "Server@host",
                            .mask = LOG_MASK_SERVER,
                            .clock = f->clock,
                            .highres = highres};

    if (log_open(&o, &e) < 0)
        fail_msg("%s", e.text);
}

static void lines_have_the_form_of_pbs(void **state)
{
    struct fixture *f = *state;
    struct err e = {ENOENT, "no such file"};
    struct stat st;
    char path[200];

    open_log(f, false);
    errno = 77;
    log_event(LOGC_JOB, LOGE_JOB, "12.host", "Job Queued at request of %s", "me");
    assert_int_equal(errno, 77);
    log_event(LOGC_SCHED, LOGE_DEBUG3, "x", "not in the mask");
    log_event(LOGC_TPP, LOGE_FORCE | LOGE_DEBUG3, "x", "forced");
    log_event(LOGC_REQ, LOGE_SYSTEM, "y", "two\nlines\t");
    log_err(LOGC_FIL, "hook", &e, "reading %d", 5);
    log_close();
    assert_string_equal(read_log(f, "20231114"),
                        "11/14/2023 22:13:20;0002;Server@host;Svr;Log;Log opened\n"
                        "11/14/2023 22:13:20;0008;Server@host;Job;12.host;Job Queued at request of me\n"
                        "11/14/2023 22:13:20;0400;Server@host;TPP;x;forced\n"
                        "11/14/2023 22:13:20;0002;Server@host;Req;y;two lines \n"
                        "11/14/2023 22:13:20;0001;Server@host;Fil;hook;reading 5: no such file (2)\n"
                        "11/14/2023 22:13:20;0002;Server@host;Svr;Log;Log closed\n");
    snprintf(path, sizeof path, "%s/20231114", f->logs);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
}

static void a_new_day_gets_a_new_file(void **state)
{
    struct fixture *f = *state;

    open_log(f, true);
    clock_advance(f->clock, 7200LL * 1000000000);
    log_event(LOGC_SVR, LOGE_SYSTEM, "s", "after midnight");
    log_close();
    assert_string_equal(read_log(f, "20231115"),
                        "11/15/2023 00:13:20.123456;0002;Server@host;Svr;Log;Log opened\n"
                        "11/15/2023 00:13:20.123456;0002;Server@host;Svr;s;after midnight\n"
                        "11/15/2023 00:13:20.123456;0002;Server@host;Svr;Log;Log closed\n");
    assert_non_null(strstr(read_log(f, "20231114"), "Log closed\n"));
}

static void each_file_says_whose_it_is(void **state)
{
    static const char head[] = "11/14/2023 22:13:20;0002;pbs_mom;Svr;Log;Log opened\n"
                               "11/14/2023 22:13:20;0002;pbs_mom;Svr;pbs_mom;pbs_version=1\n"
                               "11/14/2023 22:13:20;0002;pbs_mom;Svr;pbs_mom;hostname=h\n"
                               "11/14/2023 22:13:20;0002;pbs_mom;Svr;Log;Log closed\n";
    struct fixture *f = *state;
    struct log_options o = {.dir = f->logs, .daemon = "pbs_mom", .clock = f->clock};
    char lines[] = "pbs_version=1\nhostname=h\n", twice[2 * sizeof head];

    o.head = lines;
    assert_int_equal(log_open(&o, NULL), 0);
    memset(lines, 'x', sizeof lines - 1); /* it was copied */
    assert_int_equal(log_reopen(NULL), 0);
    log_close();
    snprintf(twice, sizeof twice, "%s%s", head, head);
    assert_string_equal(read_log(f, "20231114"), twice);
}

static void a_head_names_the_host_and_its_addresses(void **state)
{
    char *head = log_head_make(&(struct log_head){.version = "1.2", .own = "0.3", .host = "h1", .mom = "n1"});

    assert_non_null(head);
    assert_ptr_equal(strstr(head, "pbs_version=1.2\npbs_build=mach="), head);
    assert_non_null(strstr(head, "\ncede_version=0.3\n"));
    assert_non_null(strstr(head, "\nhostname=h1;pbs_leaf_name=N/A;pbs_mom_node_name=n1\n"));
    assert_non_null(strstr(head, "\nipv4 interface lo: 127.0.0.1\n"));
    free(head);
}

static void mask_and_reopen_apply_at_once(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    char from[200], to[200];

    open_log(f, false);
    log_set_mask(LOGE_DEBUG4);
    assert_false(log_is_on(LOGE_JOB));
    assert_true(log_is_on(LOGE_DEBUG4));
    assert_true(log_is_on(LOGE_FORCE));
    snprintf(from, sizeof from, "%s/20231114", f->logs);
    snprintf(to, sizeof to, "%s/moved", f->logs);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(log_reopen(&e), 0);
    log_event(LOGC_SVR, LOGE_DEBUG4, "s", "here");
    log_close();
    assert_non_null(strstr(read_log(f, "20231114"), ";0800;Server@host;Svr;s;here\n"));
    assert_null(strstr(read_log(f, "moved"), "here"));
}

/* A file that may not grow acts as a disk that is full: a write takes what fits. */
static void of_a_line_that_a_full_disk_cuts_nothing_stays(void **state)
{
    struct fixture *f = *state;
    struct rlimit was, tight;

    signal(SIGXFSZ, SIG_IGN);
    open_log(f, false);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    tight = (struct rlimit){.rlim_cur = strlen(read_log(f, "20231114")) + 10, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    log_event(LOGC_SVR, LOGE_SYSTEM, "s", "lost");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    log_close();
    assert_string_equal(read_log(f, "20231114"), "11/14/2023 22:13:20;0002;Server@host;Svr;Log;Log opened\n"
                                                 "11/14/2023 22:13:20;0002;Server@host;Svr;Log;Log closed\n");
}

static size_t log_size(const struct fixture *f, const char *name)
{
    char path[200];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", f->logs, name);
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/* Numbers that follow "line " in the text: 0, 1, 2 and so on, `n` of them. */
static void assert_lines(const char *text, int n)
{
    int found = 0;

    for (; (text = strstr(text, "line ")); text += 5)
        assert_int_equal(atoi(text + 5), found++);
    assert_int_equal(found, n);
}

static void gathered_lines_are_written_in_blocks_in_their_order(void **state)
{
    struct fixture *f = *state;
    size_t before, seen;
    int n = 0, writes = 0;

    open_log(f, false);
    before = seen = log_size(f, "20231114");
    log_gather();
    log_event(LOGC_JOB, LOGE_SYSTEM, "1.x", "line %d", n++);
    assert_int_equal(log_size(f, "20231114"), before);
    log_event(LOGC_JOB, LOGE_ERROR, "2.x", "line %d",
              n++); /* a person must see it, after what came before it */
    assert_lines(read_log(f, "20231114"), 2);
    log_event(LOGC_JOB, LOGE_SYSTEM, "3.x", "line %d", n++);
    assert_int_equal(log_reopen(NULL), 0);
    assert_lines(read_log(f, "20231114"), 3);
    for (seen = log_size(f, "20231114"); n < 1000;) {
        log_event(LOGC_JOB, LOGE_SYSTEM, "4.x", "line %d", n++);
        writes += log_size(f, "20231114") != seen;
        seen = log_size(f, "20231114");
    }
    log_gather_end();
    assert_int_equal(writes, 0); /* 53 bytes each: they are less than a block */
    assert_lines(read_log(f, "20231114"), 1000);
    log_event(LOGC_JOB, LOGE_SYSTEM, "5.x", "line %d", n++);
    assert_lines(read_log(f, "20231114"), 1001);
}

static void more_than_a_block_is_written_meanwhile(void **state)
{
    enum { LINES = 5000 };
    struct fixture *f = *state;
    size_t seen;
    int writes = 0;

    open_log(f, false);
    seen = log_size(f, "20231114");
    log_gather();
    for (int i = 0; i < LINES; i++) {
        log_event(LOGC_JOB, LOGE_SYSTEM, "1.x", "line %d", i);
        if (log_size(f, "20231114") != seen) {
            seen = log_size(f, "20231114");
            writes++;
        }
    }
    assert_in_range(writes, 2, LINES / 1000);
    assert_true(seen <= (size_t)(writes + 1) * LOG_BLOCK_BYTES);
    log_gather_end();
    assert_true(log_size(f, "20231114") > seen);
}

static void a_very_long_text_is_cut(void **state)
{
    struct fixture *f = *state;
    char *text = malloc(40000);

    memset(text, 'x', 39999);
    text[39999] = '\0';
    open_log(f, false);
    log_event(LOGC_SVR, LOGE_SYSTEM, text, "%s", text);
    log_close();
    free(text);
    assert_non_null(strstr(read_log(f, "20231114"), "xxx ...\n"));
    assert_non_null(strstr(f->text, "Log closed\n"));
}

static void unusable_places_are_refused(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct log_options o = {.dir = "/nonexistent/deep/logs", .daemon = "d", .mask = 1, .clock = f->clock};

    assert_int_equal(log_open(&o, &e), -1);
    assert_int_equal(e.code, ENOENT);
    o.syslog_facility = 12;
    assert_int_equal(log_open(&o, &e), -1);
    assert_int_equal(e.code, EINVAL);
}

static void touch_day(const struct fixture *f, const char *name)
{
    char path[200];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", f->logs, name);
    out = fopen(path, "w");
    assert_non_null(out);
    fclose(out);
}

static bool has_day(const struct fixture *f, const char *name)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", f->logs, name);
    return access(path, F_OK) == 0;
}

/* Today is 2023-11-14. */
static void days_that_are_not_kept_go_when_a_file_begins(void **state)
{
    static const char *const old[] = {"20231111", "20221231", "19991231"};
    static const char *const stay[] = {"20231113", "20231112",    "accounting",
                                       "2023111",  "20231111.gz", "notaday1"};
    struct fixture *f = *state;
    struct log_options o = {.dir = f->logs, .daemon = "d", .mask = ~0u, .clock = f->clock, .keep_days = 3};

    assert_int_equal(mkdir(f->logs, 0755), 0);
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        touch_day(f, old[i]);
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        touch_day(f, stay[i]);
    assert_int_equal(log_open(&o, NULL), 0);
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        assert_false(has_day(f, old[i]));
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        assert_true(has_day(f, stay[i]));
    clock_advance(f->clock, 24 * 3600 * 1000000000LL);
    log_event(LOGC_SVR, LOGE_SYSTEM, "x", "the first line of the next day");
    assert_true(has_day(f, "20231115") && has_day(f, "20231114") && has_day(f, "20231113"));
    assert_false(has_day(f, "20231112"));
}

static void without_a_number_of_days_nothing_goes(void **state)
{
    struct fixture *f = *state;
    struct log_options o = {.dir = f->logs, .daemon = "d", .mask = ~0u, .clock = f->clock};

    assert_int_equal(mkdir(f->logs, 0755), 0);
    touch_day(f, "19991231");
    assert_int_equal(log_open(&o, NULL), 0);
    assert_true(has_day(f, "19991231"));
}

/* Forty days lie there, and the clock says that ten years have passed. */
static void a_clock_that_is_far_ahead_takes_a_month_at_most(void **state)
{
    struct fixture *f = *state;
    struct log_options o = {.dir = f->logs, .daemon = "d", .mask = ~0u, .clock = f->clock, .keep_days = 90};
    char name[32];
    int left = 0;

    assert_int_equal(mkdir(f->logs, 0755), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "2013%02d%02d", 1 + i / 20, 1 + i % 20);
        touch_day(f, name);
    }
    assert_int_equal(log_open(&o, NULL), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "2013%02d%02d", 1 + i / 20, 1 + i % 20);
        left += has_day(f, name);
    }
    assert_int_equal(left, 40 - LOG_REMOVE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_have_the_form_of_pbs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_day_gets_a_new_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_file_says_whose_it_is, set_up, tear_down),
        cmocka_unit_test(a_head_names_the_host_and_its_addresses),
        cmocka_unit_test_setup_teardown(mask_and_reopen_apply_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_a_line_that_a_full_disk_cuts_nothing_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gathered_lines_are_written_in_blocks_in_their_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(more_than_a_block_is_written_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_very_long_text_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unusable_places_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(days_that_are_not_kept_go_when_a_file_begins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_number_of_days_nothing_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_is_far_ahead_takes_a_month_at_most, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
