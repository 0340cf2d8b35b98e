/* A row for each letter: which attribute it becomes, what a good value looks like, how it is stored. Four options
 * have functions of their own: -l and -W are lists and make many attributes, -e and -o need this host's name and the
 * working directory.
 *
 * A later value replaces an earlier one of the same name. qsub itself lets its command line win over the script. */
#include "job_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "date_text.h"
#include "option_pairs.h"
#include "strbuf.h"

/* --- forms -------------------------------------------------------------------------------------------------- */

/* Empty: there is none (qalter takes it away). */
static bool job_options_is_text(const char *v)
{
    return true;
}

static bool job_options_is_any(const char *v)
{
    return *v != '\0';
}

/* The names that the server takes. */
static bool job_options_is_job_name(const char *v)
{
    for (const char *c = v; *c; c++)
        if (!isgraph((unsigned char)*c) || *c == '/')
            return false;
    return *v && strlen(v) <= PBS_MAXJOBNAME;
}

static bool job_options_is_number(const char *v, long min, long max)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(v, &end, 10);
    return end != v && !*end && !errno && n >= min && n <= max;
}

/* n, s, c, w, or c=minutes and w=minutes. u is the default and cannot be asked for. */
static bool job_options_is_checkpoint(const char *v)
{
    if (strlen(v) == 1)
        return strchr("nscw", *v) != NULL;
    return (*v == 'c' || *v == 'w') && v[1] == '=' && job_options_is_number(v + 2, 1, INT_MAX);
}

static bool is_one_of(const char *v, const char *const words[])
{
    for (; *words; words++)
        if (!strcmp(v, *words))
            return true;
    return false;
}

/* Letters of u, o, s, p, or n alone. Checked here as well as by the server: a wrong letter is an error of usage. */
static bool job_options_is_hold_types(const char *v)
{
    return !strcmp(v, "n") || (*v && !v[strspn(v, "uosp")]);
}

static bool job_options_is_join(const char *v)
{
    return is_one_of(v, (const char *const[]){"oe", "eo", "n", NULL});
}

/* Letters of `set`, each at most once. */
static bool is_letters(const char *v, const char *set)
{
    const char *p;

    for (p = v; *p; p++)
        if (!strchr(set, *p) || strchr(p + 1, *p))
            return false;
    return p > v;
}

static bool job_options_is_keep(const char *v)
{
    return !strcmp(v, "n") || (is_letters(v, "oed") && strcmp(v, "d"));
}

static bool job_options_is_remove(const char *v)
{
    return is_letters(v, "oe");
}

static bool job_options_is_mail(const char *v)
{
    return is_one_of(v, (const char *const[]){"n", "nj", "jn", NULL}) ||
           (is_letters(v, "abej") && strcmp(v, "j"));
}

static bool job_options_is_yes_no(const char *v)
{
    return !strcmp(v, "y") || !strcmp(v, "n");
}

static bool job_options_is_priority(const char *v)
{
    return job_options_is_number(v, -1024, 1023);
}

/* X-Y[:Z][%N] with 0 <= X < Y, Z >= 1, N >= 1 */
static bool job_options_is_range(const char *v)
{
    unsigned long x, y, z = 1, n = 1;
    int used = 0, more = 0;

    if (!isdigit((unsigned char)*v) || sscanf(v, "%9lu-%9lu%n", &x, &y, &used) != 2 || x >= y)
        return false;
    v += used;
    if (*v == ':') {
        if (!isdigit((unsigned char)v[1]) || sscanf(v, ":%9lu%n", &z, &more) != 1)
            return false;
        v += more;
    }
    if (*v == '%') {
        if (!isdigit((unsigned char)v[1]) || sscanf(v, "%%%9lu%n", &n, &more) != 1)
            return false;
        v += more;
    }
    return !*v && z >= 1 && n >= 1;
}

static bool job_options_is_date(const char *v)
{
    int64_t t;

    return date_text_parse(v, (int64_t)time(NULL), &t) == 0;
}

static bool job_options_is_list(const char *v)
{
    return *v && *v != ',' && v[strlen(v) - 1] != ',';
}

/* --- storing ------------------------------------------------------------------------------------------------ */

