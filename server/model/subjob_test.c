#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "array_map.h"
#include "clock.h"
#include "resource.h"
#include "server_ctx_life.h"
#include "strbuf.h"
#include "subjob.h"

struct world {
    struct server_ctx ctx;
    struct queue *queue;
    struct job *array;
};

static int begin(void **state)
{
    static struct world w;
    struct err e = {0};

    memset(&w, 0, sizeof w);
    assert_int_equal(server_ctx_create(&w.ctx, clock_real(), "svr1", &e), 0);
    assert_int_equal(queues_add(w.ctx.queues, "workq", &w.queue, &e), 0);
    w.array = job_create((struct job_key){41, JOBID_NO_INDEX}, "41[].svr1");
    w.array->array = array_map_create("0-9", 100, &e);
    w.array->state = JOB_QUEUED;
    job_set_text(&w.array->owner, "anna@h");
    attr_list_set_text(&w.array->obj.attrs, JOB_ATTR_Job_Name, "many", &e);
    attr_list_set_text(&w.array->obj.attrs, JOB_ATTR_array_indices_submitted, "0-9", &e);
    attr_list_set_text(&w.array->obj.attrs, JOB_ATTR_comment, "of the array", &e);
    assert_int_equal(jobs_add(w.ctx.jobs, w.array, &e), 0);
    jobs_enter_queue(w.ctx.jobs, w.array, w.queue);
    *state = &w;
    return 0;
}

static int end(void **state)
{
    server_ctx_destroy(&((struct world *)*state)->ctx);
    return 0;
}

static struct job *live(struct world *w, int index, enum job_state s)
{
    struct job *j = subjob_create(w->array, index);
    struct err e = {0};

    array_map_start(w->array->array, index);
    j->state = s;
    assert_int_equal(jobs_add(w->ctx.jobs, j, &e), 0);
    jobs_enter_queue(w->ctx.jobs, j, w->queue);
    return j;
}

static void a_subjob_asks_for_what_its_array_asks_for(void **state)
{
    struct world *w = *state;
    struct job *j = subjob_create(w->array, 7);
    const struct attr_list *a = &j->obj.attrs;

    assert_string_equal(j->obj.name, "41[7].svr1");
    assert_string_equal(j->owner, "anna@h");
    assert_string_equal(attr_list_text(a, JOB_ATTR_Job_Name), "many");
    assert_string_equal(attr_list_text(a, JOB_ATTR_array_id), "41[].svr1");
    assert_string_equal(attr_list_text(a, JOB_ATTR_array_index), "7");
    assert_null(attr_list_text(a, JOB_ATTR_array_indices_submitted));
    assert_null(attr_list_text(a, JOB_ATTR_comment));
    assert_int_equal(subjob_rename(j, 123), 0);
    assert_string_equal(j->obj.name, "41[123].svr1");
    assert_string_equal(attr_list_text(a, JOB_ATTR_array_index), "123");
    job_unref(j);
}

static void a_waiting_subjob_follows_its_array_and_keeps_its_own(void **state)
{
    struct world *w = *state;
    struct job *j = subjob_create(w->array, 7);

    attr_list_set_text(&w->array->obj.attrs, JOB_ATTR_Job_Name, "other", NULL);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, "its own", NULL);
    assert_int_equal(subjob_refresh(j, w->array), 0);
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_Job_Name), "other");
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_comment), "its own");
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_array_index), "7");
    job_unref(j);
}

static void objects_are_found_by_index_whatever_order_they_came_in(void **state)
{
    static const int order[] = {5, 2, 9, 3};
    struct world *w = *state;
    struct err e = {0};
    struct job *other = job_create((struct job_key){42, JOBID_NO_INDEX}, "42.svr1"), *j;
    int64_t at = ARRAY_NONE;
    char seen[64] = "";

    assert_int_equal(jobs_add(w->ctx.jobs, other, &e), 0);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        live(w, order[i], JOB_RUNNING);
    for (; (j = subjob_next(w->ctx.jobs, w->array, at)); at = j->key.index) {
        assert_ptr_equal(subjob_array(w->ctx.jobs, j), w->array);
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%d ", j->key.index);
    }
    assert_string_equal(seen, "2 3 5 9 ");
    assert_int_equal(subjob_next(w->ctx.jobs, w->array, 4)->key.index, 5); /* 4 is not an object */
    assert_ptr_equal(jobs_next(subjob_next(w->ctx.jobs, w->array, 5)), other);
}

static void counts_and_queued_indices_hold_those_that_wait_again(void **state)
{
    struct world *w = *state;
    struct subjob_counts n;
    struct strbuf text;

    live(w, 0, JOB_RUNNING);
    live(w, 1, JOB_SUSPENDED);
    live(w, 2, JOB_QUEUED);
    live(w, 3, JOB_EXITING);
    array_map_end(w->array->array, 4, true);
    array_map_end(w->array->array, 5, false);
    subjob_count(w->ctx.jobs, w->array, &n);
    assert_int_equal(n.queued, 5);
    assert_int_equal(n.running, 2);
    assert_int_equal(n.exiting, 1);
    assert_int_equal(n.expired, 2);
    strbuf_init(&text, 100);
    assert_int_equal(subjob_format_queued(w->ctx.jobs, w->array, &text), 0);
    assert_string_equal(strbuf_str(&text), "2,6-9");
    strbuf_fini(&text);
    assert_int_equal(job_count(w->array), 4); /* for limits: those that are not jobs of their own */
}

static void a_name_means_an_array_only_with_brackets(void **state)
{
    static const struct {
        const char *text;
        bool found;
    } rows[] = {{"41[]", true},   {"41", false},      {"41[6]", true},
                {"41[7]", false}, {"41[6-7]", false}, {"40[]", false}};
    struct world *w = *state;

    live(w, 6, JOB_RUNNING);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobid id;
        struct err e;

        assert_int_equal(jobid_parse(rows[i].text, &id, &e), 0);
        assert_int_equal(jobs_find_named(w->ctx.jobs, &id) != NULL, rows[i].found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_subjob_asks_for_what_its_array_asks_for, begin, end),
        cmocka_unit_test_setup_teardown(a_waiting_subjob_follows_its_array_and_keeps_its_own, begin, end),
        cmocka_unit_test_setup_teardown(objects_are_found_by_index_whatever_order_they_came_in, begin, end),
        cmocka_unit_test_setup_teardown(counts_and_queued_indices_hold_those_that_wait_again, begin, end),
        cmocka_unit_test_setup_teardown(a_name_means_an_array_only_with_brackets, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
