/* A file of cookies holds entries (family, then address, number of the display, protocol, data, each behind its length;
 * all numbers of two bytes, the higher first). Ours is for that number at whatever address (family 65535), so a host that
 * is renamed does no harm; the cookie is good for nothing but this job. */
#include "display.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "identity.h"
#include "rundir.h"

enum { COOKIE_SIZE = 16, NOTE_MAX = 256, ANY_ADDRESS = 0xffff, ENTRY_MAX = 128 };

static const char protocol[] = "MIT-MAGIC-COOKIE-1";

struct display_note {
    unsigned number, screen;
    unsigned char cookie[COOKIE_SIZE];
};

static int display_parse(const char *text, struct display_note *d, struct err *e)
{
    int at = 0;

    if (sscanf(text, "%u %u %n", &d->number, &d->screen, &at) < 2 || !at)
        return err_set(e, EBADMSG, "no display in %s", RUNDIR_DISPLAY);
    for (size_t i = 0; i < COOKIE_SIZE; i++) {
        unsigned byte;

        if (sscanf(text + at + 2 * i, "%2x", &byte) != 1)
            return err_set(e, EBADMSG, "no cookie in %s", RUNDIR_DISPLAY);
        d->cookie[i] = (unsigned char)byte;
    }
    return 0;
}

/* ---- the file */
static size_t display_add(unsigned char *out, const void *bytes, size_t n)
{
    out[0] = (unsigned char)(n >> 8);
    out[1] = (unsigned char)n;
    memcpy(out + 2, bytes, n);
    return n + 2;
}

static size_t make_entry(const struct display_note *d, unsigned char out[static ENTRY_MAX])
{
    char number[16];
    size_t n = 2;

    out[0] = ANY_ADDRESS >> 8;
    out[1] = ANY_ADDRESS & 0xff;
    snprintf(number, sizeof number, "%u", d->number);
    n += display_add(out + n, "", 0);
    n += display_add(out + n, number, strlen(number));
    n += display_add(out + n, protocol, sizeof protocol - 1);
    return n + display_add(out + n, d->cookie, COOKIE_SIZE);
}

static int write_file(const char *file, const struct display_note *d, const struct shep_order *o,
                      struct err *e)
{
    unsigned char entry[ENTRY_MAX];
    size_t n = make_entry(d, entry);
    int fd, rc = -1;

    if (identity_enter(o, e) < 0)
        return -1;
    fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        err_errno(e, errno, "cannot write %s", file);
    else
        rc = file_write_all(fd, entry, n, e);
    if (fd >= 0)
        close(fd);
    identity_leave(o);
    return rc;
}

/* ---- the environment */
static bool display_is_named(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* Set NAME=value in place of the entry of the user's environment; append it if there is none. */
static int display_set(struct shep_order *o, const char *name, const char *value, struct err *e)
{
    char text[PATH_MAX + 32], *entry, **grown;
    u_int at = 0;

    snprintf(text, sizeof text, "%s=%s", name, value);
    while (at < o->env.env_len && !display_is_named(o->env.env_val[at], name))
        at++;
    entry = strdup(text);
    grown = at < o->env.env_len ? o->env.env_val : realloc(o->env.env_val, (at + 1) * sizeof *grown);
    if (!entry || !grown) {
        free(entry);
        return err_set(e, ENOMEM, "no memory for the environment of job %s", o->id);
    }
    o->env.env_val = grown;
    if (at < o->env.env_len)
        free(grown[at]);
    else
        o->env.env_len++;
    grown[at] = entry;
    return 0;
}

int display_give(const char *path, struct shep_order *o, struct err *e)
{
    char file[PATH_MAX], name[64], *text = NULL;
    struct display_note d = {0};
    int rc = -1;

    snprintf(file, sizeof file, "%s/" RUNDIR_DISPLAY, path);
    if (!o->tty_host[0] || access(file, F_OK) < 0)
        return 0;
    if (file_read(AT_FDCWD, file, NOTE_MAX, &text, NULL, e) == 0 && display_parse(text, &d, e) == 0) {
        snprintf(name, sizeof name, "127.0.0.1:%u.%u", d.number, d.screen);
        snprintf(file, sizeof file, "%s/.Xauthority", o->tmpdir);
        rc = write_file(file, &d, o, e);
    }
    free(text);
    if (rc < 0 || display_set(o, "DISPLAY", name, e) < 0)
        return -1;
    return display_set(o, "XAUTHORITY", file, e);
}
