#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job_show.h"
#include "qstat_default.h"
#include "qstat_alternative.h"
#include "status_out.h"
#include "term_out.h"

#define A(n, r, v, next) (&(struct attrl){next, (char *)n, (char *)r, (char *)v, SET})

/* The output of a function, as text to be freed. */
struct out {
    char *text;
    size_t n;
    FILE *f;
};

static void begin(struct out *o)
{
    *o = (struct out){0};
    o->f = open_memstream(&o->text, &o->n);
}

static void expect(struct out *o, const char *want)
{
    fclose(o->f);
    assert_string_equal(o->text, want);
    free(o->text);
}

static void short_names(void **state)
{
    char out[JOB_SHOW_TEXT];

    assert_string_equal(job_show_id("41.svr1.cluster.org", out, sizeof out), "41.svr1");
    assert_string_equal(job_show_id("41[].svr1", out, sizeof out), "41[].svr1");
    assert_string_equal(job_show_user("anna@login2", out, sizeof out), "anna");
    assert_string_equal(job_show_hhmm("01:02:59", out), "01:02");
    assert_null(job_show_hhmm(NULL, out));
}

static void memory_in_four_digits(void **state)
{
    static const struct {
        const char *size;
        enum job_show_unit unit;
        const char *shown;
    } rows[] = {{"2gb", JOB_SHOW_OWN, "2gb"},      {"2097152kb", JOB_SHOW_OWN, "2048mb"},
                {"100", JOB_SHOW_OWN, "1kb"},      {"99999kb", JOB_SHOW_OWN, "98mb"},
                {"2097153kb", JOB_SHOW_GB, "3gb"}, {"8mb", JOB_SHOW_MW, "1mw"},
                {"9mb", JOB_SHOW_MW, "2mw"},       {"junk", JOB_SHOW_OWN, NULL},
                {"10000tb", JOB_SHOW_OWN, "10pb"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[JOB_SHOW_TEXT];
        const char *shown = job_show_memory(rows[i].size, rows[i].unit, out);

        if (rows[i].shown)
            assert_string_equal(shown, rows[i].shown);
        else
            assert_null(shown);
    }
}

static void percent_done(void **state)
{
    char out[JOB_SHOW_TEXT];

    assert_string_equal(
        job_show_percent(&(struct job_show){.used_walltime = "00:00:37", .want_walltime = "100"}, out),
        " 37 ");
    assert_string_equal(job_show_percent(&(struct job_show){.used_cput = "5:00", .want_cput = "1:00"}, out),
                        "100");
    assert_string_equal(job_show_percent(&(struct job_show){.used_cput = "5:00"}, out), "-- ");
    assert_string_equal(
        job_show_percent(&(struct job_show){.array_states = "Queued:2 Running:1 Exiting:0 Expired:1 "}, out),
        " 25 ");
}

static void default_listing(void **state)
{
    struct attrl *l =
        A(ATTR_name, NULL, "verylongjobname_x",
          A(ATTR_owner, NULL, "anna@login2", A(ATTR_state, NULL, "B", A(ATTR_queue, NULL, "workq", NULL))));
    struct batch_status job = {.name = (char *)"42[].svr1.org", .attribs = l};
    struct batch_status run = {.name = (char *)"41.svr1",
                               .attribs =
                                   A(ATTR_name, NULL, "relax.sh",
                                     A(ATTR_owner, NULL, "anna@x",
                                       A(ATTR_used, "cput", "00:03:12",
                                         A(ATTR_state, NULL, "R", A(ATTR_queue, NULL, "workq", NULL)))))};
    struct qstat_default q = {0};
    struct out o;

    begin(&o);
    qstat_default_job(o.f, &q, &run);
    qstat_default_job(o.f, &q, &job);
    expect(&o, "Job id            Name             User              Time Use S Queue\n"
               "----------------  ---------------- ----------------  -------- - -----\n"
               "41.svr1           relax.sh         anna              00:03:12 R workq           \n"
               "42[].svr1         verylongjobname* anna                     0 B workq           \n");
}

static void alternative_listing(void **state)
{
    struct batch_status job = {
        .name = (char *)"41.svr1",
        .attribs = A(ATTR_name, NULL, "relax.sh",
                     A(ATTR_owner, NULL, "anna@x",
                       A(ATTR_queue, NULL, "workq",
                         A(ATTR_session, NULL, "20417",
                           A(ATTR_l, "nodect", "1",
                             A(ATTR_l, "ncpus", "4",
                               A(ATTR_l, "mem", "2gb",
                                 A(ATTR_l, "walltime", "01:00:00",
                                   A(ATTR_state, NULL, "R",
                                     A(ATTR_used, "walltime", "00:03:59",
                                       A(ATTR_exechost, NULL, "node07.cluster/0*4+n8/1",
                                         A(ATTR_comment, NULL, "Job run at Tue", NULL))))))))))))};
    struct batch_status waiting = {.name = (char *)"42.svr1", .attribs = A(ATTR_state, NULL, "Q", NULL)};
    struct qstat_alternative q = {.hosts = true, .comments = true};
    struct out o;

    begin(&o);
    qstat_alternative_heading(o.f, &q, "svr1", NULL);
    qstat_alternative_job(o.f, &q, &job);
    q.hosts = q.comments = false;
    qstat_alternative_job(o.f, &q, &waiting);
    expect(&o, "\nsvr1: \n"
               "                                                            Req'd  Req'd   Elap\n"
               "Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n"
               "--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"
               "41.svr1         anna     workq    relax.sh    20417   1   4    2gb 01:00 R 00:03\n"
               "   node07/0*4+n8/1\n"
               "   Job run at Tue\n"
               "42.svr1                                         --   --  --    --    --  Q   -- \n");
}

/* Columns change in turn; a column stops at its bound, and nothing changes where no width is known. */
static void columns_share_the_room(void **state)
{
    const struct {
        size_t room, a, b;
    } rows[] = {{0, 10, 10}, {20, 10, 10}, {25, 12, 13}, {60, 12, 30}, {17, 9, 8}, {3, 5, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t a = 10, b = 10;
        const struct term_out_column c[] = {{&b, 4, 30}, {&a, 5, 12}};

        term_out_share_width(20, rows[i].room, c, 2);
        assert_int_equal(a, rows[i].a);
        assert_int_equal(b, rows[i].b);
    }
}

static void estimates(void **state)
{
    static const struct {
        const char *start, *shown;
    } rows[] = {{NULL, "--"},
                {"0", "?"},
                {"1795010400", "14:00"},
                {"1795096800", "Th 14"},
                {"1796652000", "Dec"},
                {"1850000000", "2028"},
                {"2050000000", ">5yrs"}};

    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[JOB_SHOW_TEXT];

        assert_string_equal(qstat_alternative_estimate(rows[i].start, 1795003200, out), rows[i].shown);
    }
}

/* The time that a job has run would look like a time of the day. */
static void no_estimate_of_what_has_started(void **state)
{
    struct batch_status job = {.name = (char *)"41.svr1",
                               .attribs = A(ATTR_state, NULL, "R",
                                            A(ATTR_estimated, "start_time", "1795010400",
                                              A(ATTR_used, "walltime", "00:03:59", NULL)))};
    struct qstat_alternative q = {.estimates = true, .now_s = 1795003200};
    struct out o;

    begin(&o);
    qstat_alternative_job(o.f, &q, &job);
    job.attribs->value = (char *)"Q";
    qstat_alternative_job(o.f, &q, &job);
    expect(&o, "41.svr1                                         --   --  --    --    --  R    --\n"
               "41.svr1                                         --   --  --    --    --  Q 14:00\n");
}

static void full_is_folded(void **state)
{
    struct batch_status job = {
        .name = (char *)"41.svr1",
        .attribs = A(
            ATTR_used, "cput", "00:03:12",
            A(ATTR_ctime, NULL, "1772532902",
              A(ATTR_v, NULL, "PBS_O_HOME=/home/anna,PBS_O_LANG=C.UTF-8,PBS_O_LOGNAME=anna,X=a\\,b", NULL)))};
    const struct status_full how = {.head = "Job Id: ", .indent = "    "},
                             flat = {.head = "", .indent = "     ", .unfolded = true};
    struct out o;

    setenv("TZ", "UTC", 1);
    tzset();
    begin(&o);
    status_out_full(o.f, &how, &job);
    expect(&o,
           "Job Id: 41.svr1\n    resources_used.cput = 00:03:12\n    ctime = Tue Mar  3 10:15:02 2026\n"
           "    Variable_List = PBS_O_HOME=/home/anna,PBS_O_LANG=C.UTF-8,\n\tPBS_O_LOGNAME=anna,X=a\\,b\n\n");
    job.attribs =
        A(ATTR_v, NULL, "A=1\n    Exit_status = 0\n\n\tB,C=2", A(ATTR_N, NULL, "a\r\nJob Id: 1", NULL));
    begin(&o); /* no value makes a line that looks like another attribute, or another job */
    status_out_full(o.f, &how, &job);
    expect(&o, "Job Id: 41.svr1\n    Variable_List = A=1\\n    Exit_status = 0\\n\\n\tB,C=2\n"
               "    Job_Name = a^M\\nJob Id: 1\n\n");
    job.attribs = A(ATTR_comment, NULL, "two\nlines\x1b[1m", NULL);
    begin(&o);
    status_out_full(o.f, &flat, &job);
    expect(&o, "41.svr1\n     comment = two\\nlines^[[1m\n\n");
    begin(&o);
    status_out_dsv(o.f, "Job Id: ", "|",
                   &(struct batch_status){.name = (char *)"1", .attribs = A("a", "b", "x|y", NULL)});
    expect(&o, "Job Id: 1|a.b=x\\|y\n");
}

static void odd_bytes_are_shown(void **state)
{
    struct out o;

    begin(&o);
    term_out_text(o.f, "a\x01\x7f\xff\xc3\xa4\xc2\x9b\n");
    expect(&o, "a^A^?\\377\xc3\xa4\\302\\233\\n");
    begin(&o);
    term_out_left(o.f, "abcdef", 4);
    term_out_right(o.f, "ab", 4);
    term_out_left(o.f, "\xc3\xa4\xc3\xa4\xc3\xa4", 4);
    expect(&o, "abc*  ab\xc3\xa4* ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names),         cmocka_unit_test(memory_in_four_digits),
        cmocka_unit_test(percent_done),        cmocka_unit_test(default_listing),
        cmocka_unit_test(alternative_listing), cmocka_unit_test(columns_share_the_room),
        cmocka_unit_test(estimates),           cmocka_unit_test(no_estimate_of_what_has_started),
        cmocka_unit_test(full_is_folded),      cmocka_unit_test(odd_bytes_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