static void job_options_put_date(struct job_options *o, const char *attribute, const char *value)
{
    char text[24];
    int64_t t = 0;

    date_text_parse(value, (int64_t)time(NULL), &t);
    snprintf(text, sizeof text, "%lld", (long long)t);
    attrs_set(&o->attrs, attribute, NULL, text);
}

static void job_options_put(struct job_options *o, const char *attribute, const char *value)
{
    attrs_set(&o->attrs, attribute, NULL, value);
}

static void job_options_put_yes_no(struct job_options *o, const char *attribute, const char *value)
{
    attrs_set(&o->attrs, attribute, NULL, *value == 'y' ? "TRUE" : "FALSE");
}

static int refuse_second_limit(struct job_options *o)
{
    if (!attrs_find(&o->attrs, ATTR_max_run_subjobs, NULL))
        return 0;
    o->a.errors++;
    return cmd_error(&o->a, "multiple max_run_subjobs values found");
}

/* Store the range, and behind % how many subjobs may run at once. */
static void job_options_put_range(struct job_options *o, const char *attribute, const char *value)
{
    size_t n = strcspn(value, "%");
    char range[64];

    snprintf(range, sizeof range, "%.*s", (int)n, value);
    attrs_set(&o->attrs, attribute, NULL, range);
    if (!value[n] || refuse_second_limit(o) < 0)
        return;
    attrs_set(&o->attrs, ATTR_max_run_subjobs, NULL, value + n + 1);
}

static const struct job_options_spec {
    char letter;
    const char *attribute;
    bool (*is_good)(const char *value);
    void (*put)(struct job_options *o, const char *attribute, const char *value);
} specs[] = {
    {'a', ATTR_a, job_options_is_date, job_options_put_date},
    {'A', ATTR_A, job_options_is_text, job_options_put},
    {'c', ATTR_c, job_options_is_checkpoint, job_options_put},
    {'h', ATTR_h, job_options_is_hold_types, job_options_put},
    {'j', ATTR_j, job_options_is_join, job_options_put},
    {'J', ATTR_J, job_options_is_range, job_options_put_range},
    {'k', ATTR_k, job_options_is_keep, job_options_put},
    {'m', ATTR_m, job_options_is_mail, job_options_put},
    {'M', ATTR_M, job_options_is_list, job_options_put},
    {'N', ATTR_N, job_options_is_job_name, job_options_put},
    {'p', ATTR_p, job_options_is_priority, job_options_put},
    {'P', ATTR_project, job_options_is_any, job_options_put},
    {'r', ATTR_r, job_options_is_yes_no, job_options_put_yes_no},
    {'R', ATTR_R, job_options_is_remove, job_options_put},
    {'S', ATTR_S, job_options_is_list, job_options_put},
    {'u', ATTR_u, job_options_is_list, job_options_put},
};

static const struct job_options_spec *job_options_find(char letter)
{
    size_t i;

    for (i = 0; i < sizeof specs / sizeof specs[0]; i++)
        if (specs[i].letter == letter)
            return &specs[i];
    return NULL;
}

bool job_options_is_good(char letter, const char *value)
{
    const struct job_options_spec *s = job_options_find(letter);

    return s && s->is_good(value);
}

/* --- paths -------------------------------------------------------------------------------------------------- */

int job_options_cwd(const struct cmd_args *a, char *out, size_t size)
{
    const char *pwd = getenv("PWD");
    struct stat there, here;

    if (pwd && *pwd == '/' && strlen(pwd) < size && stat(pwd, &there) == 0 && stat(".", &here) == 0 &&
        there.st_ino == here.st_ino && there.st_dev == here.st_dev) {
        memcpy(out, pwd, strlen(pwd) + 1);
        return 0;
    }
    return getcwd(out, size) ? 0 : cmd_error(a, "the working directory cannot be found: %m");
}

static bool names_host(const char *path)
{
    const char *colon = strchr(path, ':'), *slash = strchr(path, '/');

    return colon && (!slash || colon < slash);
}

/* Get the name by which other hosts reach this host's files: that of pbs.conf, else the kernel's. */
static void own_host(char *out, size_t size)
{
    const struct conf *c = conf_shared(false, NULL);
    const char *name = c ? conf_text(c, CONF_PBS_OUTPUT_HOST_NAME) : NULL;

    if (c && !name)
        name = conf_text(c, CONF_PBS_PUBLIC_HOST_NAME);
    if (name)
        snprintf(out, size, "%s", name);
    else if (gethostname(out, size) < 0)
        out[0] = '\0';
    out[size - 1] = '\0';
}

