/* Two independent steps: copy standard input, since it is read twice (for directives, and to be sent), and look for
 * directives in a stream. Directives are found line by line, so a script may be of any length; only a directive has a
 * limit. */
#include "job_script.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"
#include "strbuf.h"

enum { DIRECTIVE_MAX = 1 << 20 };

struct job_script_scan {
    FILE *in;
    const char *prefix;
    char *line;
    size_t cap;
};

/* Read the next line without its newline. 0: the end; -1: e. */
static int next_line(struct job_script_scan *s, struct err *e)
{
    ssize_t n = getline(&s->line, &s->cap, s->in);

    if (n < 0)
        return ferror(s->in) ? err_errno(e, errno, "script") : 0;
    if (n && s->line[n - 1] == '\n')
        s->line[--n] = '\0';
    if (n && s->line[n - 1] == '\r')
        return err_set(e, EILSEQ, "script contains cr, lf");
    return 1;
}

/* Return the text behind the prefix, or NULL: not a directive. */
static const char *directive(const struct job_script_scan *s)
{
    const char *p = s->line + strspn(s->line, " \t");
    size_t n = strlen(s->prefix);

    return strncmp(p, s->prefix, n) ? NULL : p + n;
}

static int is_executable(const char *line)
{
    line += strspn(line, " \t");
    return *line && *line != '#' && *line != ':';
}

/* Cut off a trailing backslash; 1: there was one. */
static int continues(struct strbuf *b)
{
    if (!b->len || b->s[b->len - 1] != '\\')
        return 0;
    strbuf_cut(b, b->len - 1);
    return 1;
}

/* A directive whose first line is in s->line, with its continuations, which are joined as a shell joins lines: nothing takes
 * the place of the backslash. A continuation may repeat the prefix, which is then left out. */
static int job_script_join(struct job_script_scan *s, const char *text, struct strbuf *whole, struct err *e)
{
    int rc = 1;

    strbuf_reset(whole);
    strbuf_add(whole, text);
    while (continues(whole) && (rc = next_line(s, e)) == 1) {
        const char *more = directive(s);

        strbuf_add(whole, more ? more : s->line);
    }
    if (rc < 0)
        return -1;
    return strbuf_ok(whole) ? 0 : err_set(e, EINVAL, "a directive is too long");
}

static int scan(struct job_script_scan *s, job_script_fn *each, void *context, struct strbuf *whole,
                struct err *e)
{
    int rc;

    while ((rc = next_line(s, e)) == 1) {
        const char *text = directive(s);

        if (!text && is_executable(s->line))
            return 0;
        if (!text)
            continue;
        if (job_script_join(s, text, whole, e) < 0)
            return -1;
        rc = each(context, strbuf_str(whole));
        if (rc)
            return rc;
    }
    return rc;
}

int job_script_scan(FILE *in, const char *prefix, job_script_fn *each, void *context, struct err *e)
{
    struct job_script_scan s = {.in = in, .prefix = prefix};
    struct strbuf whole;
    int rc;

    if (!*prefix)
        return 0;
    strbuf_init(&whole, DIRECTIVE_MAX);
    rc = scan(&s, each, context, &whole, e);
    strbuf_fini(&whole);
    free(s.line);
    return rc;
}

static int copy(int from, int to, struct err *e)
{
    char buffer[1 << 16];
    ssize_t n;

    while ((n = read(from, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, errno, "standard input");
        if (file_write_all(to, buffer, (size_t)n, e) < 0)
            return -1;
    }
    return 0;
}

int job_script_keep(int fd, char path[static JOB_SCRIPT_PATH_MAX], struct err *e)
{
    int kept = memfd_create("script", MFD_CLOEXEC);

    if (kept < 0)
        return err_errno(e, errno, "memory for the script");
    if (copy(fd, kept, e) < 0) {
        close(kept);
        return -1;
    }
    snprintf(path, JOB_SCRIPT_PATH_MAX, "/proc/self/fd/%d", kept);
    return kept;
}
