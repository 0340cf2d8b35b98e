#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"
#include "mom_run.h"
#include "rundir.h"

struct fixture {
    char root[32], path[64];
    struct runs *runs;
    struct run *r;
    struct journal_outbox box;
    int woken;
};

static void wake(void *arg)
{
    ((struct fixture *)arg)->woken++;
}

#define STORE "the store"

static struct run *fresh(struct fixture *f)
{
    struct run_key key = {.seq = 1, .index = -1, .run = 1};

    runs_destroy(f->runs);
    f->runs = runs_create();
    f->box = (struct journal_outbox){.wake = wake, .arg = f};
    f->r = run_add(f->runs, &key, "1.svr", f->path);
    if (f->r)
        f->r->has_start = (f->r->start.store = strdup(STORE)) != NULL; /* freed with the run */
    return f->r;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    *state = f;
    if (!f)
        return -1;
    snprintf(f->root, sizeof f->root, "/tmp/journal.XXXXXX");
    if (!mkdtemp(f->root))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/1.svr.1", f->root);
    return rundir_create(f->path, NULL) == 0 && fresh(f) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    journal_close(&f->box, f->r);
    runs_destroy(f->runs);
    rundir_remove(f->root, NULL);
    free(f);
    return 0;
}

static void say(struct fixture *f, exec_event_kind kind)
{
    char none[1] = "";
    struct exec_event_data data = {.kind = kind};

    if (kind == EXEC_EVENT_START)
        data.exec_event_data_u.start = (struct exec_start_data){.session = 7, .host = none, .jobdir = none};
    else if (kind == EXEC_EVENT_FINISH)
        data.exec_event_data_u.finish.text = none;
    else if (kind == EXEC_EVENT_RELEASE)
        data.exec_event_data_u.release = (struct exec_release_data){.final = true, .note = none};
    assert_int_equal(journal_say(f->r, &data, &f->box, NULL), 0);
}

static bool has_items(const struct fixture *f)
{
    struct stat st = {0};
    char name[128];

    snprintf(name, sizeof name, "%s/" RUNDIR_JOURNAL, f->path);
    return stat(name, &st) == 0 && st.st_size > 0;
}

/* As after a restart: memory is gone, the file is what it is. */
static struct journal_past restart(struct fixture *f)
{
    struct journal_past past = {0};

    journal_close(&f->box, f->r);
    fresh(f);
    assert_int_equal(journal_restore(f->r, &past, NULL), 0);
    return past;
}

static void a_life_without_orders_needs_no_journal(void **state)
{
    struct fixture *f = *state;
    struct exec_event out[8];

    say(f, EXEC_EVENT_START);
    f->r->ended = true;
    say(f, EXEC_EVENT_FINISH);
    say(f, EXEC_EVENT_RELEASE);
    assert_false(has_items(f));
    assert_int_equal(f->woken, 3);
    assert_int_equal(journal_take_unsent(&f->box, "another store", out, 8), 0); /* its server comes later */
    journal_send_again(&f->box, f->r);
    assert_int_equal(journal_take_unsent(&f->box, STORE, out, 8), 3);
    assert_int_equal(out[2].seq, 3);
    assert_int_equal(journal_take_unsent(&f->box, STORE, out, 8), 0);
    journal_acked(f->r, 2);
    assert_int_equal(journal_unacked(f->r), 1);
    journal_send_again(&f->box, f->r);
    assert_int_equal(journal_take_unsent(&f->box, STORE, out, 8), 1);
    assert_int_equal(out[0].seq, 3);
}

static void an_outcome_makes_a_journal_with_all_that_is_open(void **state)
{
    struct fixture *f = *state;
    struct journal_past past;

    say(f, EXEC_EVENT_START);
    say(f, EXEC_EVENT_SUSPENDED);
    assert_true(has_items(f));
    past = restart(f);
    assert_true(past.start && past.suspended && !past.finish);
    assert_int_equal(f->r->last_seq, 2);
    assert_int_equal(journal_unacked(f->r), 2);
    say(f, EXEC_EVENT_RESUMED);
    f->r->ended = true;
    say(f, EXEC_EVENT_FINISH);
    past = restart(f);
    assert_true(past.start && !past.suspended && past.finish && !past.release);
    assert_int_equal(f->r->last_seq, 4);
}

static void a_journal_that_begins_above_1_means_that_start_is_known(void **state)
{
    struct fixture *f = *state;
    struct journal_past past;

    say(f, EXEC_EVENT_START);
    journal_acked(f->r, 1);
    say(f, EXEC_EVENT_SUSPENDED);
    past = restart(f);
    assert_true(past.start);
    assert_int_equal(f->r->last_seq, 2);
    assert_int_equal(journal_unacked(f->r), 1);
}

/* A later MOM may find nothing left to deliver, and would give the last release the number of this one. */
static void room_that_is_given_before_delivery_is_written(void **state)
{
    struct fixture *f = *state;
    char none[1] = "";
    struct exec_event_data data = {.kind = EXEC_EVENT_RELEASE, .exec_event_data_u.release.note = none};
    struct journal_past past;

    say(f, EXEC_EVENT_START);
    f->r->ended = true;
    say(f, EXEC_EVENT_FINISH);
    assert_int_equal(journal_say(f->r, &data, &f->box, NULL), 0);
    past = restart(f);
    assert_true(past.finish && !past.release);
    assert_int_equal(f->r->last_seq, 3);
    say(f, EXEC_EVENT_RELEASE);
    assert_true(restart(f).release);
    assert_int_equal(f->r->last_seq, 4);
}

static void an_end_that_no_record_tells_is_written(void **state)
{
    struct fixture *f = *state;

    say(f, EXEC_EVENT_FINISH);
    assert_true(restart(f).finish);
}

static void notes_come_back(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(journal_note(f->r, SHEP_NOTE_KEEP_OUTPUT, NULL), 0);
    restart(f);
    assert_true(f->r->keep_output);
    assert_false(f->r->purge_wanted);
    assert_int_equal(f->r->last_seq, 0);
    assert_int_equal(journal_note(f->r, SHEP_NOTE_GIVE_OUTPUT, NULL), 0);
    restart(f);
    assert_false(f->r->keep_output);
}

static void after_a_reboot_numbers_go_on_behind_what_the_server_knows(void **state)
{
    struct fixture *f = *state;
    struct exec_event out[8];

    say(f, EXEC_EVENT_FINISH);
    say(f, EXEC_EVENT_RELEASE);
    journal_renumber(f->r, 5);
    assert_int_equal(journal_take_unsent(&f->box, STORE, out, 8), 2);
    assert_int_equal(out[0].seq, 6);
    assert_int_equal(out[1].seq, 7);
    assert_int_equal(f->r->last_seq, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_life_without_orders_needs_no_journal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_outcome_makes_a_journal_with_all_that_is_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_journal_that_begins_above_1_means_that_start_is_known, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(room_that_is_given_before_delivery_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_that_no_record_tells_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(after_a_reboot_numbers_go_on_behind_what_the_server_knows, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