/* Store "host:path" as it is (a relative path is below the home there). A "path" gets this host and the working
 * directory, and a slash when it is a directory: the default file name is then used inside. */
static int put_path(struct job_options *o, const char *attribute, const char *value)
{
    char cwd[PATH_MAX], host[256];
    struct strbuf b;
    struct stat st;

    if (!*value || value[strcspn(value, "\n")])
        return -1;
    if (names_host(value)) {
        attrs_set(&o->attrs, attribute, NULL, value);
        return 0;
    }
    if (job_options_cwd(&o->a, cwd, sizeof cwd) < 0)
        return -1;
    strbuf_init(&b, PATH_MAX + 300);
    own_host(host, sizeof host);
    strbuf_addf(&b, "%s:", host);
    if (*value != '/')
        strbuf_addf(&b, "%s/", strcmp(cwd, "/") ? cwd : "");
    strbuf_add(&b, value);
    if (value[strlen(value) - 1] != '/' && stat(value, &st) == 0 && S_ISDIR(st.st_mode))
        strbuf_add_char(&b, '/');
    if (strbuf_ok(&b))
        attrs_set(&o->attrs, attribute, NULL, strbuf_str(&b));
    strbuf_fini(&b);
    return 0;
}

/* --- lists -------------------------------------------------------------------------------------------------- */

static int job_options_one_resource(void *context, const char *name, const char *value)
{
    struct job_options *o = context;

    attrs_set(&o->attrs, ATTR_l, name, value);
    return 0;
}

/* Print the line, and a caret below the error. */
static int bad_resource(struct job_options *o, const struct option_row *row, const char *text,
                        const char *bad)
{
    cmd_illegal_value(&o->a, row);
    fprintf(stderr, "%s\n%*s^\n", text, (int)(bad - text), "");
    cmd_hint_row(row);
    return 0;
}

static const char *const yes[] = {"true", "True", "TRUE", "t", "T", "y", "Y", "1", NULL};
static const char *const no[] = {"false", "False", "FALSE", "f", "F", "n", "N", "0", NULL};

/* block and interactive are booleans for the user and sent as the port on which qsub waits; 1 is "no port yet". */
static int job_options_one_attribute(void *context, const char *name, const char *value)
{
    struct job_options *o = context;

    if (!strcmp(name, ATTR_block) || !strcmp(name, ATTR_inter)) {
        if (!is_one_of(value, yes) && !is_one_of(value, no))
            return -1;
        if (is_one_of(value, yes))
            attrs_set(&o->attrs, name, NULL, "1");
        return 0;
    }
    if (!strcmp(name, ATTR_max_run_subjobs) && refuse_second_limit(o) < 0)
        return 0;
    if (!strcmp(name, ATTR_umask) && value[strspn(value, "01234567")])
        return -1;
    attrs_set(&o->attrs, name, NULL, value);
    return 0;
}

static int job_options_take_list(struct job_options *o, const struct option_row *row, const char *value)
{
    const char *bad = value;

    if (row->letter == 'l')
        return option_pairs_resources(value, job_options_one_resource, o, &bad)
                   ? bad_resource(o, row, value, bad)
                   : 0;
    return option_pairs_attributes(value, job_options_one_attribute, o, &bad) ? cmd_bad_value(&o->a, row) : 0;
}

int job_options_take(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct job_options *o = settings;
    const struct job_options_spec *s = job_options_find(row->letter);

    if (row->letter == 'l' || row->letter == 'W')
        return job_options_take_list(o, row, value);
    if (row->letter == 'e' || row->letter == 'o')
        return put_path(o, row->letter == 'e' ? ATTR_e : ATTR_o, value) < 0 ? cmd_bad_value(&o->a, row) : 0;
    if (!s || !s->is_good(value))
        return cmd_bad_value(&o->a, row);
    s->put(o, s->attribute, value);
    return 0;
}

void job_options_fini(struct job_options *o)
{
    attrs_fini(&o->attrs);
}
