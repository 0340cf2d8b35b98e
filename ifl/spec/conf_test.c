#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf.h"
#include "pbs_error.h"

static const char base[] = "PBS_HOME=/h\nPBS_EXEC=/x\nPBS_SERVER=svr1\n";

static const char *no_env(const char *name)
{
    return NULL;
}

static const char *some_env(const char *name)
{
    if (!strcmp(name, "PBS_HOME"))
        return "/from/env";
    if (!strcmp(name, "PBS_BATCH_SERVICE_PORT"))
        return "17";
    if (!strcmp(name, "PBS_SCHEDULER_SERVICE_PORT"))
        return "18";
    return !strcmp(name, "PBS_DEFAULT") ? "other:20000" : NULL;
}

static struct conf *parse(const char *extra, conf_getenv *env, struct err *e)
{
    char text[1024];

    snprintf(text, sizeof text, "%s%s", base, extra);
    return conf_parse(text, env, e);
}

static void values_are_read_as_a_shell_would(void **state)
{
    static const struct {
        const char *line, *value; /* of PBS_SCP */
    } rows[] = {
        {"PBS_SCP=/usr/bin/scp\n", "/usr/bin/scp"},
        {"  PBS_SCP = /a b  \n", "/a b"},
        {"PBS_SCP=\"/a b\"\n", "/a b"},
        {"PBS_SCP='x'", "x"},
        {"export PBS_SCP=y\n", "y"},
        {"#PBS_SCP=y\n", NULL},
        {"PBS_SCP=\n", NULL},
        {"PBS_SCP=a\nPBS_SCP=b\r\n", "b"},
        {"PBS_SCPX=a\nNOTHING\n=\n", NULL},
        {"PBS_SCP=a=b", "a=b"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;
        struct conf *c = parse(rows[i].line, no_env, &e);
        const char *v;

        assert_non_null(c);
        v = conf_text(c, CONF_PBS_SCP);
        if (rows[i].value)
            assert_string_equal(v, rows[i].value);
        else
            assert_null(v);
        assert_int_equal(conf_is_set(c, CONF_PBS_SCP), rows[i].value != NULL);
        conf_destroy(c);
    }
}

static void presets_hold_and_bad_ports_are_ignored(void **state)
{
    struct err e;
    struct conf *c =
        parse("PBS_BATCH_SERVICE_PORT=99999\nPBS_MOM_SERVICE_PORT=0\nPBS_START_MOM=1\n", no_env, &e);

    assert_non_null(c);
    assert_int_equal(conf_int(c, CONF_PBS_BATCH_SERVICE_PORT), 15001);
    assert_int_equal(conf_int(c, CONF_PBS_MOM_SERVICE_PORT), 15002);
    assert_int_equal(conf_int(c, CONF_PBS_START_MOM), 1);
    assert_string_equal(conf_text(c, CONF_PBS_CP), "/bin/cp");
    assert_int_equal(conf_server_port(c), 15001);
    assert_string_equal(conf_server_host(c), "svr1");
    conf_destroy(c);
}

static void environment_overrides_where_the_row_says_so(void **state)
{
    struct err e;
    struct conf *c = parse("PBS_SCHEDULER_SERVICE_PORT=16\nPBS_SERVER_HOST_NAME=inner\n", some_env, &e);

    assert_non_null(c);
    assert_string_equal(conf_text(c, CONF_PBS_HOME), "/from/env");
    assert_int_equal(conf_int(c, CONF_PBS_BATCH_SERVICE_PORT), 17);
    assert_int_equal(conf_int(c, CONF_PBS_SCHEDULER_SERVICE_PORT), 16);
    assert_string_equal(conf_server(c), "other:20000");
    assert_string_equal(conf_server_host(c), "other");
    assert_int_equal(conf_server_port(c), 20000);
    conf_destroy(c);
}

static const char *far_env(const char *name)
{
    return !strcmp(name, "PBS_SERVER") ? "far" : !strcmp(name, "PBS_DEFAULT") ? "other:20000" : NULL;
}

static const char *port_env(const char *name)
{
    return !strcmp(name, "PBS_BATCH_SERVICE_PORT") ? "17" : !strcmp(name, "PBS_DEFAULT") ? "svr1" : NULL;
}

static void what_the_file_says_of_its_own_server_is_not_about_another(void **state)
{
    struct err e;
    struct conf *c =
        parse("PBS_SERVER_HOST_NAME=inner\nPBS_BATCH_SERVICE_PORT=7\nPBS_PRIMARY=p\nPBS_SECONDARY=s\n",
              far_env, &e);

    assert_true(conf_is_elsewhere(c));
    assert_string_equal(conf_server(c), "far");
    assert_string_equal(conf_server_host(c), "far");
    assert_string_equal(conf_own_host(c), "svr1");
    assert_int_equal(conf_own_port(c), 7);
    conf_destroy(c);
    c = parse("PBS_BATCH_SERVICE_PORT=7\n", port_env, &e);
    assert_true(conf_is_elsewhere(c));
    assert_int_equal(conf_server_port(c), 17);
    assert_int_equal(conf_own_port(c), 7);
    conf_destroy(c);
    c = parse("PBS_SERVER_HOST_NAME=inner\nPBS_BATCH_SERVICE_PORT=17\n", port_env, &e);
    assert_false(conf_is_elsewhere(c));
    assert_string_equal(conf_server_host(c), "inner");
    conf_destroy(c);
}

static void names_for_connecting(void **state)
{
    struct err e;
    struct conf *c = parse("PBS_SERVER_HOST_NAME=inner\nPBS_BATCH_SERVICE_PORT=7\n", no_env, &e);

    assert_string_equal(conf_server(c), "svr1");
    assert_string_equal(conf_server_host(c), "inner");
    assert_int_equal(conf_server_port(c), 7);
    conf_destroy(c);
    c = parse("PBS_PRIMARY=p\nPBS_SECONDARY=s\n", no_env, &e);
    assert_string_equal(conf_server_host(c), "p");
    conf_destroy(c);
    c = conf_parse("PBS_HOME=/h\nPBS_EXEC=/x\nPBS_DEFAULT=old:9\n", no_env, &e);
    assert_string_equal(conf_server_host(c), "old");
    assert_int_equal(conf_server_port(c), 9);
    conf_destroy(c);
}

static void a_pair_is_two_hosts_each_with_a_port(void **state)
{
    struct err e;
    struct conf *c = parse("PBS_PRIMARY=p:17\nPBS_SECONDARY=s\nPBS_BATCH_SERVICE_PORT=7\n", no_env, &e);

    assert_string_equal(conf_server_host(c), "p");
    assert_string_equal(conf_pair(c)[0].host, "p");
    assert_int_equal(conf_pair(c)[0].port, 17);
    assert_string_equal(conf_pair(c)[1].host, "s");
    assert_int_equal(conf_pair(c)[1].port, 7);
    conf_destroy(c);
    c = parse("PBS_PRIMARY=p\n", no_env, &e);
    assert_null(conf_pair(c));
    conf_destroy(c);
    assert_null(parse("PBS_PRIMARY=p\nPBS_SECONDARY=s:x\n", no_env, &e));
    assert_string_equal(e.text, "PBS_SECONDARY: illegal port in \"s:x\"");
}

static void errors_name_the_variables(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "pbsconf error: pbs conf variables not found: PBS_HOME PBS_EXEC PBS_SERVER"},
        {"PBS_HOME=/h\nPBS_SERVER=s\n", "pbsconf error: pbs conf variables not found: PBS_EXEC"},
        {"PBS_HOME=/h\nPBS_EXEC=/x\nPBS_SERVER=s\nPBS_MOM_NODE_NAME=a:1\n",
         "pbsconf error: illegal value for: PBS_MOM_NODE_NAME"},
        {"PBS_HOME=/h\nPBS_EXEC=/x\nPBS_SERVER=s:x\n", "illegal port in \"s:x\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;

        assert_null(conf_parse(rows[i].text, no_env, &e));
        assert_int_equal(e.code, PBSE_BADATVAL);
        assert_string_equal(e.text, rows[i].error);
    }
}

