/* The scheduler's files. See files.h.
 *
 * sched_config is read in three steps: settings checks each line by its row, and a file that is wrong there changes nothing; lines
 * with other faults are named, and options that do nothing; and what the rest says becomes the policy, again
 * whenever prime time begins or ends. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "log.h"
#include "mem.h"
#include "policy.h"
#include "prime_calendar.h"
#include "settings.h"
#include "sort_keys.h"
#include "strbuf.h"
#include "units.h"

enum { CONFIG_MAX = 1 << 16, DYNAMIC_MAX = 200 }; /* bytes of each file; lines of server_dyn_res */

#define OPTION(name, ...) OPT_##name,
enum files_option {
#include "sched_config.def"
    OPT_COUNT
};
#undef OPTION

/* Whole numbers are counts; for the other types 0 means unbounded. */
enum { MOST_INT = INT32_MAX, MOST_TEXT = 0, MOST_BOOL = 0, MOST_REAL = 0, MOST_DURATION = 0 };

#define OPTION(n, t, d, done, s)                                                                             \
    [OPT_##n] = {.name = #n,                                                                                 \
                 .type = SETTINGS_##t,                                                                       \
                 .max = MOST_##t,                                                                            \
                 .preset = d,                                                                                \
                 .sentence = s,                                                                              \
                 .flags = SETTINGS_REPEAT | SETTINGS_LIVE},
static const struct settings_row rows[OPT_COUNT] = {
#include "sched_config.def"
};
#undef OPTION

/* Why an option does nothing; NULL: it does what it says. */
#define YES                      NULL
#define OPTION(n, t, d, done, s) [OPT_##n] = done,
static const char *const idle_because[OPT_COUNT] = {
#include "sched_config.def"
};
#undef OPTION
#undef YES

/* Values of the written file that differ from the presets. */
#define OPTION(...)
#define SHIPPED(option, value) [OPT_##option] = (value),
static const char *const shipped[OPT_COUNT] = {
#include "sched_config.def"
};
#undef OPTION

static const struct {
    const char *name, *instead;
} obsolete[] = {
    {"preempt_prio", "nothing - set via qmgr"},   {"preempt_order", "nothing - set via qmgr"},
    {"preempt_sort", "nothing - set via qmgr"},   {"preempt_queue_prio", "nothing - set via qmgr"},
    {"node_group_key", "nothing - set via qmgr"}, {"log_filter", "nothing - set log_events via qmgr"},
    {"half_life", "fairshare_decay_time"},        {"sort_priority", "job_priority"}};

/* --- faults of lines ---------------------------------------------------------------------------------- */

static void files_log_line(void *arg, const char *text)
{
    log_event(LOGC_FIL, LOGE_SCHED, "sched_config", "%s", text);
}

const struct files_listener files_log = {.say = files_log_line};

__attribute__((format(printf, 2, 3))) static void files_say(const struct files_listener *to, const char *fmt,
                                                            ...)
{
    struct strbuf text;
    va_list ap;

    strbuf_init(&text, ERR_TEXT_MAX + 64);
    va_start(ap, fmt);
    strbuf_vaddf(&text, fmt, ap);
    va_end(ap);
    to->say(to->arg, strbuf_str(&text));
    strbuf_fini(&text);
}

/* A name without a row: said in PBS's words, and passed over. */
static int files_other_name(void *context, const char *name, const char *value, int line, struct err *e)
{
    const struct files_listener *to = context;

    for (size_t i = 0; i < sizeof obsolete / sizeof *obsolete; i++)
        if (strcmp(name, obsolete[i].name) == 0) {
            files_say(to, "Obsolete config name %s, instead use %s", name, obsolete[i].instead);
            return 0;
        }
    files_say(to, "Error reading line %d: Unknown config parameter %s", line, name);
    return 0;
}

/* What the lines before have come to. */
struct judging {
    struct policy keys; /* the sort keys alone */
    size_t n_dynamic;
};

typedef int files_judge_fn(struct judging *g, const char *value, struct err *e);

static int judge_job_key(struct judging *g, const char *value, struct err *e)
{
    return sort_keys_add_job(&g->keys, value, e) == 0 ? 0 : err_prefix(e, "Invalid job_sort_key");
}

