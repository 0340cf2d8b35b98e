#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "jsdl.h"
#include "strbuf.h"

static void arguments_come_back(void **state)
{
    struct strbuf b, back;

    strbuf_init(&b, 1000);
    strbuf_init(&back, 1000);
    jsdl_add(&b, "Argument", "a b");
    jsdl_add(&b, "Argument", "<&>&amp;");
    assert_string_equal(b.s, "<jsdl-hpcpa:Argument>a b</jsdl-hpcpa:Argument>"
                             "<jsdl-hpcpa:Argument>&lt;&amp;&gt;&amp;amp;</jsdl-hpcpa:Argument>");
    assert_int_equal(jsdl_plain(&back, b.s), 0);
    assert_string_equal(back.s, "a b <&>&amp;");
    strbuf_reset(&back);
    jsdl_plain(&back, "plain <text>");
    assert_string_equal(back.s, "plain <text>");
    strbuf_fini(&b);
    strbuf_fini(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_come_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
