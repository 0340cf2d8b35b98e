/* pbs_idled: tell the MOM of this host when a user works at an X display. It asks the display, by the screen saver
 * extension, when it was touched last, and gives that access time to a file that the MOM looks at ($kbd_idle):
 * PBS_HOME/spool/idledir/USER. It runs from the start of the user's session until it is killed; a display that is
 * gone is tried again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xcb/screensaver.h>
#include <xcb/xcb.h>

#include "cmd.h"
#include "conf.h"
#include "units.h"

enum { WAIT_S = 5, RECONNECT_S = 30, DAY_S = 86400, MS_PER_S = 1000 };

struct idled {
    struct cmd_args a;
    const char *display, *file;
    int64_t wait_s, reconnect_s;
};

static int pbs_idled_take_seconds(void *settings, const struct option_row *row, const char *value,
                                  struct err *e)
{
    struct idled *q = settings;
    int64_t s;

    if (units_parse_int(value, 1, DAY_S, &s, e) < 0)
        return cmd_bad_value(&q->a, row);
    *(row->letter == 'w' ? &q->wait_s : &q->reconnect_s) = s;
    return 0;
}

static const struct option_row rows[] = {
    CMD_TEXT('D', struct idled, display, "display", "to be watched; else that of DISPLAY"),
    CMD_TEXT('f', struct idled, file, "file", "to be touched; else PBS_HOME/spool/idledir/USER"),
    {'r', NULL, OPTION_VALUE, "seconds", "before a display that is gone is tried again (30)",
     pbs_idled_take_seconds, 0},
    {'w', NULL, OPTION_VALUE, "seconds", "between two looks (5)", pbs_idled_take_seconds, 0},
};

/* Find the file. MOM_HOME is where the MOM's spool is, as the MOM itself finds it. Return -1 after a message. */
static int find_file(struct idled *q, char path[static PATH_MAX])
{
    const struct passwd *pw = getpwuid(getuid());
    struct err e;
    struct conf *conf;

    if (q->file) {
        snprintf(path, PATH_MAX, "%s", q->file);
        return 0;
    }
    conf = conf_load(&e);
    if (!conf || !pw) {
        cmd_error(&q->a, "%s", conf ? "the name of the user is not known" : e.text);
        conf_destroy(conf);
        return -1;
    }
    snprintf(path, PATH_MAX, "%s/spool/idledir/%s",
             conf_text(conf, conf_is_set(conf, CONF_PBS_MOM_HOME) ? CONF_PBS_MOM_HOME : CONF_PBS_HOME),
             pw->pw_name);
    conf_destroy(conf);
    return 0;
}

/* Set the access time to `idle_ms` ago. A file of that name that is not ours is left alone. */
static int touch(const char *path, int64_t idle_ms)
{
    struct timespec times[2] = {{0}, {.tv_nsec = UTIME_OMIT}};
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644), rc = -1;

    if (fd < 0)
        return -1;
    times[0].tv_sec = time(NULL) - (time_t)(idle_ms / MS_PER_S);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        rc = futimens(fd, times);
    else
        errno = EPERM;
    close(fd);
    return rc;
}

/* Return the milliseconds since the display was touched; -1: it does not answer. */
static int64_t get_idle_ms(xcb_connection_t *x)
{
    const xcb_query_extension_reply_t *has = xcb_get_extension_data(x, &xcb_screensaver_id);
    const xcb_setup_t *setup = xcb_get_setup(x);
    xcb_screensaver_query_info_reply_t *info = NULL;
    int64_t ms = -1;

    if (has && has->present && setup && xcb_setup_roots_length(setup) > 0)
        info = xcb_screensaver_query_info_reply(
            x, xcb_screensaver_query_info(x, xcb_setup_roots_iterator(setup).data->root), NULL);
    if (info)
        ms = info->ms_since_user_input;
    free(info);
    return ms;
}

/* Run as long as the display exists. -1 after a message: the file cannot be touched; another display would not help. */
static int pbs_idled_watch(const struct idled *q, xcb_connection_t *x, const char *path)
{
    int64_t ms;

    while (!xcb_connection_has_error(x) && (ms = get_idle_ms(x)) >= 0) {
        if (touch(path, ms) < 0)
            return cmd_error(&q->a, "%s: %s", path, strerror(errno));
        sleep((unsigned)q->wait_s);
    }
    return 0;
}

static int pbs_idled_run(void *settings, int n, char *operands[])
{
    struct idled *q = settings;
    char path[PATH_MAX];
    int rc = 0;

    if (n || q->a.errors)
        return cmd_usage(&q->a);
    q->wait_s = q->wait_s ? q->wait_s : WAIT_S;
    q->reconnect_s = q->reconnect_s ? q->reconnect_s : RECONNECT_S;
    if (!q->display && (!getenv("DISPLAY") || !*getenv("DISPLAY"))) {
        cmd_error(&q->a, "DISPLAY not set");
        return 1;
    }
    if (find_file(q, path) < 0)
        return 1;
    while (rc == 0) {
        xcb_connection_t *x = xcb_connect(q->display, NULL);

        rc = pbs_idled_watch(q, x, path);
        xcb_disconnect(x);
        if (rc == 0)
            sleep((unsigned)q->reconnect_s);
    }
    return 1;
}

const struct cmd command = {
    .options = {.program = "pbs_idled", CMD_ROWS(rows)},
    .usage = "Usage: pbs_idled [-D display] [-f file] [-r seconds] [-w seconds]\n",
    .usage_exit = 1,
    .size = sizeof(struct idled),
    .run = pbs_idled_run,
};