static int judge_node_key(struct judging *g, const char *value, struct err *e)
{
    return sort_keys_add_node(&g->keys, value, e) == 0 ? 0 : err_prefix(e, "Invalid node_sort_key");
}

static char *without_quotes(const char *text)
{
    char *copy = mem_text(*text == '"' ? text + 1 : text);

    if (*text == '"' && *copy && copy[strlen(copy) - 1] == '"')
        copy[strlen(copy) - 1] = '\0';
    return copy;
}

/* "licences !/site/count tool": the resource ends where `*command` begins, which has no ! then. */
static bool parse_dynamic(char *text, char **command)
{
    size_t n = strcspn(text, " \t!");
    char *at = text + n + strspn(text + n, " \t");

    if (n == 0 || at[0] != '!' || at[1] != '/')
        return false;
    text[n] = '\0';
    *command = at + 1;
    return true;
}

static int judge_script(struct judging *g, const char *value, struct err *e)
{
    char *text = without_quotes(value), *command = NULL;
    int rc = 0;

    if (g->n_dynamic == DYNAMIC_MAX || !parse_dynamic(text, &command))
        rc = err_set(e, EINVAL,
                     "Invalid server_dyn_res: %s: it is \"RESOURCE !/SCRIPT ARGUMENTS\", %d at most", value,
                     DYNAMIC_MAX);
    else {
        g->n_dynamic++;
        command[strcspn(command, " \t")] = '\0';
        if (access(command, F_OK) < 0 && errno == ENOENT)
            rc = err_set(e, ENOENT, "server_dyn_res script %s does not exist", command);
    }
    free(text);
    return rc;
}

static const char *const entities[SHARE_OF_COUNT] = {[SHARE_OF_USER] = "euser",
                                                     [SHARE_OF_GROUP] = "egroup",
                                                     [SHARE_OF_ACCOUNT] = "Account_Name",
                                                     [SHARE_OF_QUEUE] = "queue",
                                                     [SHARE_OF_GROUP_USER] = "egroup:euser"};

/* SHARE_OF_COUNT: it is none. */
static int find_entity(const char *value)
{
    int i = 0;

    while (i < SHARE_OF_COUNT && strcasecmp(entities[i], value) != 0)
        i++;
    return i;
}

static int judge_entity(struct judging *g, const char *value, struct err *e)
{
    return find_entity(value) < SHARE_OF_COUNT
               ? 0
               : err_set(e, EINVAL, "fairshare_entity %s is erroneous (or deprecated).", value);
}

static bool is_factor(double x)
{
    return x > 0 && x < 1;
}

static int judge_factor(struct judging *g, const char *value, struct err *e)
{
    return is_factor(strtod(value, NULL))
               ? 0
               : err_set(e, EINVAL, "fairshare_decay_factor %s is not between 0 and 1: %s is used", value,
                         rows[OPT_fairshare_decay_factor].preset);
}

static int judge_spread(struct judging *g, const char *value, struct err *e)
{
    return strcasecmp(value, "pack") == 0 || strcasecmp(value, "round_robin") == 0
               ? 0
               : err_set(e, EINVAL, "smp_cluster_dist %s is neither pack nor round_robin: pack is used",
                         value);
}

static int judge_job_check(struct judging *g, const char *value, struct err *e)
{
    int64_t n;

    return strcasecmp(value, "ALL_JOBS") == 0 || units_parse_int(value, 0, INT32_MAX, &n, NULL) == 0
               ? 0
               : err_set(e, EINVAL,
                         "max_job_check %s is neither ALL_JOBS nor a number of jobs: all are looked at",
                         value);
}

static int judge_ignored(struct judging *g, const char *value, struct err *e)
{
    return strcasecmp(value, "dedicated_time") == 0 || strcasecmp(value, "none") == 0
               ? 0
               : err_set(e, EINVAL, "resv_confirm_ignore valid values: dedicated_time or none");
}

static const struct {
    enum files_option option;
    files_judge_fn *judge;
} judges[] = {{OPT_job_sort_key, judge_job_key},          {OPT_node_sort_key, judge_node_key},
              {OPT_server_dyn_res, judge_script},         {OPT_fairshare_entity, judge_entity},
              {OPT_fairshare_decay_factor, judge_factor}, {OPT_smp_cluster_dist, judge_spread},
              {OPT_max_job_check, judge_job_check},       {OPT_resv_confirm_ignore, judge_ignored}};

