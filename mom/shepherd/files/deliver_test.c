#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "copies.h"
#include "deliver.h"
#include "file.h"
#include "rpc_buf.h"

static char root[] = "/tmp/deliver.XXXXXX";

struct fixture {
    char from[128], to[128], kept[128], none[1];
    struct shep_delivery item;
    struct shep_close_args args;
    struct shep_order order;
};

static void set_up(struct fixture *f, const char *to)
{
    *f = (struct fixture){0};
    snprintf(f->from, sizeof f->from, "%s/1.svr.OU", root);
    snprintf(f->to, sizeof f->to, "%s/%s", root, to);
    snprintf(f->kept, sizeof f->kept, "%s/undelivered", root);
    f->item = (struct shep_delivery){.from = f->from, .to = f->to, .local = true};
    f->args = (struct shep_close_args){
        .items = {1, &f->item}, .scp = f->none, .scp_args = f->none, .undelivered = f->kept};
    assert_int_equal(file_write_quick(AT_FDCWD, f->from, "hello\n", 6, 0600, NULL), 0);
}

static int deliver(struct fixture *f, char *text, size_t max)
{
    struct shep_close_result r;
    struct copies all;
    int failed;

    copies_init(&all);
    deliver_all(&f->order, &f->args, &all);
    copies_result(&all, &r);
    failed = r.failed;
    if (text)
        snprintf(text, max, "%s", r.text);
    xdr_free((xdrproc_t)xdr_shep_close_result, &r);
    return failed;
}

static void assert_holds(const char *path, const char *text)
{
    char *bytes;

    assert_int_equal(file_read(AT_FDCWD, path, 1000, &bytes, NULL, NULL), 0);
    assert_string_equal(bytes, text);
    free(bytes);
}

static void a_file_moves_and_again_is_harmless(void **state)
{
    struct fixture f;

    set_up(&f, "job.o1");
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_holds(f.to, "hello\n");
    assert_int_equal(access(f.from, F_OK), -1);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_holds(f.to, "hello\n");
}

static void into_a_directory_it_keeps_its_name(void **state)
{
    struct fixture f;
    char inside[300];

    set_up(&f, "dir");
    assert_int_equal(mkdir(f.to, 0755), 0);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    snprintf(inside, sizeof inside, "%s/1.svr.OU", f.to);
    assert_holds(inside, "hello\n");
}

static void through_a_link_it_is_written_not_replaced(void **state)
{
    struct fixture f;
    char target[300];

    set_up(&f, "link");
    snprintf(target, sizeof target, "%s/target", root);
    assert_int_equal(symlink(target, f.to), 0);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_holds(target, "hello\n");
}

static void what_cannot_be_delivered_is_kept_and_said(void **state)
{
    struct fixture f;
    char text[2000], kept[300];

    set_up(&f, "no/such/dir/x");
    assert_int_equal(mkdir(f.kept, 0777), 0);
    assert_int_equal(deliver(&f, text, sizeof text), 1);
    snprintf(kept, sizeof kept, "%s/1.svr.OU", f.kept);
    assert_holds(kept, "hello\n");
    assert_non_null(strstr(text, "Unable to copy file"));
    assert_non_null(strstr(text, "Output retained on that host in: "));
}

/* Without the mend it would wait for ever; the alarm ends that. */
static void a_pipe_that_nobody_reads_is_no_place_for_output(void **state)
{
    struct fixture f;
    char text[2000];

    alarm(60);
    set_up(&f, "pipe");
    assert_int_equal(mkfifo(f.to, 0600), 0);
    assert_int_equal(deliver(&f, text, sizeof text), 1);
    assert_non_null(strstr(text, "Unable to copy file"));
    alarm(0);
}

static void what_is_no_file_in_the_spool_is_not_read(void **state)
{
    struct fixture f;
    char text[2000];

    alarm(60);
    set_up(&f, "link2"); /* not replaced, so the bytes would be copied */
    assert_int_equal(symlink("target2", f.to), 0);
    assert_int_equal(unlink(f.from), 0);
    assert_int_equal(mkfifo(f.from, 0600), 0);
    assert_int_equal(deliver(&f, text, sizeof text), 1);
    assert_non_null(strstr(text, "is not a file"));
    unlink(f.from);
    alarm(0);
}

