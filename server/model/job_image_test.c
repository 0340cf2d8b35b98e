/* Lines of images: read as they were written, and which runs may be restarted from them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "intern.h"
#include "job.h"
#include "job_image.h"
#include "job_run.h"
#include "strbuf.h"

static void lines_come_back_as_they_were_written(void **state)
{
    struct strbuf b;
    struct job_image m;

    strbuf_init(&b, 4096);
    job_image_add(&b, "mom:n1", "/c/7.s.CK/00000001");
    job_image_add(&b, "mom:n2", "shared:/l/00000001");
    job_image_add(&b, "mom:n3", "moves:/c/1");
    assert_int_equal(job_image_count(b.s), 3);
    assert_true(job_image_at(b.s, 0, &m));
    assert_true(job_image_is_at(&m, "mom:n1"));
    assert_false(job_image_is_at(&m, "mom:n"));
    assert_int_equal(m.path_len, strlen("/c/7.s.CK/00000001"));
    assert_false(m.shared);
    assert_true(job_image_at(b.s, 1, &m));
    assert_true(m.shared);
    assert_int_equal(m.path_len, strlen("/l/00000001"));
    assert_true(job_image_at(b.s, 2, &m));
    assert_true(m.moves && !m.shared);
    assert_string_equal(m.path, "/c/1");
    assert_false(job_image_at(b.s, 3, &m));
    strbuf_fini(&b);
}

static bool fits(const char *text, size_t n, const char *const services[])
{
    struct run *r = job_run_create(1, "(n1:ncpus=1)", "n1/0", n);
    struct job j = {.restart_from = text, .run = r};
    bool rc;

    for (size_t i = 0; i < n; i++)
        r->hosts[i].service = intern_ref(services[i]);
    rc = job_images_fit(&j);
    job_run_destroy(r);
    return rc;
}

static void a_run_is_restarted_where_all_its_images_can_be_had(void **state)
{
    static const char *const two[] = {"mom:n1", "mom:n2"}, *const swapped[] = {"mom:n2", "mom:n1"};

    assert_true(fits("mom:n1 /a", 1, two));
    assert_false(fits("mom:n2 /a", 1, two));
    assert_true(fits("mom:n2 shared:/a", 1, two));
    assert_true(fits("mom:n1 /a\nmom:n2 /b", 2, two));
    assert_false(fits("mom:n1 /a\nmom:n2 /b", 2, swapped));
    assert_true(fits("mom:n1 shared:/a\nmom:n2 shared:/b", 2, swapped));
    assert_false(fits("mom:n1 /a\nmom:n2 /b", 1, two));
    assert_true(fits("mom:n1 /a\nmom:n9 -", 2, two));
    assert_true(fits("mom:n2 moves:/a", 1, two));
    assert_false(fits(NULL, 1, two));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_back_as_they_were_written),
        cmocka_unit_test(a_run_is_restarted_where_all_its_images_can_be_had),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
