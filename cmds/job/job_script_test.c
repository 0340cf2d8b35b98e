#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "job_script.h"
#include "strbuf.h"

static int collect(void *context, const char *text)
{
    return strbuf_addf(context, "[%s]", text);
}

static void directives(void **state)
{
    static const struct {
        const char *script, *prefix, *found; /* NULL: an error */
    } rows[] = {
        {"#!/bin/sh\n#PBS -N x\n#PBS -l ncpus=1\nsleep 1\n#PBS -N y\n", "#PBS", "[ -N x][ -l ncpus=1]"},
        {"\n# a comment\n : nothing\n  #PBS -N x\n", "#PBS", "[ -N x]"},
        {"#PBS -l a=1\\\n#PBS -j oe\n#PBS -N x", "#PBS", "[ -l a=1 -j oe][ -N x]"},
        {"#PBS -l a=1,\\\nb=2,\\\nc=3\n", "#PBS", "[ -l a=1,b=2,c=3]"},
        {"#PBS -l a=1 \\\n  -N y\n", "#PBS", "[ -l a=1   -N y]"},
        {"@@ -N x\n#PBS -N y\n", "@@", "[ -N x]"},
        {"#PBS -N x\n", "", ""},
        {"echo\n#PBS -N x\n", "#PBS", ""},
        {"", "#PBS", ""},
        {"#!/bin/sh\r\n#PBS -N x\r\n", "#PBS", NULL},
        {"#PBS -N x\r\n", "#PBS", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *in = fmemopen((void *)rows[i].script, strlen(rows[i].script) + !*rows[i].script, "r");
        struct strbuf b;
        struct err e;
        int rc;

        strbuf_init(&b, 1000);
        rc = job_script_scan(in, rows[i].prefix, collect, &b, &e);
        assert_int_equal(rc, rows[i].found ? 0 : -1);
        if (rows[i].found)
            assert_string_equal(b.s, rows[i].found);
        else
            assert_string_equal(e.text, "script contains cr, lf");
        strbuf_fini(&b);
        fclose(in);
    }
}

static void what_was_kept_can_be_read_again(void **state)
{
    char path[JOB_SCRIPT_PATH_MAX], text[16] = "";
    int fds[2], kept;
    struct err e;
    FILE *in;

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "abc", 3), 3);
    close(fds[1]);
    kept = job_script_keep(fds[0], path, &e);
    assert_true(kept >= 0);
    for (int i = 0; i < 2; i++) {
        in = fopen(path, "r");
        assert_non_null(in);
        assert_int_equal(fread(text, 1, sizeof text, in), 3);
        assert_memory_equal(text, "abc", 3);
        fclose(in);
    }
    close(kept);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(directives),
                                       cmocka_unit_test(what_was_kept_can_be_read_again)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
