/* Read whole or not at all: a line of another form in any file leaves what was there before.
 *
 * Two uses of one parser: the MOM's own reading, and `pbs_mom -s`, which runs beside the MOM or without it
 * and only moves files; a file is parsed before it is put there. What the lines mean is not known here,
 * except which attributes a host may speak of. */
#include "vnodes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "strbuf.h"
#include "words.h"

enum { FILE_MAX = 4 << 20, PATH_LEN_MAX = 8192, VERSION = 2 };

static const char version_line[] = "$configversion";

/* What may be said of a vnode: the rows with AF_HOST, read as data only. Everything else is a manager's, and the server does
 * not take it. */
enum {
    AF_SERVER = 0,
    AF_SHOWN = 0,
    AF_DERIVED = 0,
    AF_INDIRECT = 0,
    AF_UNUSED = 0,
    AF_ASKED = 0,
    AF_HOST = 1
};

static const struct {
    const char *name;
    int flags;
} known[] = {
#define ATTR(name, type, read, write, flags, ...) {#name, (flags)},
#include "attr_node.def"
#undef ATTR
};

/* ---- the table */
static void free_one(struct vnodes_one *x)
{
    for (size_t i = 0; i < x->n; i++) {
        free(x->attrs[i].name);
        free(x->attrs[i].resource);
        free(x->attrs[i].value);
    }
    free(x->attrs);
    free(x->name);
}

void vnodes_clear(struct vnodes *v)
{
    for (size_t i = 0; i < v->n; i++)
        free_one(&v->list[i]);
    free(v->list);
    for (size_t i = 0; i < v->n_faults; i++)
        free(v->errors[i]);
    free(v->errors);
    *v = (struct vnodes){0};
}

void vnodes_destroy(struct vnodes *v)
{
    if (v)
        vnodes_clear(v);
    free(v);
}

static struct vnodes_one *get(struct vnodes *v, const char *name)
{
    struct vnodes_one *more;

    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->list[i].name, name) == 0)
            return &v->list[i];
    more = realloc(v->list, (v->n + 1) * sizeof *more);
    if (!more)
        return NULL;
    v->list = more;
    more[v->n] = (struct vnodes_one){.name = strdup(name)};
    return more[v->n].name ? &more[v->n++] : NULL;
}

static int vnodes_set(struct vnodes_one *x, const char *name, const char *resource, const char *value)
{
    struct vnodes_attr a = {strdup(name), strdup(resource), strdup(value)}, *more;

    for (size_t i = 0; a.value && i < x->n; i++)
        if (strcmp(x->attrs[i].name, name) == 0 && strcmp(x->attrs[i].resource, resource) == 0) {
            free(x->attrs[i].value);
            x->attrs[i].value = a.value;
            free(a.name);
            free(a.resource);
            return 0;
        }
    more = realloc(x->attrs, (x->n + 1) * sizeof *more);
    if (more)
        x->attrs = more;
    if (more && a.name && a.resource && a.value) {
        more[x->n++] = a;
        return 0;
    }
    free(a.name);
    free(a.resource);
    free(a.value);
    return -1;
}

/* ---- one line: "vnode: attribute = value" */
static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].flags & AF_HOST;
    return false;
}

static int note_fault(struct vnodes *v, const char *file, int number, const char *name, struct err *e)
{
    char **more = realloc(v->errors, (v->n_faults + 1) * sizeof *more);
    struct strbuf text;
    int rc = -1;

    if (!more)
        return err_no_memory(e);
    v->errors = more;
    strbuf_init(&text, PATH_LEN_MAX);
    if (strbuf_addf(
            &text,
            "vnode definitions file %s, line %d: \"%.80s\" is not an attribute of a vnode that a host may say",
            file, number, name) == 0 &&
        (more[v->n_faults] = strdup(strbuf_str(&text)))) {
        v->n_faults++;
        rc = 0;
    }
    strbuf_fini(&text);
    return rc < 0 ? err_no_memory(e) : 0;
}

static int take_line(struct vnodes *v, char *line, const char *file, int number, struct err *e)
{
    char *colon = strchr(line, ':'), *equals = colon ? strchr(colon, '=') : NULL;
    char *vnode, *name, *value, *dot;
    struct vnodes_one *x;

    if (!equals)
        return err_set(e, EINVAL, "\"%s\" does not have the form VNODE: ATTRIBUTE = VALUE", line);
    *colon = *equals = '\0';
    vnode = words_trim(line);
    name = words_trim(colon + 1);
    value = words_trim(equals + 1);
    dot = strchr(name, '.');
    if (dot)
        *dot++ = '\0';
    if (!vnode[0] || !name[0])
        return err_set(e, EINVAL, "a name is missing: VNODE: ATTRIBUTE = VALUE");
    if ((!is_known(name) || (dot != NULL) != (strcmp(name, "resources_available") == 0)) &&
        note_fault(v, file, number, name, e) < 0)
        return -1;
    x = get(v, vnode);
    return x && vnodes_set(x, name, dot ? dot : "", value) == 0 ? 0 : err_no_memory(e);
}

static int take_version(const char *line, const char *file, struct err *e)
{
    long n = 0;

    if (sscanf(line, "$configversion %ld", &n) == 1 && n == VERSION)
        return 0;
    return err_set(e, EINVAL,
                   "unhandled config file version (%ld) in file %s: its first line must be \"%s %d\"", n,
                   file, version_line, VERSION);
}

