#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "qmgr_line.h"
#include "strbuf.h"

static void show(const struct qmgr_line *l, struct strbuf *b)
{
    static const char *const ops[] = {"=", "unset", "+=", "-="};

    strbuf_addf(b, "%d %s", l->command, qmgr_line_object(l->object));
    for (size_t i = 0; i < l->n; i++)
        strbuf_addf(b, " <%s@%s>", l->names[i].name, l->names[i].server);
    for (const struct attropl *a = l->attrs.first; a; a = a->next)
        strbuf_addf(b, " [%s|%s|%s|%s]", a->name, a->resource ? a->resource : "", ops[a->op], a->value);
}

static void good_lines(void **state)
{
    static const struct {
        const char *line, *shown;
    } rows[] = {
        {"", "10 "},
        {"# comment", "10 "},
        {"list server", "4 server"},
        {"p s", "5 server"},
        {"s s scheduling=true", "2 server [scheduling||=|true]"},
        {"set server svr1 scheduling = true", "2 server <svr1@> [scheduling||=|true]"},
        {"s q workq resources_max.ncpus=4 , enabled = True",
         "2 queue <workq@> [resources_max|ncpus|=|4] [enabled||=|True]"},
        {"s q a,b@svr acl_users += \"x,y z\"", "2 queue <a@> <b@svr> [acl_users||+=|x,y z]"},
        {"s n n1 resources_available.a-b-=1", "2 node <n1@> [resources_available|a-b|-=|1]"},
        {"s sched default preempt_order = SCRD 50 R", "2 sched <default@> [preempt_order||=|SCRD 50 R]"},
        {"s n n1 comment=\"it's \"'\"so\"',queue=q", "2 node <n1@> [comment||=|it's \"so\"] [queue||=|q]"},
        {"set node 1a@default comment=''", "2 node <1a@> [comment||=|]"},
        {"l n @default state", "4 node <@> [state||unset|]"},
        {"list server scheduling,max_running", "4 server [scheduling||unset|] [max_running||unset|]"},
        {"unset server max_running", "3 server [max_running||unset|]"},
        {"unset queue workq max_run,resources_max.mem",
         "3 queue <workq@> [max_run||unset|] [resources_max|mem|unset|]"},
        {"c q x queue_type=e", "0 queue <x@> [queue_type||=|e]"},
        {"create queue enabled", "0 queue <enabled@>"},
        {"c r lic type=long,flag=q", "0 resource <lic@> [type||=|long] [flag||=|q]"},
        {"d n n1", "1 node <n1@>"},
        {"active q a,b", "6 queue <a@> <b@>"},
        {"a", "6 "},
        {"import hook h application/x-python default f.py",
         "7 hook <h@> [content-type||=|application/x-python] [content-encoding||=|default] [input-file||=|f.py]"},
        {"help set", "11 "},
        {"exit", "12 "},
        {"s s acl_roots=a,managers+=b", "2 server [acl_roots||=|a] [managers||+=|b]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct qmgr_line_error f;
        struct qmgr_line l;
        struct strbuf b;

        if (qmgr_line_parse(rows[i].line, &l, &f) < 0)
            fail_msg("%s: %d at %zu", rows[i].line, f.kind, f.at);
        strbuf_init(&b, 1000);
        show(&l, &b);
        assert_string_equal(b.s, rows[i].shown);
        strbuf_fini(&b);
        qmgr_line_fini(&l);
    }
}

static void bad_lines(void **state)
{
    static const struct {
        const char *line;
        enum qmgr_line_error_kind kind;
        size_t at;
    } rows[] = {
        {"foo", QMGR_BAD_COMMAND, 0},
        {"set", QMGR_BAD_OBJECT, 3},
        {"set foo", QMGR_BAD_OBJECT, 4},
        {"create queue", QMGR_BAD_NAME, 12},
        {"create queue 1x", QMGR_BAD_NAME, 13},
        {"set queue a@ x=1", QMGR_BAD_NAME, 10},
        {"set queue a,,b x=1", QMGR_BAD_NAME, 12},
        {"set queue a", QMGR_BAD_ATTRIBUTE, 11},
        {"set queue a x", QMGR_BAD_ATTRIBUTE, 13},
        {"set queue a x=1,", QMGR_BAD_ATTRIBUTE, 16},
        {"set queue a x='1", QMGR_BAD_ATTRIBUTE, 14},
        {"set queue a x='1'\"", QMGR_BAD_ATTRIBUTE, 17},
        {"set queue a x=1,=2", QMGR_BAD_ATTRIBUTE, 16},
        {"unset queue a x=1", QMGR_BAD_ATTRIBUTE, 15},
        {"delete queue a x", QMGR_BAD_ATTRIBUTE, 16},
        {"import hook h application/x-python", QMGR_BAD_ATTRIBUTE, 34},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct qmgr_line_error f = {0};
        struct qmgr_line l;

        if (qmgr_line_parse(rows[i].line, &l, &f) == 0)
            fail_msg("%s", rows[i].line);
        if (f.kind != rows[i].kind || f.at != rows[i].at)
            fail_msg("%s: %d at %zu", rows[i].line, f.kind, f.at);
        qmgr_line_fini(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_lines), cmocka_unit_test(bad_lines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
