/* Built-in hooks. See hook_builtin.h.
 *
 * Loaded after the rows of the store: a hook that has one keeps its settings, and only gets the installation's script. So
 * an update of the installation brings new scripts, and never undoes what a manager has set. */
#include "hook_builtin.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "file.h"
#include "hook_attrs.h"
#include "log.h"

enum { LINES_MAX = 16, CONTROL_MAX = 1 << 16 }; /* choices: the files are our own and have ten short lines */

/* Lines KEY=VALUE; hook_name and type say what the name of the file says. */
static int hook_builtin_parse(struct hook_server *s, const char *name, char *text, struct hook_settings *set,
                              struct err *e)
{
    struct hook_attr_change c[LINES_MAX];
    size_t n = 0;
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line && n < LINES_MAX;
         line = strtok_r(NULL, "\n", &save)) {
        char *equals = strchr(line, '=');

        if (!equals)
            continue;
        *equals = '\0';
        if (strcmp(line, "hook_name") != 0 && strcmp(line, "type") != 0)
            c[n++] = (struct hook_attr_change){line, equals + 1, SET};
    }
    return hook_attrs_apply(s->hooks, name, set, c, n, e);
}

static int hook_builtin_read(struct hook_server *s, int dir, const char *name, struct err *e)
{
    struct hook_settings set = hook_settings_default();
    char file[HOOK_NAME_LONGEST + 8], *control = NULL, *script = NULL;
    size_t n_control, n_script = 0;
    int rc = -1;

    set.of_pbs = true;
    snprintf(file, sizeof file, "%s.HK", name);
    if (file_read(dir, file, CONTROL_MAX, &control, &n_control, e) < 0)
        return -1;
    snprintf(file, sizeof file, "%s.py", name);
    if (hook_builtin_parse(s, name, control, &set, e) == 0 &&
        file_read(dir, file, HOOK_CONTENT_MAX, &script, &n_script, e) == 0)
        rc = hook_store_install(s->store, name, &set, script, n_script, e);
    free(control);
    return rc;
}

void hook_builtin_load(struct hook_server *s)
{
    char path[4096], name[HOOK_NAME_LONGEST + 1];
    const struct dirent *entry;
    struct err e;
    DIR *d;

    snprintf(path, sizeof path, "%s/lib/pbs_hooks", conf_text(s->o.conf, CONF_PBS_EXEC));
    d = opendir(path);
    while (d && (entry = readdir(d))) {
        size_t n = strlen(entry->d_name);

        if (strncmp(entry->d_name, "PBS", 3) != 0 || n < 4 || n - 3 > HOOK_NAME_LONGEST ||
            strcmp(entry->d_name + n - 3, ".HK") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(n - 3), entry->d_name);
        if (hook_builtin_read(s, dirfd(d), name, &e) < 0)
            log_err(LOGC_HOOK, name, &e, "this built-in hook of %s is left out", path);
    }
    if (d)
        closedir(d);
}
