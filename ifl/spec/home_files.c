/* The common part of PBS_HOME. See home_files.h.
 *
 * Several daemons may start at the same moment: each file is written whole under another name and moved into place,
 * so the last one wins and no reader sees half a file. */
#include "home_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "strbuf.h"

enum { ENVIRONMENT_MAX = 4096, VERSION_MAX = 256 };

static int home_files_join(char *out, size_t size, const char *home, const char *name, struct err *e)
{
    if ((size_t)snprintf(out, size, "%s/%s", home, name) >= size)
        return err_set(e, ENAMETOOLONG, "%s: path too long", home);
    return 0;
}

/* The zone's name, as daemons would find it: TZ, else what /etc/timezone says. */
static void add_zone(struct strbuf *out)
{
    const char *zone = getenv("TZ");
    char *bytes = NULL;

    if (!zone && file_read(AT_FDCWD, "/etc/timezone", VERSION_MAX, &bytes, NULL, NULL) == 0) {
        bytes[strcspn(bytes, "\n")] = '\0';
        zone = bytes;
    }
    if (zone && *zone)
        strbuf_addf(out, "TZ=%s\n", zone);
    free(bytes);
}

static int make_environment(const char *path, struct err *e)
{
    struct strbuf text;
    int rc;

    if (access(path, F_OK) == 0)
        return 0;
    strbuf_init(&text, ENVIRONMENT_MAX);
    add_zone(&text);
    strbuf_add(&text, "PATH=/bin:/usr/bin\n");
    rc = file_write_quick(AT_FDCWD, path, text.s, text.len, 0644, e);
    strbuf_fini(&text);
    return rc;
}

static int make_version(const char *path, struct err *e)
{
    static const char version[] = CEDE_VERSION "\n";
    char *old = NULL;
    bool same = file_read(AT_FDCWD, path, VERSION_MAX, &old, NULL, NULL) == 0 && strcmp(old, version) == 0;

    free(old);
    return same ? 0 : file_write_quick(AT_FDCWD, path, version, sizeof version - 1, 0644, e);
}

int home_files_make(const char *home, const struct home_dir *dirs, size_t n, struct err *e)
{
    char path[PATH_MAX];

    if (file_make_dirs(home, 0755, e) < 0 ||
        home_files_join(path, sizeof path, home, "pbs_environment", e) < 0 || make_environment(path, e) < 0 ||
        home_files_join(path, sizeof path, home, "pbs_version", e) < 0 || make_version(path, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (home_files_join(path, sizeof path, home, dirs[i].name, e) < 0 ||
            file_make_dirs(path, dirs[i].mode, e) < 0)
            return -1;
    return 0;
}
