#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "rundir.h"

static char root[] = "/tmp/rundir.XXXXXX";
static char path[256];

static int make_root(void **state)
{
    if (!mkdtemp(root))
        return -1;
    snprintf(path, sizeof path, "%s/1.svr.1", root);
    return rundir_create(path, NULL);
}

static int drop_root(void **state)
{
    return rundir_remove(root, NULL);
}

static void append_note(int fd, enum shep_note note)
{
    struct shep_entry en = {.kind = SHEP_ENTRY_NOTE, .shep_entry_u.note = note};

    assert_int_equal(rundir_log_append(fd, (xdrproc_t)xdr_shep_entry, &en, false, NULL), 0);
}

struct seen {
    int n, note[8];
};

static void see(void *arg, void *item)
{
    struct seen *s = arg;
    const struct shep_entry *en = item;

    s->note[s->n++] = (int)en->shep_entry_u.note;
}

static struct seen read_journal(void)
{
    struct seen s = {0};

    assert_int_equal(rundir_log_read(path, RUNDIR_JOURNAL, (xdrproc_t)xdr_shep_entry,
                                     sizeof(struct shep_entry), see, &s, NULL),
                     0);
    return s;
}

static void what_cannot_be_made_whole_is_not_there(void **state)
{
    struct rlimit before, none;
    char other[300];
    int rc;

    snprintf(other, sizeof other, "%s/2.svr.1", root);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    rc = rundir_create(other, NULL);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(rc, -1);
    assert_int_equal(access(other, F_OK), -1);
}

static void a_missing_or_empty_log_has_no_items(void **state)
{
    char name[sizeof path + 16];

    snprintf(name, sizeof name, "%s/" RUNDIR_JOURNAL, path);
    assert_int_equal(access(name, W_OK), 0);
    assert_int_equal(read_journal().n, 0);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rundir_log_void(path, RUNDIR_JOURNAL), 0);
    assert_int_equal(read_journal().n, 0);
}

static size_t journal_size(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return (size_t)st.st_size;
}

/* A file that may not grow represents a disk that is full: a write takes what fits, then fails. */
static void of_an_item_that_a_full_disk_cuts_nothing_stays(void **state)
{
    struct shep_entry en = {.kind = SHEP_ENTRY_NOTE, .shep_entry_u.note = SHEP_NOTE_FETCHED};
    int fd = rundir_log_open(path, RUNDIR_JOURNAL, NULL);
    struct rlimit was, tight;
    struct seen s;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    append_note(fd, SHEP_NOTE_PROLOGUE_DONE);
    for (size_t room = 0; room < 12; room++) {
        tight = (struct rlimit){.rlim_cur = journal_size(fd) + room, .rlim_max = was.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        int rc = rundir_log_append(fd, (xdrproc_t)xdr_shep_entry, &en, true, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
        assert_int_equal(rc, -1);
    }
    append_note(fd, SHEP_NOTE_EPILOGUE_DONE);
    close(fd);
    s = read_journal();
    assert_int_equal(s.n, 2);
    assert_int_equal(s.note[0], SHEP_NOTE_PROLOGUE_DONE);
    assert_int_equal(s.note[1], SHEP_NOTE_EPILOGUE_DONE);
    assert_int_equal(rundir_log_void(path, RUNDIR_JOURNAL), 0);
}

static void a_void_log_begins_anew(void **state)
{
    int fd = rundir_log_open(path, RUNDIR_JOURNAL, NULL);

    append_note(fd, SHEP_NOTE_EPILOGUE_DONE);
    close(fd);
    assert_int_equal(rundir_log_void(path, RUNDIR_JOURNAL), 0);
    assert_int_equal(read_journal().n, 0);
    fd = rundir_log_open(path, RUNDIR_JOURNAL, NULL);
    append_note(fd, SHEP_NOTE_PURGE);
    close(fd);
    assert_int_equal(read_journal().n, 1);
    assert_int_equal(rundir_log_void(path, RUNDIR_JOURNAL), 0);
}

static void a_torn_item_is_not_there_and_is_cut_off(void **state)
{
    int fd = rundir_log_open(path, RUNDIR_JOURNAL, NULL);

    assert_true(fd >= 0);
    append_note(fd, SHEP_NOTE_EPILOGUE_DONE);
    assert_int_equal(write(fd, "\0\0\0\x40half", 8), 8);
    close(fd);
    assert_int_equal(read_journal().n, 1);

    fd = rundir_log_open(path, RUNDIR_JOURNAL, NULL);
    append_note(fd, SHEP_NOTE_PURGE);
    close(fd);
    struct seen s = read_journal();
    assert_int_equal(s.n, 2);
    assert_int_equal(s.note[0], SHEP_NOTE_EPILOGUE_DONE);
    assert_int_equal(s.note[1], SHEP_NOTE_PURGE);
}

static void an_order_comes_back_and_a_torn_one_is_refused(void **state)
{
    char one[] = "1.svr", none[] = "", root_name[] = "root";
    struct shep_order o = {.protocol = SHEP_VERSION,
                           .id = one,
                           .boot = none,
                           .user = root_name,
                           .group = none,
                           .home = none,
                           .exec_path = none,
                           .input = none,
                           .cwd = none,
                           .script = none,
                           .nodefile = none,
                           .nodefile_text = none,
                           .tmpdir = none,
                           .out.path = none,
                           .err.path = none,
                           .say = none,
                           .freezer_dir = none,
                           .checkpoint_dir = none,
                           .tty_host = none,
                           .tty_port = none,
                           .tty_key = none,
                           .walltime_ms = 7000};
    struct shep_order back = {0};
    struct err e;
    char file[300];

    assert_int_equal(rundir_write_order(path, &o, &e), 0);
    assert_int_equal(rundir_read_order(path, &back, &e), 0);
    assert_string_equal(back.id, "1.svr");
    assert_int_equal(back.walltime_ms, 7000);
    xdr_free((xdrproc_t)xdr_shep_order, &back);

    snprintf(file, sizeof file, "%s/" RUNDIR_RUN, path);
    assert_int_equal(truncate(file, 20), 0);
    memset(&back, 0, sizeof back);
    assert_int_equal(rundir_read_order(path, &back, &e), -1);
    xdr_free((xdrproc_t)xdr_shep_order, &back);
}

static void whoever_holds_the_records_is_seen(void **state)
{
    int fd = rundir_log_open(path, RUNDIR_RUN, NULL);

    assert_false(rundir_is_held(path));
    assert_int_equal(rundir_hold(fd, NULL), 0);
    assert_true(rundir_is_held(path));
    close(fd);
    assert_false(rundir_is_held(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_made_whole_is_not_there),
        cmocka_unit_test(a_missing_or_empty_log_has_no_items),
        cmocka_unit_test(of_an_item_that_a_full_disk_cuts_nothing_stays),
        cmocka_unit_test(a_void_log_begins_anew),
        cmocka_unit_test(a_torn_item_is_not_there_and_is_cut_off),
        cmocka_unit_test(an_order_comes_back_and_a_torn_one_is_refused),
        cmocka_unit_test(whoever_holds_the_records_is_seen),
    };
    return cmocka_run_group_tests(tests, make_root, drop_root);
}
