/* The table of jobs: whose a token is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "server_ctx_life.h"

enum { MANY = 1000 };

static struct job *add(struct jobs *js, int seq, const unsigned char token[static JOB_TOKEN_SIZE])
{
    char id[32];
    struct err e = {0};
    struct job *j;

    snprintf(id, sizeof id, "%d.svr1", seq);
    j = job_create((struct job_key){seq, JOBID_NO_INDEX}, id);
    memcpy(j->token, token, JOB_TOKEN_SIZE);
    assert_int_equal(jobs_add(js, j, &e), 0);
    return j;
}

/* As a dump made by hand may have it: a chain of all of them would make each removal walk over the others. */
static void a_token_that_jobs_share_is_that_of_the_first(void **state)
{
    static const unsigned char none[JOB_TOKEN_SIZE], token[JOB_TOKEN_SIZE] = "of all of them";
    struct job *first, *later;
    struct server_ctx s;
    struct err e = {0};

    assert_int_equal(server_ctx_create(&s, clock_real(), "svr1", &e), 0);
    first = add(s.jobs, 0, token);
    for (int i = 1; i < MANY; i++)
        assert_memory_equal(add(s.jobs, i, token)->token, none, JOB_TOKEN_SIZE);
    assert_ptr_equal(jobs_find_token(s.jobs, token), first);
    jobs_remove(s.jobs, jobs_next(first));
    assert_ptr_equal(jobs_find_token(s.jobs, token), first);
    jobs_remove(s.jobs, first);
    assert_null(jobs_find_token(s.jobs, token));
    later = add(s.jobs, MANY, token);
    assert_ptr_equal(jobs_find_token(s.jobs, token), later);
    server_ctx_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_that_jobs_share_is_that_of_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
