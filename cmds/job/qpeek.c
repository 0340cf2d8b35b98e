/* qpeek: show what running jobs have written so far.
 *
 * The server passes each request on to the job's first host, which answers with at most PBS_PEEK_MAX bytes from an offset, and the size of
 * the file now. The only state is the offset, here: following is asking again each second, and the server keeps nothing for it. A file
 * that has become shorter is shown from its new end on. The end of the job is not a failure of -f: it ends the command with 0, after a
 * line that says where the output is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_error.h"
#include "each_job.h"
#include "pbs_error.h"
#include "pbs_ext.h"

/* POLL_S: the server and the job's host are asked once a second for each follower; a shorter pause shows a person nothing more. */
enum { POLL_S = 1, LINES_MAX = 1000000000 };

struct qpeek {
    struct cmd_args a;
    bool error, follow, several;
    const char *lines_text;
    long lines; /* the last ones; -1: all */
    struct pbs_peek piece;
};

static const struct option_row rows[] = {
    CMD_FLAG('e', struct qpeek, error, "standard error in place of standard output"),
    CMD_FLAG('f', struct qpeek, follow, "go on showing what the job writes, until it ends"),
    CMD_TEXT('n', struct qpeek, lines_text, "LINES", "begin with the last LINES lines"),
};

static int qpeek_read(int c, const char *id, struct qpeek *q, unsigned long long offset)
{
    return pbs_peekjob(c, id, q->error ? MSG_ERR : MSG_OUT, (long long)offset, NULL, &q->piece);
}

/* Where the last `*left` lines of this piece begin: true. Else *left is less by the lines that begin in it. */
static bool qpeek_count_back(const struct qpeek *q, size_t n, long *left, size_t *at)
{
    while (n-- > 0)
        if (q->piece.data[n] == '\n' && --*left == 0) {
            *at = n + 1;
            return true;
        }
    return false;
}

/* Go back from the end piece by piece until enough lines begin behind *offset. The newline that ends the file begins no line. */
static int qpeek_find_lines(int c, const char *id, struct qpeek *q, unsigned long long *offset)
{
    unsigned long long end;
    long left = q->lines;
    size_t at;
    int code = pbs_peekjob(c, id, q->error ? MSG_ERR : MSG_OUT, -1, NULL, &q->piece);

    *offset = end = q->piece.size;
    if (code || left == 0 || end == 0)
        return code;
    end -= q->piece.n && q->piece.data[q->piece.n - 1] == '\n';
    while (code == 0 && end > 0) {
        unsigned long long from = end > PBS_PEEK_MAX ? end - PBS_PEEK_MAX : 0;

        code = qpeek_read(c, id, q, from);
        if (code == 0 && (q->piece.offset != from || q->piece.n < end - from))
            break; /* the file has become shorter: from its beginning */
        if (code == 0 && qpeek_count_back(q, (size_t)(end - from), &left, &at)) {
            *offset = from + at;
            return 0;
        }
        end = from;
    }
    *offset = 0;
    return code;
}

/* Up to what is the end now. */
static int qpeek_show(int c, const char *id, struct qpeek *q, unsigned long long *offset)
{
    int code;

    while ((code = qpeek_read(c, id, q, *offset)) == 0 && q->piece.n) {
        fwrite(q->piece.data, 1, q->piece.n, stdout);
        *offset = q->piece.offset + q->piece.n;
    }
    if (code == 0 && q->piece.size < *offset) {
        fprintf(stderr, "qpeek: the output of %s was truncated\n", id);
        *offset = q->piece.size;
    }
    fflush(stdout);
    return code;
}

static const char *qpeek_attr(const struct batch_status *j, const char *name)
{
    for (const struct attrl *a = j->attribs; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

/* It was shown while it ran; what it wrote last is where its output was brought to. 0: so it is. */
static int qpeek_tell_end(int c, char *id, const struct qpeek *q, int code)
{
    struct batch_status *j;
    const char *path, *state;

    if (code != PBSE_BADSTATE && code != PBSE_HISTJOBID && code != PBSE_UNKJOBID)
        return code;
    j = pbs_statjob(c, id, NULL, (char *)"x");
    path = j ? qpeek_attr(j, q->error ? ATTR_e : ATTR_o) : NULL;
    state = j ? qpeek_attr(j, ATTR_state) : NULL;
    fprintf(stderr, "qpeek: %s does not run any more%s%s%s%s\n", id, state ? ": state " : "",
            state ? state : "", path ? "; its output: " : "", path ? path : "");
    pbs_statfree(j);
    return 0;
}

static int qpeek_job_cb(int c, const char *id, void *settings)
{
    struct qpeek *q = settings;
    unsigned long long offset = 0;
    int code = q->lines >= 0 ? qpeek_find_lines(c, id, q, &offset) : 0;

    if (code == 0 && q->several)
        printf("==> %s <==\n", id);
    if (code == 0)
        code = qpeek_show(c, id, q, &offset);
    if (code || !q->follow)
        return code;
    while (code == 0 && !ferror(stdout)) {
        sleep(POLL_S);
        code = qpeek_show(c, id, q, &offset);
    }
    return code ? qpeek_tell_end(c, (char *)(uintptr_t)id, q, code) : 0;
}

static int qpeek_run(void *settings, int n, char *operands[])
{
    struct qpeek *q = settings;
    char *end = NULL;

    if (n < 1 || (q->follow && n > 1))
        return cmd_usage(&q->a);
    q->lines = q->lines_text ? strtol(q->lines_text, &end, 10) : -1;
    if (q->lines_text && (!*q->lines_text || *end || q->lines < 0 || q->lines > LINES_MAX)) {
        cmd_error(&q->a, "-n %s: a number of lines is expected", q->lines_text);
        return cmd_usage(&q->a);
    }
    q->several = n > 1;
    return each_job(&q->a, n, operands, qpeek_job_cb, q);
}

const struct cmd command = {
    .options = {.program = "qpeek", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage =
        "usage: qpeek [-e] [-n lines] job_identifier...\n       qpeek -f [-e] [-n lines] job_identifier\n",
    .usage_exit = 2,
    .size = sizeof(struct qpeek),
    .run = qpeek_run,
};
