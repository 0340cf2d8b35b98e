/* Minutes in rising order, the oldest first. See ledger.h. There are few entries, so they are walked. */
#include "ledger.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

enum { MINUTE_S = 60 };

/* A minute counts for an hour behind its end, so that no amount counts for less. */
static int64_t expires_s(int64_t minute)
{
    return (minute + 1) * MINUTE_S + LEDGER_WINDOW_S;
}

/* Entries that are not in order are left out: the text is stored, and may have been altered. */
void ledger_parse(const char *text, struct ledger *out)
{
    *out = (struct ledger){0};
    while (text && *text && out->n < LEDGER_MINUTES) {
        char *end;
        int64_t minute = strtoll(text, &end, 10), last = out->n ? out->entry[out->n - 1].minute : 0;
        double spent = *end == '=' ? strtod(end + 1, &end) : -1;

        if (isfinite(spent) && spent > 0 && minute > last) {
            out->entry[out->n].minute = minute;
            out->entry[out->n++].spent = spent;
        }
        text = end + strcspn(end, " ");
        text += strspn(text, " ");
    }
}

int ledger_format(const struct ledger *l, struct strbuf *out)
{
    for (unsigned i = 0; i < l->n; i++)
        strbuf_addf(out, "%s%lld=%.1f", i ? " " : "", (long long)l->entry[i].minute, l->entry[i].spent);
    return strbuf_ok(out) ? 0 : -1;
}

double ledger_sum(const struct ledger *l, int64_t now_s)
{
    double sum = 0;

    for (unsigned i = 0; i < l->n; i++)
        if (expires_s(l->entry[i].minute) > now_s)
            sum += l->entry[i].spent;
    return sum;
}

int64_t ledger_next_s(const struct ledger *l, int64_t now_s)
{
    for (unsigned i = 0; i < l->n; i++)
        if (expires_s(l->entry[i].minute) > now_s)
            return expires_s(l->entry[i].minute);
    return 0;
}

/* Old minutes go first; a full ledger gives up its oldest one. */
void ledger_add(struct ledger *l, int64_t now_s, double spent)
{
    int64_t minute = now_s / MINUTE_S;
    unsigned gone = 0;

    while (gone < l->n && (expires_s(l->entry[gone].minute) <= now_s ||
                           (gone == 0 && l->n == LEDGER_MINUTES && l->entry[l->n - 1].minute < minute)))
        gone++;
    memmove(l->entry, l->entry + gone, (l->n - gone) * sizeof l->entry[0]);
    l->n -= gone;
    if (!l->n || l->entry[l->n - 1].minute < minute) { /* a clock that goes back spends in the last minute */
        l->entry[l->n].minute = minute;
        l->entry[l->n++].spent = 0;
    }
    l->entry[l->n - 1].spent += spent;
}

/* An entry that is empty says nothing. */
void ledger_take_back(struct ledger *l, int64_t at_s, double spent)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (l->entry[i].minute != at_s / MINUTE_S)
            continue;
        l->entry[i].spent -= spent;
        if (l->entry[i].spent < 0.05) { /* what ledger_format writes as 0 */
            memmove(l->entry + i, l->entry + i + 1, (l->n - i - 1) * sizeof l->entry[0]);
            l->n--;
        }
        return;
    }
}
