#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "job_index.h"

enum { MANY = 5000 };

static struct job *make(int n)
{
    struct job *j = calloc(1, sizeof *j);

    assert_non_null(j);
    j->key = (struct job_key){.seq = n / 2, .index = n % 2 ? 7 : JOBID_NO_INDEX};
    memcpy(j->token, &n, sizeof n);
    return j;
}

static void check(const struct job_index *by_key, const struct job_index *by_token, struct job **jobs,
                  int from)
{
    for (int i = 0; i < MANY; i++) {
        struct job *j = make(i);

        assert_ptr_equal(job_index_find_key(by_key, j->key), i < from ? NULL : jobs[i]);
        assert_ptr_equal(job_index_find_token(by_token, j->token), i < from ? NULL : jobs[i]);
        free(j);
    }
}

static void finds_what_was_put_in_until_it_is_taken_out(void **state)
{
    static struct job *jobs[MANY];
    struct job_index by_key, by_token;

    job_index_init(&by_key, JOB_BY_KEY);
    job_index_init(&by_token, JOB_BY_TOKEN);
    check(&by_key, &by_token, jobs, MANY);
    for (int i = 0; i < MANY; i++) {
        jobs[i] = make(i);
        assert_int_equal(job_index_add(&by_key, jobs[i]), 0);
        assert_int_equal(job_index_add(&by_token, jobs[i]), 0);
    }
    check(&by_key, &by_token, jobs, 0);
    for (int i = 0; i < MANY; i++) {
        job_index_remove(&by_key, jobs[i]);
        job_index_remove(&by_token, jobs[i]);
        if (i == MANY / 2)
            check(&by_key, &by_token, jobs, i + 1);
    }
    check(&by_key, &by_token, jobs, MANY);
    assert_int_equal(by_key.n_jobs + by_token.n_jobs, 0);
    for (int i = 0; i < MANY; i++)
        free(jobs[i]);
    job_index_fini(&by_key);
    job_index_fini(&by_token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_was_put_in_until_it_is_taken_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
