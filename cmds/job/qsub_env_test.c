#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "qsub_env.h"
#include "strbuf.h"

static const char *const environment[] = {
    "HOME=/home/anna",          "A=1", "B=x,y\\z", "PBS_O_HOME=/evil", "PBS_JOBCOOKIE=s", "LANG=C",
    "BASH_FUNC_f%%=() {  :\n}", NULL};

static void lists(void **state)
{
    static const struct {
        const char *wanted;
        bool all;
        const char *behind; /* after PBS_O_HOST; NULL: an error */
        const char *says;
    } rows[] = {
        {NULL, false, "", NULL},
        {"A", false, ",A=1", NULL},
        {"A=2,C='p,q'", false, ",A=2,C=p\\,q", NULL},
        {"\"B=x,y\"", false, ",B=x\\,y", NULL},
        {"B", false, ",B=x\\,y\\\\z", NULL},
        {"PBS_O_HOME=/x,A", false, ",A=1", NULL},
        {"A=9", true, ",A=9,HOME=/home/anna,B=x\\,y\\\\z,LANG=C,BASH_FUNC_f%%=() {  :\n}", NULL},
        {"NOPE", false, NULL, "NOPE is not set"},
        {"'A", false, NULL, "unmatched '"},
        {"=1", false, NULL, "not a name"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct qsub_env q = {(char **)environment, "/work", "login", rows[i].wanted, rows[i].all};
        struct strbuf b;
        struct err e = {0};
        int rc;

        strbuf_init(&b, 10000);
        rc = qsub_env_format(&q, &b, &e);
        if ((rc == 0) != (rows[i].behind != NULL))
            fail_msg("%s: %d %s", rows[i].wanted, rc, e.text);
        if (rc == 0) {
            assert_non_null(
                strstr(b.s, "PBS_O_HOME=/home/anna,PBS_O_LANG=C,PBS_O_WORKDIR=/work,PBS_O_SYSTEM=Linux,"));
            assert_string_equal(strstr(b.s, "PBS_O_HOST=login") + 16, rows[i].behind);
        } else {
            assert_non_null(strstr(e.text, rows[i].says));
        }
        strbuf_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