static void hosts_are_split(void **state)
{
    static const struct {
        const char *text, *host;
        int port;
    } rows[] = {{"a", "a", 5},     {"a:1", "a", 1},       {"[::1]:70", "::1", 70}, {"[::1]", "::1", 5},
                {"a:0", NULL, 0},  {"a:65536", NULL, 0},  {":1", NULL, 0},         {"", NULL, 0},
                {"a:1x", NULL, 0}, {"aaaaaaaa", NULL, 0}, {"a:", NULL, 0},         {"[a]x", NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char host[8];
        uint16_t port = 0;
        struct err e;
        int rc = conf_split_host(rows[i].text, host, sizeof host, &port, 5, &e);

        assert_int_equal(rc, rows[i].host ? 0 : -1);
        if (rows[i].host) {
            assert_string_equal(host, rows[i].host);
            assert_int_equal(port, rows[i].port);
        }
    }
}

static void a_missing_file_is_named(void **state)
{
    struct err e;

    setenv("PBS_CONF_FILE", "/nowhere/pbs.conf", 1);
    assert_null(conf_load(&e));
    assert_int_equal(e.code, ENOENT);
    assert_non_null(strstr(e.text, "/nowhere/pbs.conf"));
}

static void write_conf(const char *path, const char *scp)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fprintf(f, "%sPBS_SCP=%s\n", base, scp);
    assert_int_equal(fclose(f), 0);
}

static void a_process_shares_one_conf_until_it_is_read_again(void **state)
{
    char path[] = "/tmp/cede-conf.XXXXXX";
    const struct conf *c;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    setenv("PBS_CONF_FILE", "/nonexistent/pbs.conf", 1);
    assert_null(conf_shared(false, NULL));
    setenv("PBS_CONF_FILE", path, 1);
    write_conf(path, "one");
    c = conf_shared(false, NULL); /* the failure was not kept */
    assert_non_null(c);
    write_conf(path, "two");
    assert_ptr_equal(conf_shared(false, NULL), c);
    assert_string_equal(conf_text(c, CONF_PBS_SCP), "one");
    c = conf_shared(true, NULL);
    assert_string_equal(conf_text(c, CONF_PBS_SCP), "two");
    unlink(path);
    assert_null(conf_shared(true, NULL));
    assert_ptr_equal(conf_shared(false, NULL), c); /* the former one holds */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_as_a_shell_would),
        cmocka_unit_test(presets_hold_and_bad_ports_are_ignored),
        cmocka_unit_test(environment_overrides_where_the_row_says_so),
        cmocka_unit_test(what_the_file_says_of_its_own_server_is_not_about_another),
        cmocka_unit_test(names_for_connecting),
        cmocka_unit_test(a_pair_is_two_hosts_each_with_a_port),
        cmocka_unit_test(errors_name_the_variables),
        cmocka_unit_test(hosts_are_split),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_process_shares_one_conf_until_it_is_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
