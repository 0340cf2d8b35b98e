/* A growing list. The pointer that decisions_add returns is good until the next one is added, for the list
 * may move then. */
#include "decisions.h"

#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "mem.h"

enum { LINE_MAX_BYTES = 1024 };

void decisions_fini(struct decisions *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->a[i].job);
        free(d->a[i].text);
        free(d->a[i].why);
        for (size_t k = 0; k < d->a[i].n_names; k++)
            free(d->a[i].names[k]);
        free(d->a[i].names);
        free(d->a[i].runs);
    }
    free(d->a);
    *d = (struct decisions){0};
}

struct decision *decisions_add(struct decisions *d, enum decision_kind kind, const char *job,
                               const char *text)
{
    d->a = mem_room(d->a, d->n, &d->cap, sizeof *d->a);
    d->a[d->n] = (struct decision){.kind = kind, .job = mem_text(job), .text = mem_text(text)};
    return &d->a[d->n++];
}

void decisions_log(struct decisions *d, unsigned event, const char *object, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list ap;

    if (!log_is_on(event))
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (d->say)
        d->say(event, object, line);
    else
        decisions_add(d, DECIDE_LOG, object, line)->event = event;
}