/* Lines of all hours, whichever it is now. */
static void judge_lines(const struct settings *v, const struct files_listener *to)
{
    struct judging g = {.n_dynamic = 0};
    const struct settings_item *item;
    struct err e;

    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        for (size_t k = 0; (item = settings_item(v, judges[i].option, k)) != NULL; k++)
            if (judges[i].judge(&g, item->value, &e) < 0)
                files_say(to, "Error reading line %d: %s", item->line, e.text);
    policy_forget_keys(&g.keys);
}

static const char *const when[] = {"prime", "non_prime", "all",       "none", "ALL",
                                   "NONE",  "PRIME",     "NON_PRIME", NULL};

void files_add_presets(struct strbuf *out)
{
    strbuf_add(out,
               "# sched_config: how the scheduler decides. Lines are \"name: value\"; # begins a comment.\n");
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const char *value = shipped[i] ? shipped[i] : rows[i].preset;

        strbuf_addf(out, "\n# %s%s%s%s\n%s%s: %s\n", rows[i].sentence,
                    idle_because[i] ? " (does nothing: " : "", idle_because[i] ? idle_because[i] : "",
                    idle_because[i] ? ")" : "", value && !idle_because[i] ? "" : "# ", rows[i].name,
                    value ? value : "");
    }
}

/* Where the file cannot be written the presets are in force all the same. */
static void write_presets(const char *path)
{
    struct strbuf b;

    strbuf_init(&b, CONFIG_MAX);
    files_add_presets(&b);
    if (strbuf_ok(&b))
        file_write_quick(AT_FDCWD, path, b.s, b.len, 0644, NULL);
    strbuf_fini(&b);
}

/* --- the files that a site edits beside it ------------------------------------------------------------ */

/* What a site has changed is never replaced. */
static int put_one(const char *pristine, const char *path, struct err *e)
{
    char *bytes = NULL;
    size_t n = 0;
    int rc;

    if (access(path, F_OK) == 0 || access(pristine, F_OK) < 0)
        return 0;
    rc = file_read(AT_FDCWD, pristine, CONFIG_MAX, &bytes, &n, e);
    if (rc == 0)
        rc = file_write_quick(AT_FDCWD, path, bytes, n, 0644, e);
    free(bytes);
    return rc;
}

int files_put_pristine(const char *exec, const char *priv, struct err *e)
{
    static const struct {
        const char *from, *to;
    } files[] = {{"pbs_resource_group", "resource_group"},
                 {"pbs_holidays", "holidays"},
                 {"pbs_dedicated", "dedicated_time"}};
    char from[PATH_MAX], to[PATH_MAX];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((size_t)snprintf(from, sizeof from, "%s/etc/%s", exec, files[i].from) >= sizeof from ||
            (size_t)snprintf(to, sizeof to, "%s/%s", priv, files[i].to) >= sizeof to)
            return err_set(e, ENAMETOOLONG, "%s: path too long", priv);
        if (put_one(from, to, e) < 0)
            return -1;
    }
    return 0;
}

static void name_what_does_nothing(const struct settings *v)
{
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const char *value = settings_has(v, i) ? settings_text(v, i) : NULL;

        if (value && idle_because[i] && (!rows[i].preset || strcasecmp(value, rows[i].preset) != 0))
            log_event(LOGC_FIL, LOGE_SCHED, "sched_config", "%s does nothing: %s", rows[i].name,
                      idle_because[i]);
    }
}

/* A value that is right, and may not be meant. */
static void files_say_no_decay(const struct settings *v)
{
    if (settings_duration_s(v, OPT_fairshare_decay_time) == 0)
        log_event(LOGC_FIL, LOGE_SCHED, "sched_config", "fairshare_decay_time 0: usage never fades");
}

/* --- into the policy --------------------------------------------------------------------------------- */

static char *text_or_null(const struct settings *v, size_t row)
{
    const char *text = settings_text(v, row);

    return text && *text ? without_quotes(text) : NULL;
}

