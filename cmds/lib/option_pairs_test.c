#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "option_pairs.h"
#include "strbuf.h"

static int collect(void *context, const char *name, const char *value)
{
    return strbuf_addf(context, "[%s|%s]", name, value);
}

struct row {
    const char *text, *pairs; /* NULL: wrong */
    int bad;                  /* then: at which character */
};

static void check(const struct row *r, int (*parse)(const char *, option_pairs_fn *, void *, const char **))
{
    const char *bad = NULL;
    struct strbuf b;
    int rc;

    strbuf_init(&b, 1000);
    rc = parse(r->text, collect, &b, &bad);
    if ((rc == 0) != (r->pairs != NULL))
        fail_msg("%s: %d", r->text, rc);
    if (rc)
        assert_int_equal(bad - r->text, r->bad);
    else
        assert_string_equal(b.s, r->pairs);
    strbuf_fini(&b);
}

static void resources(void **state)
{
    static const struct row rows[] = {
        {"ncpus=2", "[ncpus|2]", 0},
        {"ncpus=2, mem = 1gb ,walltime=1:00", "[ncpus|2][mem|1gb][walltime|1:00]", 0},
        {"select=2:ncpus=1:a=\"x,y\"+1:b=2,place=free", "[select|2:ncpus=1:a=\"x,y\"+1:b=2][place|free]", 0},
        {"preempt_targets=queue=q1,queue=q2", "[preempt_targets|queue=q1,queue=q2]", 0},
        {"preempt_targets=queue=q1,Resource_List.ncpus=4,walltime=5",
         "[preempt_targets|queue=q1,Resource_List.ncpus=4][walltime|5]", 0},
        {"preempt_targets=a,b", "[preempt_targets|a,b]", 0},
        {"walltime=", "[walltime|]", 0},
        {"", NULL, 0},
        {"ncpus", NULL, 5},
        {"ncpus=1,", NULL, 8},
        {"ncpus=1,=2", NULL, 8},
        {"a='x", NULL, 2},
        {"1a=2", NULL, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], option_pairs_resources);
}

static void attributes(void **state)
{
    static const struct row rows[] = {
        {"umask=022", "[umask|022]", 0},
        {"depend=afterok:1,before:2.svr,umask=022", "[depend|afterok:1,before:2.svr][umask|022]", 0},
        {"stagein=a@h:/b,c@h:/d", "[stagein|a@h:/b,c@h:/d]", 0},
        {"group_list='a,b',block=true", "[group_list|a,b][block|true]", 0},
        {"comment=\"x=1,y=2\"", "[comment|x=1,y=2]", 0},
        {"depend=", "[depend|]", 0},
        {"block", NULL, 5},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], option_pairs_attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(resources), cmocka_unit_test(attributes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