static void a_pipe_with_a_reader_gets_the_output(void **state)
{
    struct fixture f;
    char got[16] = "";
    int fd;

    set_up(&f, "pipe2");
    assert_int_equal(mkfifo(f.to, 0600), 0);
    fd = open(f.to, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_int_equal(read(fd, got, sizeof got - 1), 6);
    assert_string_equal(got, "hello\n");
    close(fd);
}

static void without_a_program_for_other_hosts_it_is_kept_too(void **state)
{
    struct fixture f;
    char text[2000];

    set_up(&f, "host:/x");
    f.item.local = false;
    assert_int_equal(deliver(&f, text, sizeof text), 1);
    assert_non_null(strstr(text, "PBS_SCP"));
}

static void what_was_written_in_its_place_stays_or_is_removed_and_nothing_else_is(void **state)
{
    struct fixture f;
    char inside[300], name[] = "1.svr.OU";

    set_up(&f, "place");
    f.item.from = name;
    assert_int_equal(file_write_quick(AT_FDCWD, f.to, "written\n", 8, 0600, NULL), 0);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_holds(f.to, "written\n");
    f.item.remove = true;
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_int_equal(access(f.to, F_OK), -1);
    assert_int_equal(deliver(&f, NULL, 0), 0);

    assert_int_equal(symlink(f.from, f.to), 0); /* another thing is there by now */
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_holds(f.from, "hello\n");
    assert_int_equal(unlink(f.to), 0);

    assert_int_equal(mkdir(f.to, 0700), 0);
    snprintf(inside, sizeof inside, "%s/%s", f.to, name);
    assert_int_equal(file_write_quick(AT_FDCWD, inside, "written\n", 8, 0600, NULL), 0);
    assert_int_equal(deliver(&f, NULL, 0), 0);
    assert_int_equal(access(inside, F_OK), -1);
    assert_int_equal(access(f.to, F_OK), 0);
}

static void each_try_of_a_program_is_told_and_names_are_cut_not_split(void **state)
{
    struct copies all;
    struct shep_close_result r;
    struct shep_copied c = {0};
    char name[3000];

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    copies_init(&all);
    all.of = 3;
    all.failed = 1;
    copies_tried(&all, &(struct copies_try){"/bin/cp", "-rp", "a", "b\nforged", 0, 1});
    for (int n = 1; n <= 2 * COPIES_COMMANDS; n++)
        copies_tried(&all, &(struct copies_try){"/bin/scp", "-B", name, "h:b", 256, n});
    copies_result(&all, &r);
    assert_int_equal(r.failed, 1);
    assert_int_equal(rpc_buf_decode(r.ext.wire_ext_val, r.ext.wire_ext_len, (xdrproc_t)xdr_shep_copied, &c),
                     0);
    assert_int_equal(c.copied, 2);
    assert_int_equal(c.of, 3);
    assert_int_equal(c.commands.commands_len, COPIES_COMMANDS);
    assert_string_equal(c.commands.commands_val[0], "command: /bin/cp -rp a b\nforged status=0, try=1");
    assert_non_null(strstr(c.commands.commands_val[2], "x status=1, try=2"));
    xdr_free((xdrproc_t)xdr_shep_copied, &c);
    xdr_free((xdrproc_t)xdr_shep_close_result, &r);
}

static int make_root(void **state)
{
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    return file_remove_tree(AT_FDCWD, root, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_moves_and_again_is_harmless),
        cmocka_unit_test(into_a_directory_it_keeps_its_name),
        cmocka_unit_test(through_a_link_it_is_written_not_replaced),
        cmocka_unit_test(what_cannot_be_delivered_is_kept_and_said),
        cmocka_unit_test(a_pipe_that_nobody_reads_is_no_place_for_output),
        cmocka_unit_test(what_is_no_file_in_the_spool_is_not_read),
        cmocka_unit_test(a_pipe_with_a_reader_gets_the_output),
        cmocka_unit_test(without_a_program_for_other_hosts_it_is_kept_too),
        cmocka_unit_test(what_was_written_in_its_place_stays_or_is_removed_and_nothing_else_is),
        cmocka_unit_test(each_try_of_a_program_is_told_and_names_are_cut_not_split),
    };
    return cmocka_run_group_tests(tests, make_root, drop_root);
}