/* Return true if a line with this prime word applies at these hours. */
static bool files_holds(const struct policy *p, const struct settings_item *item)
{
    if (strcasecmp(item->qualifier, "none") == 0)
        return false;
    return strcasecmp(item->qualifier, p->is_prime ? "non_prime" : "prime") != 0;
}

/* Lines in their order, those that are wrong left out; without a line for vnodes the preset holds. */
static void take_sort_keys(struct policy *p, const struct settings *v)
{
    const struct settings_item *item;

    for (size_t i = 0; (item = settings_item(v, OPT_job_sort_key, i)) != NULL; i++)
        if (files_holds(p, item))
            (void)sort_keys_add_job(p, item->value, NULL);
    if (!settings_item(v, OPT_node_sort_key, 0))
        sort_keys_add_node(p, rows[OPT_node_sort_key].preset, NULL);
    for (size_t i = 0; (item = settings_item(v, OPT_node_sort_key, i)) != NULL; i++)
        if (files_holds(p, item))
            (void)sort_keys_add_node(p, item->value, NULL);
}

/* A line that is wrong is left out, the others hold. */
static void files_take_dynamic(struct policy *p, const struct settings *v)
{
    const struct settings_item *item;
    size_t cap = 0;

    for (size_t i = 0; (item = settings_item(v, OPT_server_dyn_res, i)) != NULL; i++) {
        char *text = without_quotes(item->value), *command;

        if (p->n_dynamic < DYNAMIC_MAX && parse_dynamic(text, &command)) {
            p->dynamic = mem_room(p->dynamic, p->n_dynamic, &cap, sizeof *p->dynamic);
            p->dynamic[p->n_dynamic++] =
                (struct policy_dynamic){.resource = mem_text(text), .command = mem_text(command)};
        }
        free(text);
    }
}

/* Texts that are about to be set again. */
static void files_forget(struct policy *p)
{
    policy_forget_keys(p);
    policy_forget_dynamic(p);
    free(p->resources);
    free(p->unset_infinite);
    free(p->share_usage);
    free(p->prime_prefix);
    free(p->nonprime_prefix);
    free(p->dedicated_prefix);
}

/* The last value that holds. */
static const char *at_present(const struct policy *p, const struct settings *v, size_t row)
{
    const struct settings_item *item;
    const char *value = rows[row].preset;

    for (size_t i = 0; (item = settings_item(v, row, i)) != NULL; i++)
        if (files_holds(p, item))
            value = item->value;
    return value;
}

static bool is_on(const struct policy *p, const struct settings *v, size_t row)
{
    bool on = false;

    return units_parse_bool(at_present(p, v, row), &on, NULL) == 0 && on;
}

static enum share_entity entity_of(const char *value)
{
    int i = find_entity(value);

    return i < SHARE_OF_COUNT ? (enum share_entity)i : SHARE_OF_USER;
}

static void take_shares(struct policy *p, const struct settings *v)
{
    char *entity = text_or_null(v, OPT_fairshare_entity);

    p->fair_share = is_on(p, v, OPT_fair_share);
    p->unknown_shares = settings_int(v, OPT_unknown_shares);
    p->share_usage = text_or_null(v, OPT_fairshare_usage_res);
    p->share_entity = entity ? entity_of(entity) : SHARE_OF_USER;
    p->share_decay_s = settings_duration_s(v, OPT_fairshare_decay_time);
    p->share_decay = settings_real(v, OPT_fairshare_decay_factor);
    p->share_enforce = settings_bool(v, OPT_fairshare_enforce_no_shares);
    if (!is_factor(p->share_decay))
        p->share_decay = strtod(rows[OPT_fairshare_decay_factor].preset, NULL);
    free(entity);
}

static void take_hours(struct policy *p, const struct settings *v)
{
    p->backfill_prime = is_on(p, v, OPT_backfill_prime);
    p->prime_exempt = settings_bool(v, OPT_prime_exempt_anytime_queues);
    if (units_parse_duration_s(at_present(p, v, OPT_prime_spill), &p->prime_spill_s, NULL) < 0)
        p->prime_spill_s = 0;
    p->resv_ignores_dedicated = strcasecmp(settings_text(v, OPT_resv_confirm_ignore), "dedicated_time") == 0;
    p->prime_prefix = text_or_null(v, OPT_primetime_prefix);
    p->nonprime_prefix = text_or_null(v, OPT_nonprimetime_prefix);
    p->dedicated_prefix = text_or_null(v, OPT_dedicated_prefix);
}

