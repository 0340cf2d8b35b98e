/* One shape after the other: the attributes, the question, the answer in words or as JSON. See qsub_when.h. */
#include "qsub_when.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explain_json.h"
#include "explain_text.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "strbuf.h"
#include "term_out.h"

enum { LABEL_WIDTH = 13, WHEN_TEXT_MAX = 64, MINUTE_S = 60, HOUR_S = 3600, TITLE_MAX = 4096 };

/* --- the shape ----------------------------------------------------------------------------------------------- */

static void qsub_when_merge(struct attrs *to, const struct attrs *job, const struct attrs *resources)
{
    for (const struct attropl *a = job->first; a; a = a->next)
        attrs_add(to, a->name, a->resource, a->value, a->op);
    for (const struct attropl *a = resources ? resources->first : NULL; a; a = a->next)
        attrs_set(to, a->name, a->resource, a->value);
}

/* "select=4:ncpus=8 walltime=6:00:00". */
static void qsub_when_title(const struct attrs *of, struct strbuf *out)
{
    for (const struct attropl *a = of->first; a; a = a->next)
        if (strcmp(a->name, ATTR_l) == 0 && a->resource)
            strbuf_addf(out, "%s%s=%s", out->len ? " " : "", a->resource, a->value);
    if (out->len == 0)
        strbuf_addf(out, "no resources named");
}

/* --- in words ------------------------------------------------------------------------------------------------ */

static bool would_be(const struct batch_status *b, const char *verdict)
{
    const char *is = explain_text_of(b, "verdict", NULL);

    return is && strcmp(is, verdict) == 0;
}

static bool starts_now(const struct batch_status *b)
{
    return would_be(b, "would_run") || would_be(b, "would_preempt");
}

/* 0: not known. */
static long long starts_s(const struct batch_status *b)
{
    return starts_now(b) ? (long long)time(NULL) : explain_text_number(b, "expected", NULL);
}

static void qsub_when_line(const char *label, const char *text)
{
    explain_text_line(LABEL_WIDTH, label, text);
}

/* ", 2:00:00 earlier" than the first shape. */
static void gain_of(const struct qsub_when *w, long long at_s, char out[static WHEN_TEXT_MAX])
{
    long long less_s = w->first_s - at_s, s = llabs(less_s);

    out[0] = '\0';
    if (w->is_next && w->first_s && s >= MINUTE_S)
        snprintf(out, WHEN_TEXT_MAX, ", %lld:%02lld:%02lld %s", s / HOUR_S, s / MINUTE_S % MINUTE_S,
                 s % MINUTE_S, less_s > 0 ? "earlier" : "later");
}

static void say_start(const struct qsub_when *w, const struct batch_status *b)
{
    long long at_s = starts_s(b), before = explain_text_number(b, "jobs_before", NULL),
              planned = explain_text_number(b, "jobs_planned", NULL);
    char date[EXPLAIN_TEXT_DATE_MAX] = "now", gain[WHEN_TEXT_MAX], text[4 * WHEN_TEXT_MAX];
    const char *why = explain_text_of(b, "no_expectation", NULL);

    if (at_s == 0) {
        snprintf(text, sizeof text, "%s%.160s", explain_text_of(b, "never", NULL) ? "never: " : "not known: ",
                 why ? why : "the scheduler does not say");
        qsub_when_line("would start", text);
        return;
    }
    if (!starts_now(b))
        explain_text_date(at_s, time(NULL), date);
    gain_of(w, at_s, gain);
    snprintf(text, sizeof text, "%s%s%s", before > planned ? "not before " : "", date, gain);
    qsub_when_line("would start", text);
}

static void qsub_when_count(struct strbuf *out, long long n, const char *one, const char *more)
{
    if (n > 0)
        strbuf_addf(out, "%s%lld %s", out->len ? ", " : "", n, n == 1 ? one : more);
}

static void say_grounds(const struct batch_status *b)
{
    struct strbuf text;

    strbuf_init(&text, TITLE_MAX);
    qsub_when_count(&text, explain_text_number(b, "victims", NULL), "job that would give way",
                    "jobs that would give way");
    if (!starts_now(b)) {
        qsub_when_count(&text, explain_text_number(b, "rests_on", "holder"), "job that runs",
                        "jobs that run");
        qsub_when_count(&text, explain_text_number(b, "jobs_before", NULL), "job before it",
                        "jobs before it");
        qsub_when_count(&text, explain_text_number(b, "rests_on", "reservation"), "reservation",
                        "reservations");
    }
    if (text.len)
        qsub_when_line("rests on", strbuf_str(&text));
    strbuf_fini(&text);
}

static void in_words(struct qsub_when *w, const struct batch_status *b)
{
    const char *where = explain_text_of(b, starts_now(b) ? "exec_vnode" : "expected_vnode", NULL);
    const char *why = explain_text_of(b, "in_the_way", "1");

    say_start(w, b);
    qsub_when_line("on", where);
    say_grounds(b);
    if (!starts_now(b) && why)
        qsub_when_line("in the way", why);
    if (explain_text_of(b, "hooks_not_run", NULL))
        qsub_when_line("hooks",
                       "not asked: those of queuejob may change or refuse the job when it is submitted");
}

/* --- one shape ----------------------------------------------------------------------------------------------- */

/* One object a shape and line. */
static void qsub_when_json(const struct batch_status *b, const char *title, const char *refused, int code)
{
    struct json_out j;

    json_out_begin(&j, stdout);
    json_out_string(&j, "shape", title);
    if (b)
        explain_json(&j, b);
    else {
        json_out_string(&j, "refused", refused);
        json_out_number(&j, "code", code);
    }
    json_out_end(&j);
}

static void qsub_when_tell(struct qsub_when *w, const struct batch_status *b, const char *title, int code)
{
    const char *said = b ? NULL : pbs_geterrmsg(w->c);
    const char *refused = said && *said ? said : "the server does not say why";

    if (w->json) {
        qsub_when_json(b, title, refused, code);
        return;
    }
    term_out_text(stdout, title);
    putchar('\n');
    if (b)
        in_words(w, b);
    else
        qsub_when_line("refused", refused);
}

int qsub_when_show(struct qsub_when *w, const struct attrs *job, const struct attrs *resources,
                   const char *extend)
{
    struct attrs shape = {NULL};
    struct batch_status *b = NULL;
    struct strbuf title;
    int code = PBSE_SYSTEM;

    qsub_when_merge(&shape, job, resources);
    if (!shape.failed) {
        b = pbs_when(w->c, shape.first, w->destination, extend);
        code = b ? 0 : pbs_errno;
    }
    if (code != PBSE_FORCE_QSUB_UPDATE) {
        strbuf_init(&title, TITLE_MAX);
        qsub_when_title(resources ? resources : &shape, &title);
        qsub_when_tell(w, b, strbuf_str(&title), code);
        strbuf_fini(&title);
        if (!w->is_next && b)
            w->first_s = starts_s(b);
        w->is_next = true;
        w->code = code ? code : w->code;
        code = 0;
    }
    pbs_statfree(b);
    attrs_fini(&shape);
    return code;
}
