/* The answer of pbs_explain in words and as JSON. See preempt_explain.h.
 *
 * Both are made from the same entries: the job first, then victims, then jobs that are exempt. Where victims are
 * being preempted already, the scheduler has no plan to show; then the claim that the server keeps is shown. */
#include "preempt_explain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attrs.h"
#include "explain_json.h"
#include "json_out.h"
#include "pbs_ext.h"
#include "api_error.h"
#include "term_out.h"

static const char *preempt_explain_value(const struct batch_status *b, const char *name)
{
    return attrs_value(b->attribs, name, NULL);
}

/* Format seconds since 1970 as local time; other words as they are. */
static const char *time_text(const char *text, char out[static 32])
{
    time_t at = text ? (time_t)strtoll(text, NULL, 10) : 0;
    struct tm tm;

    if (!text)
        return "not known";
    if (at <= 0 || !localtime_r(&at, &tm) || strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return text;
    return out;
}

void preempt_explain_json(struct json_out *j, const struct batch_status *b, const struct batch_status *hold)
{
    explain_json(j, b);
    if (!hold)
        return;
    json_out_open(j, "hold", '{');
    for (const struct attrl *a = hold->attribs; a; a = a->next)
        json_out_string(j, a->name, a->value);
    json_out_close(j, '}');
}

static void show_json(const struct batch_status *b, const struct batch_status *hold)
{
    struct json_out j;

    json_out_begin(&j, stdout);
    preempt_explain_json(&j, b, hold);
    json_out_end(&j);
}

/* --- words -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word, *sentence;
} verdicts[] = {{"runs", "it has its vnodes already"},
                {"under_way", "what it waits for is under way"},
                {"would_run", "it would be started, there is room"},
                {"would_preempt", "it would be started in the room of others"},
                {"waits", "it would not be started"},
                {"confirmed", "it has its vnodes already"},
                {"would_confirm", "there is room for it"},
                {"unconfirmed", "there is no room for it"}};

static void show_verdict(const struct batch_status *b)
{
    const char *verdict = preempt_explain_value(b, "verdict");

    for (size_t i = 0; verdict && i < sizeof verdicts / sizeof verdicts[0]; i++)
        if (strcmp(verdicts[i].word, verdict) == 0)
            verdict = verdicts[i].sentence;
    printf("%s: ", b->name);
    term_out_text(stdout, verdict ? verdict : "its scheduler does not say");
    putchar('\n');
}

static void show_line(const char *label, const char *text)
{
    if (!text)
        return;
    printf("    %-16s ", label);
    term_out_text(stdout, text);
    putchar('\n');
}

static void show_time(const char *label, const struct batch_status *b, const char *name)
{
    char room[32];

    if (preempt_explain_value(b, name))
        show_line(label, time_text(preempt_explain_value(b, name), room));
}

static void preempt_explain_show_all(const char *label, const struct batch_status *b, const char *name)
{
    for (const struct attrl *a = b->attribs; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            show_line(label, a->value);
}

static void show_job(const struct batch_status *b)
{
    show_verdict(b);
    show_line("on", preempt_explain_value(b, "exec_vnode"));
    show_line("level", preempt_explain_value(b, "level"));
    preempt_explain_show_all("but not yet", b, "not_yet");
    preempt_explain_show_all("in its way", b, "in_the_way");
    show_time("begins", b, "begins");
    show_line("occurrence", preempt_explain_value(b, "occurrence"));
    show_time("which begins", b, "occurrence_begins");
    show_time("could begin", b, "could_begin");
    show_line("no preemption", preempt_explain_value(b, "no_preemption"));
    show_line("methods", preempt_explain_value(b, "methods"));
    show_line("lost core-s", preempt_explain_value(b, "lost_core_seconds"));
    show_line("victims", preempt_explain_value(b, "victims"));
    show_line("chosen by", preempt_explain_value(b, "price"));
}

static void show_column(const char *text, size_t width)
{
    term_out_whole_left(stdout, text ? text : "-", width);
    putchar(' ');
}

static void show_victims(const struct batch_status *list)
{
    bool head = false;
    char room[32];

    for (; list; list = list->next) {
        if (!explain_has_role(list, "victim"))
            continue;
        if (!head)
            printf("would give way, in this order:\n    %-24s %-15s %-6s %14s  %s\n", "job", "queue",
                   "method", "lost core-s", "back at the earliest");
        head = true;
        printf("    ");
        show_column(list->name, 24);
        show_column(preempt_explain_value(list, "queue"), 15);
        show_column(preempt_explain_value(list, "method"), 6);
        term_out_right(stdout,
                       preempt_explain_value(list, "lost_core_seconds")
                           ? preempt_explain_value(list, "lost_core_seconds")
                           : "-",
                       14);
        printf("  ");
        term_out_text(stdout, time_text(preempt_explain_value(list, "back"), room));
        putchar('\n');
    }
}

static void show_exempt(const struct batch_status *list)
{
    bool head = false;
    char room[32];

    for (; list; list = list->next) {
        if (!explain_has_role(list, "spared"))
            continue;
        if (!head)
            printf("would not give way:\n");
        head = true;
        printf("    ");
        show_column(list->name, 24);
        show_column(preempt_explain_value(list, "queue"), 15);
        term_out_text(stdout,
                      preempt_explain_value(list, "reason") ? preempt_explain_value(list, "reason") : "-");
        if (preempt_explain_value(list, "until"))
            printf(", until %s", time_text(preempt_explain_value(list, "until"), room));
        if (preempt_explain_value(list, "lost_core_seconds"))
            printf("; it would lose %s core-s", preempt_explain_value(list, "lost_core_seconds"));
        putchar('\n');
    }
}

/* The lists may be cut; the sums count all. */
static void show_sums(const struct batch_status *b)
{
    size_t listed = 0, all = preempt_explain_value(b, "victims")
                                 ? strtoul(preempt_explain_value(b, "victims"), NULL, 10)
                                 : 0;

    for (const struct batch_status *x = b->next; x; x = x->next)
        listed += explain_has_role(x, "victim") || explain_has_role(x, "spared");
    for (const struct attrl *a = b->attribs; a; a = a->next)
        if (strcmp(a->name, "spared") == 0)
            all += strtoul(a->value, NULL, 10);
    if (all > listed)
        printf("and %zu more that are not listed\n", all - listed);
}

static void show_words(const struct batch_status *b, const struct batch_status *hold)
{
    char room[32];

    show_job(b);
    show_victims(b->next);
    show_exempt(b->next);
    show_sums(b);
    if (!hold)
        return;
    show_line("room is held on", preempt_explain_value(hold, "exec_vnode"));
    show_line("gives way", preempt_explain_value(hold, "victims"));
    show_line("until", time_text(preempt_explain_value(hold, "deadline"), room));
}

/* --- the way in --------------------------------------------------------------------------------------------- */

int preempt_explain(const struct cmd_args *a, int c, const char *id, bool json)
{
    struct batch_status *b = pbs_explain(c, id, NULL), *hold = NULL;

    if (!b)
        return api_error_report(a, c, id);
    if (preempt_explain_value(b, "verdict") && strcmp(preempt_explain_value(b, "verdict"), "under_way") == 0)
        hold = pbs_stathold(c, b->name, NULL, NULL); /* NULL: it waits for something else */
    if (json)
        show_json(b, hold);
    else
        show_words(b, hold);
    pbs_statfree(hold);
    pbs_statfree(b);
    return 0;
}