/* After the keys of sorting. */
static void take_spread(struct policy *p, const struct settings *v)
{
    const char *value = at_present(p, v, OPT_smp_cluster_dist);

    p->round_hosts = strcasecmp(value, "round_robin") == 0;
    if (!p->round_hosts || !policy_sorts_by_use(p))
        return;
    log_event(
        LOGC_FIL, LOGE_SCHED, "sched_config",
        "smp_cluster_dist and node sorting by unused/assigned resources are incompatible: pack is used");
    p->round_hosts = false;
}

/* Called again at each change of the hours, so everything begins from what the lines say. */
void files_apply_config(const struct settings *v, struct policy *p)
{
    files_forget(p);
    p->resources = text_or_null(v, OPT_resources);
    p->unset_infinite = text_or_null(v, OPT_resource_unset_infinite);
    take_shares(p, v);
    take_hours(p, v);
    p->by_queue = is_on(p, v, OPT_by_queue);
    p->round_robin = is_on(p, v, OPT_round_robin);
    p->strict_ordering = is_on(p, v, OPT_strict_ordering);
    p->strict_fifo = is_on(p, v, OPT_strict_fifo);
    p->backfill = is_on(p, v, OPT_backfill);
    p->preemptive = is_on(p, v, OPT_preemptive_sched);
    p->preempt_attempts = settings_int(v, OPT_preempt_attempts);
    p->update_comments = settings_bool(v, OPT_update_comments);
    if (units_parse_int(settings_text(v, OPT_max_job_check), 0, INT32_MAX, &p->max_job_check, NULL) < 0)
        p->max_job_check = 0;
    take_sort_keys(p, v);
    take_spread(p, v);
    files_take_dynamic(p, v);
}

/* A missing file is written, so that an administrator finds every option with its sentence. */
struct settings *files_load_config(const char *path, const struct files_listener *to, struct err *e)
{
    const struct settings_schema schema = {.style = SETTINGS_COLON,
                                           .rows = rows,
                                           .n_rows = OPT_COUNT,
                                           .qualifiers = when,
                                           .other = files_other_name,
                                           .context = (void *)(uintptr_t)to};
    struct settings *v;

    v = settings_load(&schema, path, e);
    if (!v && e->code == ENOENT) {
        write_presets(path);
        v = settings_load(&schema, path, e);
        if (!v) /* it could not be written */
            v = settings_presets(&schema, e);
    }
    if (v) {
        judge_lines(v, to);
        name_what_does_nothing(v);
        files_say_no_decay(v);
    }
    return v;
}

int files_read_config(const char *path, struct policy *p, const struct files_listener *to, struct err *e)
{
    struct settings *v = files_load_config(path, to, e);

    if (!v)
        return -1;
    files_apply_config(v, p);
    settings_destroy(v);
    return 0;
}

/* --- hours --------------------------------------------------------------------------------------------- */

static void files_say_holidays(void *arg, const char *text)
{
    log_event(LOGC_FIL, LOGE_ADMIN, "holidays", "%s", text);
}

/* NULL: it is not there. */
static char *files_text_of(const char *priv, const char *name)
{
    char path[PATH_MAX], *text = NULL;
    struct err e;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", priv, name) >= sizeof path || access(path, F_OK) < 0)
        return NULL;
    if (file_read(AT_FDCWD, path, CONFIG_MAX, &text, NULL, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, name, "%s", e.text);
    return text;
}

void files_read_times(const char *priv, int64_t now_s, struct policy *p)
{
    char *holidays = files_text_of(priv, "holidays"), *dedicated = files_text_of(priv, "dedicated_time");
    struct err e;

    prime_calendar_read_holidays(p->times, holidays, now_s, files_say_holidays, NULL);
    if (prime_calendar_read_dedicated(p->times, dedicated, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "dedicated_time", "%s", e.text);
    free(holidays);
    free(dedicated);
}
