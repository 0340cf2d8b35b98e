/* The order as hooks see and change it. See host_launch.h. */
#include "host_launch.h"

#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "hook_json.h"
#include "mom_run.h"
#include "pbs_error.h"
#include "rundir.h"

static int host_launch_read(const struct run *r, struct shep_order *o, struct err *e)
{
    memset(o, 0, sizeof *o);
    return rundir_read_order(r->path, o, e);
}

static int host_launch_write(const struct run *r, const struct shep_order *o, struct err *e)
{
    if (rundir_void(r->path) < 0)
        return err_set(e, PBSE_SYSTEM, "the order of %s cannot be replaced", r->id);
    return rundir_write_order(r->path, o, e);
}

/* ---- to hooks ---------------------------------------------------------------------------------------- */

static json_t *host_launch_env(const struct shep_order *o)
{
    json_t *env = json_object();

    for (u_int i = 0; env && i < o->env.env_len; i++) {
        char *name = strdup(o->env.env_val[i]), *equals = name ? strchr(name, '=') : NULL;

        if (equals) {
            *equals = '\0';
            hook_json_put(env, name, NULL, equals + 1);
        }
        free(name);
    }
    return env;
}

int host_launch_put(const struct run *r, json_t *data)
{
    struct shep_order o;
    struct err e;
    json_t *argv = json_array();
    int rc = host_launch_read(r, &o, &e);

    for (u_int i = 0; rc == 0 && i < o.argv.argv_len; i++)
        json_array_append_new(argv, hook_json_text(o.argv.argv_val[i]));
    if (rc == 0) {
        json_object_set_new(data, "progname", hook_json_text(o.exec_path));
        json_object_set(data, "argv", argv);
        json_object_set_new(data, "env", host_launch_env(&o));
    }
    json_decref(argv);
    xdr_free((xdrproc_t)xdr_shep_order, (char *)&o);
    return rc;
}

/* ---- from hooks -------------------------------------------------------------------------------------- */

static void host_launch_free_list(char **list, u_int n)
{
    for (u_int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static int host_launch_set_argv(struct shep_order *o, const json_t *argv)
{
    u_int n = (u_int)json_array_size(argv);
    char **list = calloc(n + 1, sizeof *list);

    for (u_int i = 0; list && i < n; i++)
        if (!(list[i] = hook_json_bytes(json_array_get(argv, i)))) {
            host_launch_free_list(list, i);
            return -1;
        }
    if (!list)
        return -1;
    host_launch_free_list(o->argv.argv_val, o->argv.argv_len);
    o->argv.argv_val = list;
    o->argv.argv_len = n;
    return 0;
}

static int host_launch_set_env(struct shep_order *o, json_t *env)
{
    u_int n = 0;
    char **list = calloc(json_object_size(env) + 1, sizeof *list);
    const char *name;
    json_t *v;

    if (!list)
        return -1;
    json_object_foreach(env, name, v)
    {
        char *value = hook_json_bytes(v), *plain = strdup(name);

        list[n] = NULL;
        if (!value || !plain || asprintf(&list[n], "%s=%s", plain, value) < 0) {
            free(value);
            free(plain);
            host_launch_free_list(list, n);
            return -1;
        }
        n++;
        free(value);
        free(plain);
    }
    host_launch_free_list(o->env.env_val, o->env.env_len);
    o->env.env_val = list;
    o->env.env_len = n;
    return 0;
}

static bool host_launch_is_same(const struct run *r, const json_t *data)
{
    static const char *const names[] = {"progname", "argv", "env"};
    json_t *was = json_object();
    bool same = was && host_launch_put(r, was) == 0;

    for (size_t i = 0; same && i < sizeof names / sizeof names[0]; i++)
        same = json_equal(json_object_get(was, names[i]), json_object_get(data, names[i]));
    json_decref(was);
    return same;
}

int host_launch_apply(const struct run *r, const json_t *data, struct err *e)
{
    struct shep_order o;
    const json_t *argv = json_object_get(data, "argv");
    char *program;
    int rc;

    if (host_launch_is_same(r, data))
        return 0;
    program = hook_json_bytes(json_object_get(data, "progname"));
    rc = host_launch_read(r, &o, e);

    if (rc == 0 && (!program || program[0] != '/' || !json_array_size(argv)))
        rc = err_set(e, PBSE_HOOKERROR,
                     "a launch hook has left no program: progname is an absolute path, argv has its name");
    if (rc == 0) {
        free(o.exec_path);
        o.exec_path = program;
        program = NULL;
        if (host_launch_set_argv(&o, argv) < 0 || host_launch_set_env(&o, json_object_get(data, "env")) < 0)
            rc = err_set(e, PBSE_HOOKERROR, "argv and env of a launch hook cannot be used");
    }
    if (rc == 0)
        rc = host_launch_write(r, &o, e);
    free(program);
    xdr_free((xdrproc_t)xdr_shep_order, (char *)&o);
    return rc;
}

static int host_launch_put_variable(struct shep_order *o, const char *name, const char *value)
{
    size_t length = strlen(name);
    u_int kept = 0;
    char **list, *line = NULL;

    for (u_int i = 0; i < o->env.env_len; i++) {
        char *v = o->env.env_val[i];

        if (strncmp(v, name, length) == 0 && v[length] == '=')
            free(v);
        else
            o->env.env_val[kept++] = v;
    }
    o->env.env_len = kept;
    if (!value)
        return 0;
    list = realloc(o->env.env_val, (kept + 1) * sizeof *list);
    if (!list || asprintf(&line, "%s=%s", name, value) < 0)
        return -1;
    list[kept] = line;
    o->env.env_val = list;
    o->env.env_len = kept + 1;
    return 0;
}

int host_launch_set_variable(const struct run *r, const char *name, const char *value, struct err *e)
{
    struct shep_order o;
    int rc = host_launch_read(r, &o, e);

    if (rc == 0 && host_launch_put_variable(&o, name, value) < 0)
        rc = err_no_memory(e);
    if (rc == 0)
        rc = host_launch_write(r, &o, e);
    xdr_free((xdrproc_t)xdr_shep_order, (char *)&o);
    return rc;
}
