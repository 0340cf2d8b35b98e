/* mom_priv/config by rows. Static resources come as the lines without $.
 *
 * Two steps, so that a bad file changes nothing: the rows' check functions look at every value while the file
 * is read, and take_values() fills the struct when all of them are good. What it parses again has been found
 * good; it fails only where two values do not go together, or for want of memory. A directive that may be
 * several times (usecp, action, enforce) is walked by settings_item. */
#include "mom_config.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exec.h>

#include "config_forms.h"
#include "config_people.h"
#include "confine_devices.h"
#include "settings.h"
#include "strbuf.h"
#include "words.h"

enum { RULE_MAX = 64, DEVICES_MAX = 100 };

static int config_check_elsewhere(const char *value, struct err *e)
{
    return err_set(
        e, EINVAL,
        "$configversion %s begins a vnode definitions file: \"pbs_mom -s insert NAME FILE\" puts it into "
        "mom_priv/config.d",
        value);
}

static int config_check_max_load(const char *value, struct err *e)
{
    double load;
    bool suspends;

    return config_people_load(value, &load, &suspends, e);
}

static int config_check_kbd_idle(const char *value, struct err *e)
{
    int64_t seconds[3];

    return config_people_idle(value, seconds, e);
}

static int config_check_exceptions(const char *value, struct err *e)
{
    unsigned uids[RESTRICT_EXCEPTIONS_MAX];
    size_t n;

    return config_people_users(value, uids, RESTRICT_EXCEPTIONS_MAX, &n, e);
}

static int config_check_nothing(const char *value, struct err *e)
{
    return 0;
}

static int config_check_mask(const char *value, struct err *e)
{
    unsigned mask;

    return config_form_mask(value, &mask, e);
}

static int config_check_path(const char *value, struct err *e)
{
    return value[0] == '/' ? 0 : err_set(e, EINVAL, "\"%s\" is not an absolute path", value);
}