int vnodes_parse(struct vnodes *v, const char *text, const char *name_for_errors, struct err *e)
{
    char *copy = strdup(text), *rest = copy, *line;
    bool begun = false;
    int rc = copy ? 0 : err_no_memory(e), number = 0;

    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        char *trimmed = words_trim(line);

        number++;
        if (!trimmed[0] || trimmed[0] == '#')
            continue;
        rc = begun ? take_line(v, trimmed, name_for_errors, number, e)
                   : take_version(trimmed, name_for_errors, e);
        if (rc < 0 && begun)
            err_prefix(e, "error(s) parsing vnode definitions file %s, line %d", name_for_errors, number);
        begun = true;
    }
    if (rc == 0 && !begun)
        rc = take_version("", name_for_errors, e);
    free(copy);
    return rc;
}

/* ---- the files */
static bool is_reserved(const char *name)
{
    return strncmp(name, "PBS", 3) == 0;
}

static int vnodes_wanted(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int vnodes_in_order(const struct dirent **a, const struct dirent **b)
{
    bool x = is_reserved((*a)->d_name), y = is_reserved((*b)->d_name);

    return x != y ? y - x : strcmp((*a)->d_name, (*b)->d_name);
}

static int vnodes_path_of(struct strbuf *b, const char *dir, const char *name, struct err *e)
{
    if (!name[0] || name[0] == '.' || strchr(name, '/'))
        return err_set(e, EINVAL, "\"%s\" is not a name of a vnode definitions file", name);
    return strbuf_addf(b, "%s/%s", dir, name) < 0 ? err_set(e, ENAMETOOLONG, "\"%s\" is too long", name) : 0;
}

/* Read one file of the directory and hand its text and path to `fn`. */
static int with_file(const char *dir, const char *name,
                     int (*fn)(void *, const char *, const char *, struct err *), void *arg, struct err *e)
{
    struct strbuf path;
    char *text = NULL;
    int rc;

    strbuf_init(&path, PATH_LEN_MAX);
    rc = vnodes_path_of(&path, dir, name, e);
    if (rc == 0)
        rc = file_read(AT_FDCWD, path.s, FILE_MAX, &text, NULL, e);
    if (rc == 0)
        rc = fn(arg, text, path.s, e);
    free(text);
    strbuf_fini(&path);
    return rc;
}

static int vnodes_parse_text(void *vnodes, const char *text, const char *path, struct err *e)
{
    return vnodes_parse(vnodes, text, path, e);
}

static int load_one(struct vnodes *v, const char *dir, const char *name, struct err *e)
{
    return with_file(dir, name, vnodes_parse_text, v, e);
}

struct vnodes *vnodes_load(const char *dir, const char *lines, struct err *e)
{
    struct vnodes *v = calloc(1, sizeof *v);
    struct dirent **list = NULL;
    int n = scandir(dir, &list, vnodes_wanted, vnodes_in_order), rc = 0;

    if (!v) {
        err_no_memory(e);
        rc = -1;
    } else if (n < 0 && errno != ENOENT) {
        rc = err_errno(e, errno, "cannot read %s", dir);
    } else if (lines[0]) {
        rc = vnodes_parse(v, lines, "the host's own vnodes", e);
    }
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = load_one(v, dir, list[i]->d_name, e);
        free(list[i]);
    }
    free(list);
    if (rc == 0)
        return v;
    vnodes_destroy(v);
    return NULL;
}

/* ---- pbs_mom -s */
int vnodes_insert(const char *dir, const char *name, const char *file, struct err *e)
{
    struct vnodes trial = {0};
    struct strbuf path;
    char *text = NULL;
    int rc;

    strbuf_init(&path, PATH_LEN_MAX);
    rc = is_reserved(name) ? err_set(e, EINVAL, "names that begin with PBS are reserved: %s", name)
                           : vnodes_path_of(&path, dir, name, e);
    if (rc == 0 && access(path.s, F_OK) == 0)
        rc = err_set(e, EEXIST, "%s exists; remove it first", path.s);
    if (rc == 0)
        rc = file_read(AT_FDCWD, file, FILE_MAX, &text, NULL, e);
    if (rc == 0)
        rc = vnodes_parse(&trial, text, file, e);
    if (rc == 0)
        rc = file_make_dirs(dir, 0750, e);
    for (size_t i = 0; rc == 0 && i < trial.n_faults; i++)
        fprintf(stderr, "pbs_mom: %s\n", trial.errors[i]);
    if (rc == 0)
        rc = file_write_atomic(AT_FDCWD, path.s, text, strlen(text), 0600, e);
    vnodes_clear(&trial);
    free(text);
    strbuf_fini(&path);
    return rc;
}

int vnodes_remove(const char *dir, const char *name, struct err *e)
{
    struct strbuf path;
    int rc;

    strbuf_init(&path, PATH_LEN_MAX);
    rc = vnodes_path_of(&path, dir, name, e);
    if (rc == 0 && unlink(path.s) < 0)
        rc = err_errno(e, errno, "cannot remove %s", path.s);
    strbuf_fini(&path);
    return rc;
}

static int vnodes_print_text(void *arg, const char *text, const char *path, struct err *e)
{
    fputs(text, stdout);
    return 0;
}

int vnodes_show(const char *dir, const char *name, struct err *e)
{
    return with_file(dir, name, vnodes_print_text, NULL, e);
}

int vnodes_list(const char *dir, struct err *e)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, vnodes_wanted, vnodes_in_order);

    if (n < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot read %s", dir);
    for (int i = 0; i < n; i++) {
        puts(list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return 0;
}
