/* When a job on several hosts has answered its notice, and what. */
#include "notice_hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <exec.h>

#include "intern.h"
#include "job_run.h"

enum { N = 3 };

/* A host in a word: `-` takes no part, `p` takes part by a program, `P` by the declaration of a MOM of before, `h` has a handler for a
 * signal alone, `l` lost, `b` given back; then its answer, if there is one. */
static const struct row {
    const char *host[N];
    bool ready;
    int answer;
} rows[] = {
    {{"-", "-", "-"}, false, 0},
    {{"p", "p", "p"}, false, 0},
    {{"-r", "-", "-"}, true, EXEC_NOTICE_READY}, /* one process speaks for the job */
    {{"-", "-r", "-"}, true, EXEC_NOTICE_READY},
    {{"-s", "-", "-"}, true, EXEC_NOTICE_SAVED},
    {{"-f", "-", "-"}, true, EXEC_NOTICE_REFUSE}, /* the host could not tell it */
    {{"-f", "p", "-"}, false, 0},
    {{"-f", "pr", "-"}, true, EXEC_NOTICE_READY},
    {{"-r", "h", "-"}, true, EXEC_NOTICE_READY},
    {{"-r", "p", "-"}, false, 0},
    {{"-r", "P", "-"}, false, 0},
    {{"pr", "p", "p"}, false, 0},
    {{"pr", "pr", "pr"}, true, EXEC_NOTICE_READY},
    {{"ps", "ps", "-"}, true, EXEC_NOTICE_SAVED},
    {{"ps", "ps", "pr"}, true, EXEC_NOTICE_READY},
    {{"ps", "p", "-"}, false, 0},
    {{"pr", "-d", "-"}, false, EXEC_NOTICE_DEFER},
    {{"pr", "po", "pd"}, false, EXEC_NOTICE_PARTIAL},
    {{"px", "po", "pd"}, false, EXEC_NOTICE_DECLINE},
    {{"pr", "l", "-"}, true, EXEC_NOTICE_READY},
    {{"pr", "ld", "-"}, true, EXEC_NOTICE_READY},
    {{"pr", "b", "-"}, true, EXEC_NOTICE_READY},
    {{"p", "lr", "-"}, false, 0},
    {{"-", "lr", "-"}, false, 0},
};

static int answer_of(char c)
{
    static const struct {
        char letter;
        int answer;
    } letters[] = {{'r', EXEC_NOTICE_READY},   {'s', EXEC_NOTICE_SAVED},  {'d', EXEC_NOTICE_DEFER},
                   {'o', EXEC_NOTICE_PARTIAL}, {'f', EXEC_NOTICE_REFUSE}, {'x', EXEC_NOTICE_DECLINE}};

    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].letter == c)
            return letters[i].answer;
    return 0;
}

static struct run *run_of(const struct row *row)
{
    struct run *r = job_run_create(1, "(n1:ncpus=1)", "n1/0", N);

    for (size_t i = 0; i < N; i++) {
        struct run_host *h = &r->hosts[i];
        char kind = row->host[i][0];

        h->takes_part = kind == 'p' || kind == 'l' || kind == 'b';
        h->declared = intern_ref(kind == 'P' ? "pmix" : kind == 'h' ? "handler" : NULL);
        h->state = kind == 'l' ? RUN_HOST_LOST : RUN_HOST_READY;
        h->leaving = kind == 'b';
        h->answer = answer_of(row->host[i][1]);
    }
    return r;
}

static void a_job_is_ready_when_all_hosts_that_take_part_are(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run *r = run_of(&rows[i]);

        if (notice_hosts_are_ready(r) != rows[i].ready || notice_hosts_answer(r) != rows[i].answer)
            fail_msg("%s %s %s: ready %d, answer %d", rows[i].host[0], rows[i].host[1], rows[i].host[2],
                     notice_hosts_are_ready(r), notice_hosts_answer(r));
        job_run_destroy(r);
    }
}

static void a_new_notice_has_no_answer(void **state)
{
    struct run *r = run_of(&rows[2]);

    notice_hosts_begin(r);
    assert_false(notice_hosts_are_ready(r));
    assert_int_equal(notice_hosts_answer(r), 0);
    job_run_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_ready_when_all_hosts_that_take_part_are),
        cmocka_unit_test(a_new_notice_has_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
