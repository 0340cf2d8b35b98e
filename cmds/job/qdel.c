/* qdel: delete jobs. All jobs of one server go in one call, so a thousand jobs are one request; the answer names
 * those that could not be deleted. A server that cannot be reached affects its own jobs only. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "operand.h"
#include "api_error.h"
#include "conn_pool.h"
#include "strbuf.h"

struct qdel {
    struct cmd_args a;
    bool force, history;
    const char *suppress; /* how many mails; NULL: not given */
};

static int qdel_take_w(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct qdel *q = settings;
    const char *mails = value + strlen(SUPPRESS_EMAIL "=");
    char *end;

    if (!strcmp(value, FORCE)) {
        q->force = true;
        return 0;
    }
    if (strncmp(value, SUPPRESS_EMAIL "=", strlen(SUPPRESS_EMAIL "=")) != 0 || !*mails)
        return cmd_bad_value(&q->a, row);
    errno = 0;
    if (strtol(mails, &end, 10) < -1 || *end || errno)
        return cmd_bad_value(&q->a, row);
    q->suppress = mails;
    return 0;
}

static const struct option_row rows[] = {
    {'W', NULL, OPTION_VALUE, "force|suppress_email=n",
     "force: even if hosts do not answer; n: mails at most, -1 none", qdel_take_w, 0},
    CMD_FLAG('x', struct qdel, history, "finished jobs too: forget their history"),
};

/* Format what the server gets beside the jobs; "" is nothing. */
static void extend_text(const struct qdel *q, struct strbuf *out)
{
    strbuf_init(out, 200);
    if (q->history)
        strbuf_add(out, DELETEHISTORY);
    if (q->force)
        strbuf_add(out, FORCE);
    if (q->suppress && !strcmp(q->suppress, "-1"))
        strbuf_add(out, NOMAIL);
    else if (q->suppress)
        strbuf_addf(out, "%s=%s", SUPPRESS_EMAIL, q->suppress);
}

/* The jobs that one server is asked to delete: indices of `job` that are not done yet. */
struct qdel_batch {
    struct operand_job *job;
    bool *done;
    int n;
};

static const char *shown(const struct qdel_batch *b, const char *id)
{
    int i;

    for (i = 0; i < b->n; i++)
        if (!strcmp(b->job[i].id, id))
            return b->job[i].shown;
    return id;
}

static int qdel_compare(const void *a, const void *b)
{
    const struct operand_job *x = *(struct operand_job *const *)a, *y = *(struct operand_job *const *)b;
    int c = strcmp(x->server, y->server);

    return c ? c : strcmp(x->id, y->id);
}

/* Delete a job that is named twice once. O(n log n). -1: no memory. */
static int skip_repeated(struct qdel_batch *b)
{
    struct operand_job **sorted = calloc((size_t)b->n + 1, sizeof(struct operand_job *));

    if (!sorted)
        return -1;
    for (int i = 0; i < b->n; i++)
        sorted[i] = &b->job[i];
    qsort(sorted, (size_t)b->n, sizeof *sorted, qdel_compare);
    for (int i = 1; i < b->n; i++)
        if (qdel_compare(&sorted[i - 1], &sorted[i]) == 0)
            b->done[sorted[i] - b->job] = true;
    free(sorted);
    return 0;
}

/* In a range, a subjob that has ended is not an error. */
static bool is_fault(const struct batch_deljob_status *failed)
{
    const char *range = strchr(failed->name, '[');

    return failed->code != PBSE_NOHISTARRAYSUBJOB || !range || !strpbrk(range, "-,");
}

/* What a hook has said of this job: the server's answer has a line "ID: TEXT" for each. Heap, or NULL. */
static char *qdel_words(const char *said, const char *id)
{
    const size_t n = strlen(id);

    for (const char *line = said; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, id, n) == 0 && strncmp(line + n, ": ", 2) == 0)
            return strndup(line + n + 2, strcspn(line + n + 2, "\n"));
    }
    return NULL;
}

static int qdel_report(const struct qdel *q, int c, const struct qdel_batch *b,
                       const struct batch_deljob_status *failed)
{
    const char *text = errors_text(failed->code);
    const char *id = shown(b, failed->name);
    char *words = failed->code == PBSE_HOOK_REJECT ? qdel_words(pbs_geterrmsg(c), failed->name) : NULL;

    if (words && *words)
        cmd_error(&q->a, "%s %s", words, id);
    else if (text)
        cmd_error(&q->a, "%s %s", text, id);
    else
        cmd_error(&q->a, "Server returned error %d for job %s", failed->code, id);
    free(words);
    return failed->code;
}

/* Delete job `from` and all later ones of the same server. */
static int delete_batch(const struct qdel *q, struct conn_pool *s, struct qdel_batch *b, int from, char **ids,
                        const char *extend)
{
    int c = conn_pool_connect(s, b->job[from].server), i, n = 0, code = 0;
    struct batch_deljob_status *failed, *f;

    for (i = from; i < b->n; i++)
        if (!b->done[i] && !strcmp(b->job[i].server, b->job[from].server)) {
            b->done[i] = true;
            ids[n++] = b->job[i].id;
        }
    if (c < 0)
        return pbs_errno;
    pbs_errno = 0;
    failed = pbs_deljoblist(c, ids, n, *extend ? extend : NULL);
    if (!failed && pbs_errno)
        return api_error_report(&q->a, c, n == 1 ? b->job[from].shown : "");
    for (f = failed; f; f = f->next)
        code = is_fault(f) ? qdel_report(q, c, b, f) : code;
    pbs_delstatfree(failed);
    return code;
}

static int delete_all(const struct qdel *q, struct qdel_batch *b, char **ids)
{
    struct conn_pool *s = conn_pool_create(&q->a);
    struct strbuf extend;
    int i, rc = s ? 0 : 1;

    extend_text(q, &extend);
    for (i = 0; s && i < b->n; i++) {
        int code = b->done[i] ? 0 : delete_batch(q, s, b, i, ids, strbuf_str(&extend));

        rc = code ? code : rc;
    }
    strbuf_fini(&extend);
    conn_pool_destroy(s);
    return rc;
}

static int qdel_run(void *settings, int n, char *operands[])
{
    struct qdel *q = settings;
    struct qdel_batch b = {calloc((size_t)n + 1, sizeof *b.job), calloc((size_t)n + 1, sizeof *b.done), 0};
    char **ids = calloc((size_t)n + 1, sizeof *ids);
    int i, rc = 0, code;

    if (!n) {
        rc = cmd_usage(&q->a);
        goto out;
    }
    if (!b.job || !b.done || !ids) {
        rc = -cmd_error(&q->a, "no memory");
        goto out;
    }
    for (i = 0; i < n; i++) {
        if (operand_job(&q->a, operands[i], &b.job[b.n]) < 0)
            rc = 1;
        else
            b.n++;
    }
    code = skip_repeated(&b) < 0 ? -cmd_error(&q->a, "no memory") : delete_all(q, &b, ids);
    rc = code ? code : rc;
out:
    free(b.job);
    free(b.done);
    free(ids);
    return rc;
}

const struct cmd command = {
    .options = {.program = "qdel", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage:\n\tqdel [-W force|suppress_email=X] [-x] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qdel),
    .run = qdel_run,
};