static int config_check_name(const char *value, struct err *e)
{
    for (const char *p = value; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
            return err_set(e, EINVAL, "\"%s\" is not a name of a host or vnode", value);
    return *value ? 0 : err_set(e, EINVAL, "a name is missing");
}

static int config_check_suspendsig(const char *value, struct err *e)
{
    struct words w;
    int rc = config_form_words(value, &w, e);

    if (rc == 0 && (w.n < 1 || w.n > 2))
        rc = err_set(e, EINVAL, "one or two signals: suspend, resume");
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        rc = config_form_signal(w.w[i], e) < 0 ? -1 : 0;
    words_fini(&w);
    return rc;
}

static int config_check_usecp(const char *value, struct err *e)
{
    struct words w;
    int rc = config_form_words(value, &w, e);

    if (rc == 0 && (w.n != 2 || !strchr(w.w[0], ':')))
        rc = err_set(e, EINVAL, "\"%s\" does not have the form host:prefix local", value);
    words_fini(&w);
    return rc;
}

static int config_check_action(const char *value, struct err *e)
{
    struct config_action a = {0};
    int64_t wait_s;
    int event;

    if (config_form_is_multinode(value))
        return config_people_multinode(value, &wait_s, e);
    words_init(&a.argv);
    event = config_form_action(value, &a, e);
    words_fini(&a.argv);
    return event < 0 ? -1 : 0;
}

static bool is_user_home(const char *jobdir_root)
{
    return strcmp(jobdir_root, "PBS_USER_HOME") == 0;
}

static int config_check_jobdir_root(const char *value, struct err *e)
{
    bool shared;
    char *dir = NULL;
    int rc;

    if (is_user_home(value))
        return 0;
    rc = config_form_shared_dir(value, &dir, &shared, e);
    if (rc == 0 && access(dir, F_OK) < 0)
        rc =
            err_set(e, EINVAL, "%s is not there", dir); /* ENOENT would mean that there is no configuration */
    free(dir);
    return rc;
}

static int config_check_adapter(const char *value, struct err *e)
{
    static const char *const names[] = {"app", "criu", "dmtcp", "none"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(value, names[i]) == 0)
            return 0;
    return err_set(e, EINVAL, "\"%s\" is not one of app, criu, dmtcp, none", value);
}

static int config_check_checkpoint_path(const char *value, struct err *e)
{
    return config_form_shared_dir(value, NULL, NULL, e);
}

static int config_check_device(const char *value, struct err *e)
{
    char rule[RULE_MAX];

    return confine_devices_parse(value, rule, sizeof rule, e);
}

static int config_check_enforce(const char *value, struct err *e)
{
    struct enforce_rules any;

    enforce_rules_init(&any);
    return enforce_rules_take(&any, value, e);
}

#define CONFIG(name, ...) ROW_##name,
enum config_row {
#include "mom_config.def"
    ROW_COUNT
};
#undef CONFIG

#define CONFIG(name, type, unit, min, max, preset, flags, check, sentence)                                   \
    {#name, SETTINGS_##type, unit, min, max, preset, sentence, flags, check},
static const struct settings_row rows[] = {
#include "mom_config.def"
};
#undef CONFIG

/* Directives of old systems that look like resources. */
static const char *const old_lines[] = {"memreserved", "pbs_accounting_workload_mgmt"};

/* The script is run without a shell; it may start one itself. */
static int config_take_dynamic(struct config *c, const char *name, const char *command, struct err *e)
{
    struct config_dynamic *more = realloc(c->dynamic, (c->n_dynamic + 1) * sizeof *more);
    struct config_dynamic *d;

    if (!more)
        return err_no_memory(e);
    c->dynamic = more;
    d = &more[c->n_dynamic];
    words_init(&d->argv);
    if (words_parse(command, " \t", WORDS_QUOTES, &d->argv, e) < 0 || !d->argv.n || d->argv.w[0][0] != '/') {
        words_fini(&d->argv);
        return err_set(e, EINVAL, "\"%s !%s\" does not have the form NAME !/SCRIPT ARGUMENTS", name, command);
    }
    d->name = strdup(name);
    c->n_dynamic++;
    return d->name ? 0 : err_no_memory(e);
}

static int config_take_resource(void *context, const char *name, const char *value, int line, struct err *e)
{
    struct config *c = context;
    struct config_resource *more;

    if (name[0] == '$')
        return err_set(e, EINVAL, "there is no directive \"%s\"", name);
    for (size_t i = 0; i < sizeof old_lines / sizeof old_lines[0]; i++)
        if (strcmp(name, old_lines[i]) == 0)
            return 0;
    if (!value || !value[0])
        return err_set(e, EINVAL, "a resource needs a value: \"%s 8\"", name);
    if (value[0] == '!')
        return config_take_dynamic(c, name, value + 1, e);
    more = realloc(c->resources, (c->n_resources + 1) * sizeof *more);
    if (!more)
        return err_no_memory(e);
    c->resources = more;
    more[c->n_resources] = (struct config_resource){strdup(name), strdup(value)};
    c->n_resources++;
    return 0;
}

static int take_usecp(struct config *c, const char *value, struct err *e)
{
    struct config_usecp *more = realloc(c->usecp, (c->n_usecp + 1) * sizeof *more);
    struct words w;

    if (!more)
        return err_no_memory(e);
    c->usecp = more;
    if (config_form_words(value, &w, e) == 0) {
        more[c->n_usecp] = (struct config_usecp){strdup(w.w[0]), strdup(w.w[1])};
        c->n_usecp++;
    }
    words_fini(&w);
    return 0;
}

static void take_suspendsig(struct config *c, const char *value)
{
    struct words w;

    if (config_form_words(value, &w, NULL) == 0) {
        c->suspend_signal = config_form_signal(w.w[0], NULL);
        c->resume_signal = w.n > 1 ? config_form_signal(w.w[1], NULL) : SIGCONT;
    }
    words_fini(&w);
}

static void take_enforce(struct config *c, const struct settings *v)
{
    const struct settings_item *item;

    enforce_rules_init(&c->enforce);
    for (size_t i = 0; (item = settings_item(v, ROW_enforce, i)); i++)
        enforce_rules_take(&c->enforce, item->value, NULL);
}

/* The usual devices, then those of the site. */
static int take_devices(struct config *c, const struct settings *v, struct err *e)
{
    const struct settings_item *item;
    struct strbuf b;
    char rule[RULE_MAX];

    if (!settings_item(v, ROW_device_allow, 0))
        return 0;
    strbuf_init(&b, RULE_MAX * CONFINE_DEVICES_MAX);
    strbuf_add(&b, confine_devices_usual);
    for (size_t i = 0; (item = settings_item(v, ROW_device_allow, i)); i++) {
        if (i == DEVICES_MAX)
            return err_set(e, EINVAL, "more than %d lines $device_allow", DEVICES_MAX);
        if (confine_devices_parse(item->value, rule, sizeof rule, e) < 0)
            return -1; /* it has vanished since it was looked at */
        strbuf_addf(&b, "%s\n", rule);
    }
    c->devices = strbuf_take(&b);
    return c->devices ? 0 : err_no_memory(e);
}

/* The last line for an event counts. */
static void take_actions(struct config *c, const struct settings *v)
{
    const struct settings_item *item;

    for (size_t i = 0; (item = settings_item(v, ROW_action, i)); i++) {
        struct config_action a = {0};
        int event;

        if (config_form_is_multinode(item->value)) {
            c->multinode_requeue = config_people_multinode(item->value, &c->multinode_wait_s, NULL) == 0;
            continue;
        }
        words_init(&a.argv);
        event = config_form_action(item->value, &a, NULL);
        if (event < 0)
            continue;
        words_fini(&c->actions[event].argv);
        c->actions[event] = a;
    }
}

static int take_people(struct config *c, const struct settings *v, struct err *e)
{
    const char *load = settings_text(v, ROW_max_load), *idle = settings_text(v, ROW_kbd_idle);
    const char *spared = settings_text(v, ROW_restrict_user_exceptions);
    int64_t seconds[3] = {0, 0, 0};

    words_init(&c->kbd.devices);
    if ((load && config_people_load(load, &c->max_load, &c->max_load_suspends, e) < 0) ||
        (idle && config_people_idle(idle, seconds, e) < 0) ||
        (spared && config_people_users(spared, c->restrict_exceptions, RESTRICT_EXCEPTIONS_MAX,
                                       &c->n_restrict_exceptions, e) < 0) ||
        words_parse(settings_text(v, ROW_kbd_devices), " \t", WORDS_QUOTES, &c->kbd.devices, e) < 0)
        return -1;
    c->kbd.on = idle != NULL;
    c->kbd.idle_s = seconds[0];
    c->kbd.inuse_s = seconds[1];
    c->kbd.poll_s = seconds[2];
    c->restrict_user = settings_bool(v, ROW_restrict_user);
    c->reject_root_scripts = settings_bool(v, ROW_reject_root_scripts);
    c->restrict_maxsysid = settings_has(v, ROW_restrict_user_maxsysid)
                               ? (unsigned)settings_int(v, ROW_restrict_user_maxsysid)
                               : config_people_maxsysid();
    return 0;
}

static char *dup_or_null(const char *text)
{
    return text ? strdup(text) : NULL;
}

static int take_values(struct config *c, const struct settings *v, struct err *e)
{
    const struct settings_item *item;

    config_form_mask(settings_text(v, ROW_logevent), &c->log_mask, NULL);
    c->tmpdir = dup_or_null(settings_text(v, ROW_tmpdir));
    c->momname = dup_or_null(settings_text(v, ROW_momname));
    c->prologue_s = settings_duration_s(v, ROW_prologalarm);
    c->kill_delay_s = settings_duration_s(v, ROW_kill_delay);
    c->server_lease_s = settings_duration_s(v, ROW_server_lease);
    c->min_check_s = settings_duration_s(v, ROW_min_check_poll);
    c->max_check_s = settings_duration_s(v, ROW_max_check_poll);
    c->cput_mult = settings_real(v, ROW_cputmult);
    c->wall_mult = settings_real(v, ROW_wallmult);
    take_suspendsig(c, settings_text(v, ROW_suspendsig));
    take_enforce(c, v);
    take_actions(c, v);
    c->checkpoint_adapter = dup_or_null(settings_text(v, ROW_checkpoint_adapter));
    c->resource_poll_s = settings_duration_s(v, ROW_resource_poll);
    if (take_people(c, v, e) < 0)
        return -1;
    c->ideal_load = settings_text(v, ROW_ideal_load) ? settings_real(v, ROW_ideal_load) : c->max_load;
    c->restart_becomes_task = settings_bool(v, ROW_restart_transmogrify);
    c->restart_background = settings_bool(v, ROW_restart_background);
    c->attach_allow = settings_bool(v, ROW_attach_allow);
    c->vnode_per_numa_node = settings_bool(v, ROW_vnode_per_numa_node);
    c->cpuset = settings_bool(v, ROW_cpuset);
    c->pids_max = settings_has(v, ROW_pids_max) ? settings_int(v, ROW_pids_max) : -1;
    if (take_devices(c, v, e) < 0)
        return -1;
    if (settings_text(v, ROW_jobdir_root) && !is_user_home(settings_text(v, ROW_jobdir_root)))
        config_form_shared_dir(settings_text(v, ROW_jobdir_root), &c->jobdir_root, &c->jobdir_shared, NULL);
    if (settings_text(v, ROW_checkpoint_path))
        config_form_shared_dir(settings_text(v, ROW_checkpoint_path), &c->checkpoint_path,
                               &c->checkpoint_shared, NULL);
    if (c->min_check_s > c->max_check_s)
        return err_set(e, EINVAL, "min_check_poll(%lld) > max_check_poll(%lld)", (long long)c->min_check_s,
                       (long long)c->max_check_s);
    for (size_t i = 0; (item = settings_item(v, ROW_usecp, i)); i++)
        if (take_usecp(c, item->value, e) < 0)
            return -1;
    return 0;
}

/* A user who can write this file can run any program as us. */
static int check_owner(const char *path, struct err *e)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_errno(e, errno, "cannot read %s", path);
    if ((st.st_uid != geteuid() && st.st_uid >= 10) || (st.st_mode & 022))
        return err_set(e, EACCES, "%s must belong to us and be writable by no other user", path);
    return 0;
}

static struct config *config_finish(struct config *c, struct settings *v, struct err *e)
{
    int rc = v ? take_values(c, v, e) : -1;

    c->lines = v;
    if (rc < 0) {
        config_destroy(c);
        return NULL;
    }
    return c;
}

static struct settings_schema schema_for(struct config *c)
{
    return (struct settings_schema){.style = SETTINGS_DOLLAR,
                                    .rows = rows,
                                    .n_rows = ROW_COUNT,
                                    .other = config_take_resource,
                                    .context = c};
}

struct config *config_load(const char *path, struct err *e)
{
    struct config *c = calloc(1, sizeof *c);
    struct settings_schema schema = schema_for(c);
    struct settings *v;
    struct err why = {0};

    if (!c || check_owner(path, e) < 0) {
        free(c);
        return NULL;
    }
    v = settings_load(&schema, path, &why);
    if (!v && why.code == ENOENT)
        v = settings_presets(&schema, &why);
    if (!v)
        err_set(e, why.code, "%s", why.text);
    return config_finish(c, v, e);
}

struct config *config_parse(const char *text, const char *name_for_errors, struct err *e)
{
    struct config *c = calloc(1, sizeof *c);
    struct settings_schema schema = schema_for(c);

    if (!c)
        return NULL;
    return config_finish(c, settings_parse(&schema, text, name_for_errors, e), e);
}

void config_destroy(struct config *c)
{
    if (!c)
        return;
    settings_destroy(c->lines);
    for (size_t i = 0; i < c->n_resources; i++) {
        free(c->resources[i].name);
        free(c->resources[i].value);
    }
    for (size_t i = 0; i < c->n_usecp; i++) {
        free(c->usecp[i].prefix);
        free(c->usecp[i].local);
    }
    for (int i = 0; i < ACTION_COUNT; i++)
        words_fini(&c->actions[i].argv);
    words_fini(&c->kbd.devices);
    free(c->checkpoint_adapter);
    free(c->checkpoint_path);
    free(c->jobdir_root);
    free(c->devices);
    for (size_t i = 0; i < c->n_dynamic; i++) {
        free(c->dynamic[i].name);
        words_fini(&c->dynamic[i].argv);
    }
    free(c->dynamic);
    free(c->resources);
    free(c->usecp);
    free(c->tmpdir);
    free(c->momname);
    free(c);
}

const char *config_next_fixed(const struct config *before, const struct config *after, size_t *at)
{
    while ((*at = settings_next_fixed(before->lines, after->lines, *at)) < ROW_COUNT) {
        const struct settings_row *row = &rows[(*at)++];

        if (row->check != config_check_nothing)
            return row->name;
    }
    return NULL;
}

const char *config_resource(const struct config *c, const char *name)
{
    const char *found = NULL;

    for (size_t i = 0; i < c->n_resources; i++)
        if (strcmp(c->resources[i].name, name) == 0)
            found = c->resources[i].value;
    return found;
}

unsigned config_grace_s(const struct config *c, unsigned said)
{
    return said == EXEC_GRACE_OF_HOST ? (unsigned)c->kill_delay_s : said;
}
