/* Contents of hooks: import, export, and print. See qmgr_hook.h.
 *
 * The protocol carries the name of a file, and not its contents, as PBS does: both sides see server_priv/hooks/tmp. Import writes the file there
 * and the server reads it; export has the server write it, and reads it. So contents can be moved on the server's host only, by a
 * user who may write there. The temporary file is removed on each way out. */
#include "qmgr_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attrs.h"
#include "conf.h"
#include "file.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "strbuf.h"

enum { CONTENT_MAX = 16 << 20, PATH_BYTES = 4200 };

struct qmgr_hook_file { /* in hooks/tmp */
    char path[PATH_BYTES];
    const char *name; /* within path */
};

/* The suffix says the server what kind of configuration it is. -1: errno. */
static int qmgr_hook_temporary(struct qmgr_hook_file *t, const char *like)
{
    struct conf *conf = conf_load(NULL);
    const char *slash = strrchr(like, '/'), *dot = strrchr(slash ? slash : like, '.');
    int fd;

    if (!dot || strlen(dot) > 64)
        dot = "";
    snprintf(t->path, sizeof t->path, "%.4000s/server_priv/hooks/tmp/qmgrXXXXXX%s",
             conf ? conf_text(conf, CONF_PBS_HOME) : "", dot);
    conf_destroy(conf);
    fd = mkostemps(t->path, (int)strlen(dot), O_CLOEXEC);
    t->name = strrchr(t->path, '/') + 1;
    return fd;
}

/* Standard input up to an empty line (base64, as print writes it) or to its end. */
static int qmgr_hook_read_input(bool base64, struct strbuf *out)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, stdin)) >= 0) {
        if (base64 && line[strspn(line, " \t\r\n")] == '\0')
            break;
        strbuf_add_bytes(out, line, (size_t)n);
    }
    free(line);
    return strbuf_ok(out) ? 0 : -1;
}

static int qmgr_hook_read(const char *path, bool base64, struct strbuf *out, struct err *e)
{
    char *bytes = NULL;
    size_t n;

    if (strcmp(path, "-") == 0)
        return qmgr_hook_read_input(base64, out) == 0 ? 0 : err_set(e, ENOMEM, "standard input is too long");
    if (file_read(AT_FDCWD, path, CONTENT_MAX, &bytes, &n, e) < 0)
        return -1;
    strbuf_add_bytes(out, bytes, n);
    free(bytes);
    return 0;
}

static int qmgr_hook_manage(int c, const struct qmgr_line *l, const char *name, const char *what,
                            const struct qmgr_hook_file *t)
{
    struct attrs ask = {0};
    int rc;

    for (const struct attropl *a = l->attrs.first; a; a = a->next)
        if (strcmp(a->name, what) != 0)
            attrs_add(&ask, a->name, NULL, a->value, SET);
    attrs_add(&ask, what, NULL, t->name, SET);
    rc = pbs_manager(c, l->command, l->object, name, ask.first,
                     l->object == MGR_OBJ_PBS_HOOK ? PBS_HOOK : SITE_HOOK);
    attrs_fini(&ask);
    return rc ? -1 : 0;
}

static bool qmgr_hook_is_base64(const struct qmgr_line *l)
{
    const char *encoding = attrs_find(&l->attrs, "content-encoding", NULL);

    return encoding && strcmp(encoding, "base64") == 0;
}

/* A person without rights here has none at the server either: it says so, whatever name it is sent. */
static int qmgr_hook_import(int c, const struct qmgr_line *l, const char *name, const char **why)
{
    static struct err e; /* its text outlives the call */
    const char *path = attrs_find(&l->attrs, "input-file", NULL);
    struct qmgr_hook_file t;
    struct strbuf content;
    int fd, rc;

    strbuf_init(&content, CONTENT_MAX);
    if (qmgr_hook_read(path, qmgr_hook_is_base64(l), &content, &e) < 0) {
        *why = e.text;
        strbuf_fini(&content);
        return -1;
    }
    fd = qmgr_hook_temporary(&t, strcmp(path, "-") == 0 ? "" : path);
    if (fd >= 0 && file_write_all(fd, strbuf_str(&content), content.len, &e) < 0)
        *why = e.text;
    rc = *why ? -1 : qmgr_hook_manage(c, l, name, "input-file", &t);
    if (fd >= 0) {
        close(fd);
        unlink(t.path);
    }
    strbuf_fini(&content);
    if (rc == 0 && pbs_geterrmsg(c))
        fprintf(stderr, "%s\n", pbs_geterrmsg(c));
    return rc;
}

/* To heap bytes; NULL: the server refused, or *why. */
static char *qmgr_hook_fetch(int c, const struct qmgr_line *l, const char *name, size_t *n, const char **why)
{
    static struct err e;
    struct qmgr_hook_file t;
    char *bytes = NULL;
    int fd = qmgr_hook_temporary(&t, "");

    if (qmgr_hook_manage(c, l, name, "output-file", &t) == 0 &&
        file_read(AT_FDCWD, t.path, CONTENT_MAX, &bytes, n, &e) < 0)
        *why = e.text;
    if (fd >= 0) {
        close(fd);
        unlink(t.path);
    }
    return bytes;
}

static int qmgr_hook_export(int c, const struct qmgr_line *l, const char *name, const char **why)
{
    static struct err e;
    const char *path = attrs_find(&l->attrs, "output-file", NULL);
    size_t n = 0;
    char *bytes = qmgr_hook_fetch(c, l, name, &n, why);
    int rc = bytes ? 0 : -1;

    if (bytes && (!path || strcmp(path, "-") == 0))
        fwrite(bytes, 1, n, stdout);
    else if (bytes && file_write_quick(AT_FDCWD, path, bytes, n, 0644, &e) < 0) {
        *why = e.text;
        rc = -1;
    }
    free(bytes);
    return rc;
}

int qmgr_hook_transfer(int c, const struct qmgr_line *l, const char *name, const char **why)
{
    *why = NULL;
    return l->command == MGR_CMD_IMPORT ? qmgr_hook_import(c, l, name, why)
                                        : qmgr_hook_export(c, l, name, why);
}

void qmgr_hook_print(FILE *f, int c, int object, const char *name)
{
    static const char *const types[] = {"application/x-python", "application/x-config"};

    for (size_t i = object == MGR_OBJ_PBS_HOOK; i < sizeof types / sizeof types[0]; i++) {
        struct qmgr_line l = {.command = MGR_CMD_EXPORT, .object = object};
        const char *why = NULL;
        char *bytes;
        size_t n = 0;

        attrs_add(&l.attrs, "content-type", NULL, types[i], SET);
        attrs_add(&l.attrs, "content-encoding", NULL, "base64", SET);
        bytes = qmgr_hook_fetch(c, &l, name, &n, &why);
        if (bytes)
            fprintf(f, "import hook %s %s base64 -\n%s\n", name, types[i], bytes);
        free(bytes);
        attrs_fini(&l.attrs);
    }
}
