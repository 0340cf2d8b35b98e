/* See usage_file.h. Lines:
 *
 *   cede-usage 1 DECAYED       seconds since 1970
 *   e USAGE NAME               an entity that has used something; the name goes to the end of the line
 *   j AMOUNT RUN JOB           what was counted of a job
 *   end LINES
 *
 * Numbers are written so that they are read again as they were. */
#include "usage_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "accrual_record.h"
#include "fairshare.h"
#include "file.h"
#include "strbuf.h"

enum { USAGE_MAX = 1 << 28 };

static int usage_file_path_of(char out[static PATH_MAX], const char *dir, const char *name, struct err *e)
{
    return snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX
               ? 0
               : err_set(e, ENAMETOOLONG, "%s: path too long", dir);
}

/* --- reading ----------------------------------------------------------------------------------------- */

struct reader {
    struct usage *u;
    int64_t line, ends; /* ends: what the last line says; -1: it was not there */
};

static int bad_line(const struct reader *r, struct err *e)
{
    return err_set(e, EBADMSG, "line %" PRId64 " is not as it should be", r->line);
}

static int take_entity(struct reader *r, char *text, struct err *e)
{
    char *end;
    double usage = strtod(text, &end);

    if (end == text || *end != ' ' || !end[1] || !(usage >= 0) || usage > 1e300)
        return bad_line(r, e);
    struct share *s = fairshare_entity(r->u->shares, end + 1);
    if (fairshare_is_leaf(s))
        fairshare_set(s, usage);
    return 0;
}

static int usage_file_take_job(struct reader *r, char *text, struct err *e)
{
    char *end, *run;
    double amount = strtod(text, &run);
    int64_t version = strtoll(run, &end, 10);

    if (run == text || end == run || *end != ' ' || !end[1] || !(amount >= 0))
        return bad_line(r, e);
    struct accrual_entry *j = accrual_record_add(r->u->counted, end + 1);
    j->run = version;
    j->amount = amount;
    return 0;
}

/* The first line says what it is, the last one how many there were; behind that nothing may come. */
static int take_line(struct reader *r, char *text, struct err *e)
{
    r->line++;
    if (r->line == 1)
        return sscanf(text, "cede-usage 1 %" SCNd64, &r->u->decayed_s) == 1 ? 0 : bad_line(r, e);
    if (r->ends >= 0)
        return bad_line(r, e);
    if (strncmp(text, "e ", 2) == 0)
        return take_entity(r, text + 2, e);
    if (strncmp(text, "j ", 2) == 0)
        return usage_file_take_job(r, text + 2, e);
    if (sscanf(text, "end %" SCNd64, &r->ends) == 1)
        return r->ends == r->line - 1 ? 0 : bad_line(r, e);
    return bad_line(r, e);
}

static int usage_file_take_text(struct usage *u, char *text, struct err *e)
{
    struct reader r = {.u = u, .ends = -1};

    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        *end = '\0';
        if (take_line(&r, text, e) < 0)
            return -1;
    }
    if (*text || r.ends < 0)
        return err_set(e, EBADMSG, "it ends in the middle, after line %" PRId64, r.line);
    return 0;
}

/* What is wrong anywhere makes the whole file wrong: half of the usage would favour the other half. */
int usage_file_read(const char *dir, struct usage *u, struct err *e)
{
    char path[PATH_MAX], *text = NULL;
    int rc;

    fairshare_forget(u->shares);
    accrual_record_clear(u->counted);
    u->decayed_s = 0;
    if (usage_file_path_of(path, dir, "usage", e) < 0)
        return -1;
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    rc = file_read(AT_FDCWD, path, USAGE_MAX, &text, NULL, e);
    if (rc == 0 && usage_file_take_text(u, text, e) < 0) {
        fairshare_forget(u->shares);
        accrual_record_clear(u->counted);
        rc = err_prefix(e, "%s", path);
    }
    free(text);
    return rc;
}

static int usage_file_move(const char *dir, const char *from, const char *to,
                           int (*how)(const char *, const char *), struct err *e)
{
    char a[PATH_MAX], b[PATH_MAX];

    if (usage_file_path_of(a, dir, from, e) < 0 || usage_file_path_of(b, dir, to, e) < 0)
        return -1;
    return how(a, b) == 0 ? 0 : err_errno(e, errno, "%s", a);
}

int usage_file_put_aside(const char *dir, struct err *e)
{
    return usage_file_move(dir, "usage", "usage.bad", rename, e);
}

/* --- writing ----------------------------------------------------------------------------------------- */

/* A name with a newline in it could not be read again, and is left out; PBS has no such. */
void usage_file_format(const struct usage *u, struct strbuf *out)
{
    int64_t lines = 1;

    strbuf_addf(out, "cede-usage 1 %" PRId64 "\n", u->decayed_s);
    for (struct share *s = fairshare_next(u->shares, NULL); s; s = fairshare_next(u->shares, s))
        if (fairshare_is_leaf(s) && fairshare_usage(s) > 1 && !strchr(fairshare_name(s), '\n')) {
            strbuf_addf(out, "e %.17g %s\n", fairshare_usage(s), fairshare_name(s));
            lines++;
        }
    for (struct accrual_entry *j = accrual_record_next(u->counted, NULL); j;
         j = accrual_record_next(u->counted, j)) {
        strbuf_addf(out, "j %.17g %" PRId64 " %s\n", j->amount, j->run, j->id);
        lines++;
    }
    strbuf_addf(out, "end %" PRId64 "\n", lines);
}

int usage_file_lock(const char *dir, struct err *e)
{
    char path[PATH_MAX];

    return usage_file_path_of(path, dir, "usage.lock", e) < 0 ? -1 : file_lock(path, 0644, e);
}

int usage_file_write(const char *dir, const char *text, size_t n, struct err *e)
{
    char path[PATH_MAX];

    return usage_file_path_of(path, dir, "usage", e) < 0
               ? -1
               : file_write_atomic(AT_FDCWD, path, text, n, 0644, e);
}

int usage_file_keep(const char *dir, struct err *e)
{
    char from[PATH_MAX], to[PATH_MAX], *bytes = NULL;
    size_t n;
    int rc;

    if (usage_file_path_of(from, dir, "usage", e) < 0 || usage_file_path_of(to, dir, "usage.bak", e) < 0)
        return -1;
    if (access(from, F_OK) < 0)
        return 0;
    rc = file_read(AT_FDCWD, from, USAGE_MAX, &bytes, &n, e);
    if (rc == 0)
        rc = file_write_quick(AT_FDCWD, to, bytes, n, 0644, e);
    free(bytes);
    return rc;
}

int usage_file_touch(const char *dir, struct err *e)
{
    char path[PATH_MAX], text[32];
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    int n = snprintf(text, sizeof text, "%ld\n", (long)now.tv_sec);
    return usage_file_path_of(path, dir, "usage.touch", e) < 0
               ? -1
               : file_write_quick(AT_FDCWD, path, text, (size_t)n, 0644, e);
}

/* The file is replaced each time, so its number tells what a coarse clock may not. */
int64_t usage_file_touched(const char *dir)
{
    char path[PATH_MAX];
    struct stat st;

    if (usage_file_path_of(path, dir, "usage.touch", NULL) < 0 || stat(path, &st) < 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec + (int64_t)st.st_ino;
}
