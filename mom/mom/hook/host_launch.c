/* The order as hooks see and change it. See host_launch.h.
 *
 * Each call reads the order, changes it in memory and writes it whole; nothing of it is kept between calls. An order cannot be changed in
 * place: rundir_void takes the old one away first, so a MOM that dies in between leaves a directory without an order, which
 * recover_runs removes, as no process of the job runs yet. */
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

static json_t *host_launch_env(char *const *list, unsigned n)
{
    json_t *env = json_object();

    for (unsigned i = 0; env && i < n; i++) {
        char *name = strdup(list[i]), *equals = name ? strchr(name, '=') : NULL;

        if (equals) {
            *equals = '\0';
            hook_json_put(env, name, NULL, equals + 1);
        }
        free(name);
    }
    return env;
}

json_t *host_launch_data(const char *progname, char *const *argv, unsigned n_argv, char *const *env,
                         unsigned n_env)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < n_argv; i++)
        json_array_append_new(list, hook_json_text(argv[i]));
    return json_pack("{s:o, s:o, s:o}", "progname", hook_json_text(progname), "argv", list, "env",
                     host_launch_env(env, n_env));
}

int host_launch_put(const struct run *r, json_t *data)
{
    struct shep_order o;
    struct err e;
    json_t *said = NULL;
    int rc = host_launch_read(r, &o, &e);

    if (rc == 0) {
        said = host_launch_data(o.exec_path, o.argv.argv_val, o.argv.argv_len, o.env.env_val, o.env.env_len);
        rc = said ? json_object_update(data, said) : -1;
    }
    json_decref(said);
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

/* Heap, or NULL. */
static char **host_launch_list(const json_t *argv, u_int *n)
{
    char **list = calloc(json_array_size(argv) + 1, sizeof *list);

    *n = (u_int)json_array_size(argv);
    for (u_int i = 0; list && i < *n; i++)
        if (!(list[i] = hook_json_bytes(json_array_get(argv, i)))) {
            host_launch_free_list(list, i);
            return NULL;
        }
    return list;
}

static int host_launch_set_argv(struct shep_order *o, const json_t *argv)
{
    u_int n;
    char **list = host_launch_list(argv, &n);

    if (!list)
        return -1;
    host_launch_free_list(o->argv.argv_val, o->argv.argv_len);
    o->argv.argv_val = list;
    o->argv.argv_len = n;
    return 0;
}

static char **host_launch_env_list(json_t *env, u_int *n)
{
    char **list = calloc(json_object_size(env) + 1, sizeof *list);
    const char *name;
    json_t *v;

    *n = 0;
    if (!list)
        return NULL;
    json_object_foreach(env, name, v)
    {
        char *value = hook_json_bytes(v);

        if (!value || asprintf(&list[*n], "%s=%s", name, value) < 0) {
            free(value);
            host_launch_free_list(list, *n);
            return NULL;
        }
        ++*n;
        free(value);
    }
    return list;
}

int host_launch_lists(const json_t *data, char ***argv, unsigned *n_argv, char ***env, unsigned *n_env)
{
    char *program = hook_json_bytes(json_object_get(data, "progname"));
    char **a = host_launch_list(json_object_get(data, "argv"), n_argv);
    char **v = host_launch_env_list(json_object_get(data, "env"), n_env);

    if (!program || !*program || !a || !*n_argv || !v) {
        free(program);
        if (a)
            host_launch_free_list(a, *n_argv);
        if (v)
            host_launch_free_list(v, *n_env);
        return -1;
    }
    free(a[0]);
    a[0] = program;
    *argv = a;
    *env = v;
    return 0;
}

static int host_launch_set_env(struct shep_order *o, json_t *env)
{
    u_int n;
    char **list = host_launch_env_list(env, &n);

    if (!list)
        return -1;
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

int host_launch_set_nodefile(const struct run *r, const char *text, struct err *e)
{
    struct shep_order o;
    int rc = host_launch_read(r, &o, e);

    if (rc == 0) {
        free(o.nodefile_text);
        o.nodefile_text = strdup(text);
        rc = o.nodefile_text ? host_launch_write(r, &o, e) : err_no_memory(e);
    }
    xdr_free((xdrproc_t)xdr_shep_order, (char *)&o);
    return rc;
}
