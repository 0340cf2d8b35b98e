#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pbs_ifl.h"
#include "qmgr_complete.h"

struct found {
    char words[4096]; /* " a b c" */
};

static void note(void *arg, const char *word)
{
    struct found *f = arg;
    size_t n = strlen(f->words);

    snprintf(f->words + n, sizeof f->words - n, " %s", word);
}

static void queues(void *arg, int object, void (*found)(void *to, const char *name), void *to)
{
    if (object == MGR_OBJ_QUEUE) {
        found(to, "workq");
        found(to, "wide");
    }
}

static void lines_are_completed_by_their_place(void **state)
{
    static const struct {
        const char *line;
        size_t typed;
        const char *words; /* NULL: only the number is looked at */
    } rows[] = {
        {"cr", 2, " create"},
        {"h", 1, " help history"},
        {"set q", 1, " queue"},
        {"s q w", 1, " workq wide"},
        {"set queue workq Pri", 3, " Priority"},
        {"set queue workq Priority = 5, acl_host", 8, " acl_host_enable acl_hosts"},
        {"set queue workq resources_max", 13, " resources_max."},
        {"set server resources_available.ncp", 23, " resources_available.ncpus"},
        {"print server scheduler_it", 12, " scheduler_iteration"},
        {"create queue w", 1, ""},
        {"diff fi", 2, ""},
        {"zork x", 1, ""},
        {"set zork x", 1, ""},
        {"delete queue workq P", 1, ""},
        {"", 0, NULL},
        {"set ", 0, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct found f = {""};
        const struct qmgr_complete c = {.word = note, .arg = &f, .names = queues};

        assert_int_equal(qmgr_complete(rows[i].line, &c), rows[i].typed);
        if (rows[i].words)
            assert_string_equal(f.words, rows[i].words);
        else
            assert_true(*f.words);
    }
}

static void what_only_the_server_sets_is_not_offered(void **state)
{
    struct found f = {""};
    const struct qmgr_complete c = {.word = note, .arg = &f, .names = queues};

    qmgr_complete("set server ", &c);
    assert_non_null(strstr(f.words, " default_queue"));
    assert_null(strstr(f.words, "total_jobs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_completed_by_their_place),
        cmocka_unit_test(what_only_the_server_sets_is_not_offered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
