/* See explain_text.h. */
#include "explain_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attrs.h"
#include "term_out.h"

const char *explain_text_of(const struct batch_status *b, const char *name, const char *resource)
{
    return b ? attrs_value(b->attribs, name, resource) : NULL;
}

long long explain_text_number(const struct batch_status *b, const char *name, const char *resource)
{
    const char *text = explain_text_of(b, name, resource);

    return text ? strtoll(text, NULL, 10) : 0;
}

const char *explain_text_date(int64_t at_s, int64_t now_s, char out[static EXPLAIN_TEXT_DATE_MAX])
{
    time_t at = (time_t)at_s, now = (time_t)now_s;
    struct tm tm, today;
    bool this_year, today_too;

    if (!localtime_r(&at, &tm) || !localtime_r(&now, &today)) {
        snprintf(out, EXPLAIN_TEXT_DATE_MAX, "?");
        return out;
    }
    this_year = tm.tm_year == today.tm_year;
    today_too = this_year && tm.tm_yday == today.tm_yday;
    if (strftime(out, EXPLAIN_TEXT_DATE_MAX,
                 today_too   ? "today %H:%M:%S"
                 : this_year ? "%a %b %e %H:%M:%S"
                             : "%a %b %e %H:%M:%S %Y",
                 &tm) == 0)
        snprintf(out, EXPLAIN_TEXT_DATE_MAX, "?");
    return out;
}

void explain_text_line(int width, const char *label, const char *text)
{
    if (!text)
        return;
    printf("    %-*s ", width, label);
    term_out_text(stdout, text);
    putchar('\n');
}
