#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "image.h"
#include "image_seal.h"

enum { SESSION = 77, PATH_LEN = 256 };

struct fixture {
    char dir[32], image[PATH_LEN];
    struct shep_order order;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    snprintf(f->dir, sizeof f->dir, "/tmp/image.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->image, sizeof f->image, "%s/00000001", f->dir);
    f->order.checkpoint_dir = f->dir;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    file_remove_tree(AT_FDCWD, f->dir, NULL);
    free(f);
    return 0;
}

static void put(const struct fixture *f, const char *name, const char *text)
{
    char path[PATH_LEN + 64];

    snprintf(path, sizeof path, "%s%s", f->image, name);
    assert_int_equal(file_write_quick(AT_FDCWD, path, text, strlen(text), 0600, NULL), 0);
}

static void make_dir(const struct fixture *f, const char *suffix)
{
    char path[PATH_LEN + 64];

    snprintf(path, sizeof path, "%s%s", f->image, suffix);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* An attempt whose script writes one file with this text. */
static int save(const struct fixture *f, const char *text, struct err *e)
{
    struct image_attempt a;
    uint64_t bytes = 0;

    assert_int_equal(image_begin(&a, &f->order, f->image, e), 0);
    make_dir(f, ".new");
    put(f, ".new/core", text);
    return image_commit(&a, SESSION, &bytes, e);
}

static void an_image_is_kept_for_an_order_that_names_no_directory(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    f->order.checkpoint_dir = (char *)"";
    assert_int_equal(file_remove_tree(AT_FDCWD, f->dir, &e), 0);
    assert_int_equal(save(f, "one", &e), 0);
    assert_int_equal(image_check(f->image, &e), 0);
}

static void seals_tell_content_and_names(void **state)
{
    const struct fixture *f = *state;
    struct image_seal one, two;
    char path[PATH_LEN + 64];

    make_dir(f, "");
    put(f, "/a", "one");
    put(f, "/b", "two");
    assert_int_equal(image_seal_make(f->image, &one, NULL), 0);
    assert_int_equal(one.bytes, 6);
    assert_int_equal(one.files, 2);
    snprintf(path, sizeof path, "%s/a", f->image);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(image_seal_make(f->image, &two, NULL), 0);
    assert_string_equal(one.hex, two.hex);
    put(f, "/a", "onf");
    assert_int_equal(image_seal_make(f->image, &two, NULL), 0);
    assert_string_not_equal(one.hex, two.hex);
    put(f, "/a", "one");
    put(f, "/c", "");
    assert_int_equal(image_seal_make(f->image, &two, NULL), 0);
    assert_string_not_equal(one.hex, two.hex);
    assert_int_equal(two.files, 2);
}

/* The digest of one known manifest, so that images of an older version are known after an upgrade. */
static void a_seal_stays_what_it_is(void **state)
{
    const struct fixture *f = *state;
    struct image_seal s;

    make_dir(f, "");
    put(f, "/a", "abc");
    assert_int_equal(image_seal_make(f->image, &s, NULL), 0);
    assert_string_equal(s.hex, "9116721d668b12ff7e21057ac41bb8f72ea048c78857fc8979b9c60fbb058ce2");
}

static void an_image_without_content_does_not_take_the_place_of_one(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};

    assert_int_equal(save(f, "good", &e), 0);
    assert_int_equal(save(f, "", &e), -1);
    assert_int_equal(e.code, ENODATA);
    assert_int_equal(image_check(f->image, NULL), 0);
}

static void an_image_that_was_changed_is_told(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};

    assert_int_equal(save(f, "good", &e), 0);
    put(f, "/core", "evil");
    assert_int_equal(image_check(f->image, &e), -1);
    assert_int_equal(e.code, EIO);
}

/* Between any two steps of the replacement one of the two is found, and its seal with it. */
static void an_image_is_known_wherever_a_crash_has_cut_its_replacement(void **state)
{
    const struct fixture *f = *state;
    char old[PATH_LEN + 64];

    snprintf(old, sizeof old, "%s.old", f->image);
    assert_int_equal(save(f, "one", NULL), 0);
    assert_int_equal(save(f, "two", NULL), 0);
    assert_int_equal(image_check(f->image, NULL), 0);
    put(f, "/core", "one"); /* the record was written, nothing renamed */
    assert_int_equal(image_check(f->image, NULL), 0);
    assert_int_equal(file_remove_tree(AT_FDCWD, old, NULL), 0);
    assert_int_equal(rename(f->image, old), 0);
    assert_int_equal(image_check(old, NULL), 0);
    put(f, ".old/core", "zero"); /* one that is older than both */
    assert_int_equal(image_check(old, NULL), -1);
}

static void the_image_before_takes_the_place_of_a_damaged_one(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};

    assert_int_equal(save(f, "one", NULL), 0);
    assert_int_equal(save(f, "two", NULL), 0);
    put(f, "/core", "bad");
    assert_int_equal(image_use_previous(f->image, &e), 0);
    assert_int_equal(image_check(f->image, NULL), 0);
    assert_int_equal(image_use_previous(f->image, NULL), -1); /* there is no other */
    assert_int_equal(image_check(f->image, NULL), 0);
    assert_int_equal(save(f, "three", NULL), 0);
    put(f, ".old/core", "bad");
    put(f, "/core", "bad");
    assert_int_equal(image_use_previous(f->image, &e), -1);
    assert_int_equal(e.code, EIO);
}

static void what_the_program_has_saved_counts_when_it_is_new(void **state)
{
    const struct fixture *f = *state;
    struct image_attempt a;
    struct err e = {0};
    uint64_t bytes = 0;
    char path[PATH_LEN];

    assert_int_equal(image_begin(&a, &f->order, f->image, &e), 0);
    snprintf(path, sizeof path, "%s/app/state", f->dir);
    assert_int_equal(file_write_quick(AT_FDCWD, path, "saved", 5, 0600, NULL), 0);
    a.asked_s++; /* it was there before */
    assert_int_equal(image_commit(&a, SESSION, &bytes, &e), -1);
    a.asked_s--;
    assert_int_equal(image_commit(&a, SESSION, &bytes, &e), 0);
    assert_int_equal(bytes, 5);
}

/* The directory of a run, with what it keeps for the next one. */
static void run_dir_of(char out[static PATH_LEN], const struct fixture *f)
{
    snprintf(out, PATH_LEN, "%s/run", f->dir);
    assert_int_equal(mkdir(out, 0700), 0);
}

static void prepare_in(struct fixture *f, const char *run, char checkpoint[static PATH_LEN])
{
    struct err e = {0};

    snprintf(checkpoint, PATH_LEN, "%s/1.CK", f->dir);
    f->order.checkpoint_dir = checkpoint;
    f->order.uid = geteuid();
    f->order.gid = getegid();
    assert_int_equal(image_prepare(run, &f->order, &e), 0);
}

static ino_t number_of(const char *dir, const char *name)
{
    char path[2 * PATH_LEN];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) < 0 ? 0 : st.st_ino;
}

static void put_away(const struct fixture *f, const char *run)
{
    char spare[2 * PATH_LEN];

    snprintf(spare, sizeof spare, "%s/checkpoint", run);
    assert_int_equal(rename(f->order.checkpoint_dir, spare), 0);
}

static void an_unused_directory_serves_the_next_run_of_the_owner(void **state)
{
    struct fixture *f = *state;
    char run[PATH_LEN], checkpoint[PATH_LEN];
    ino_t first;

    run_dir_of(run, f);
    prepare_in(f, run, checkpoint);
    first = number_of(checkpoint, "app");
    assert_true(first != 0);
    put_away(f, run);
    prepare_in(f, run, checkpoint);
    assert_int_equal(number_of(checkpoint, "app"), first);
}

static void a_directory_that_is_there_is_used_before_a_spare(void **state)
{
    struct fixture *f = *state;
    char run[PATH_LEN], checkpoint[PATH_LEN], app[2 * PATH_LEN];
    ino_t first;

    run_dir_of(run, f);
    prepare_in(f, run, checkpoint);
    put_away(f, run);
    snprintf(app, sizeof app, "%s/app", checkpoint);
    assert_int_equal(mkdir(checkpoint, 0711), 0);
    assert_int_equal(mkdir(app, 0700), 0);
    first = number_of(checkpoint, "app");
    prepare_in(f, run, checkpoint);
    assert_int_equal(number_of(checkpoint, "app"), first);
}

static void what_the_owner_left_in_a_spare_is_not_given_to_a_job(void **state)
{
    struct fixture *f = *state;
    char run[PATH_LEN], checkpoint[PATH_LEN], path[2 * PATH_LEN];

    run_dir_of(run, f);
    prepare_in(f, run, checkpoint);
    put_away(f, run);
    snprintf(path, sizeof path, "%s/checkpoint/app/late", run);
    assert_int_equal(file_write_quick(AT_FDCWD, path, "x", 1, 0600, NULL), 0);
    prepare_in(f, run, checkpoint);
    assert_true(number_of(checkpoint, "app") != 0);
    assert_int_equal(number_of(checkpoint, "app/late"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_unused_directory_serves_the_next_run_of_the_owner, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_directory_that_is_there_is_used_before_a_spare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_owner_left_in_a_spare_is_not_given_to_a_job, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_image_is_kept_for_an_order_that_names_no_directory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(seals_tell_content_and_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_seal_stays_what_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_image_without_content_does_not_take_the_place_of_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_image_that_was_changed_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_image_is_known_wherever_a_crash_has_cut_its_replacement, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_image_before_takes_the_place_of_a_damaged_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_program_has_saved_counts_when_it_is_new, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
