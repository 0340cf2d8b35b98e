/* Lines are split in place, field by field. A line that does not have the form, or about another object, is skipped
 * silently, since logs hold anything. Lines are ordered by their time, then by reading: lines of one second without
 * microseconds stay as their daemon wrote them. */
#include "trace_log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    unsigned bit;
} events[] = {
    {"error", 0x1},     {"system", 0x2},   {"admin", 0x4},    {"job", 0x8},      {"job_usage", 0x10},
    {"security", 0x20}, {"sched", 0x40},   {"debug", 0x80},   {"debug2", 0x100}, {"resv", 0x200},
    {"debug3", 0x400},  {"debug4", 0x800}, {"force", 0x8000},
};

unsigned trace_log_events(const char *name)
{
    char *end;
    unsigned long bits;
    size_t i;

    for (i = 0; i < sizeof events / sizeof events[0]; i++)
        if (!strcmp(events[i].name, name))
            return events[i].bit;
    bits = strtoul(name, &end, 16);
    return *end || end == name || bits > 0xffff ? 0 : (unsigned)bits;
}

/* Parse the time at the beginning, in microseconds; NULL: not a line of a log. */
static const char *take_time(const char *line, int64_t *us)
{
    struct tm tm = {.tm_isdst = -1};
    const char *at = strptime(line, "%m/%d/%Y %H:%M:%S", &tm);
    char *end;

    if (!at)
        return NULL;
    *us = (int64_t)mktime(&tm) * 1000000;
    if (*at == '.') {
        *us += strtol(at + 1, &end, 10);
        at = end;
    }
    return *at == ';' ? at + 1 : NULL;
}

/* Cut off the field at *at in place and move *at behind it. NULL: there is none. */
static char *take_field(char **at)
{
    char *from = *at, *end = from ? strchr(from, ';') : NULL;

    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return from;
}

/* Return true if the object that a line names is the job, or a part of it. */
static bool is_about(const char *object, const struct jobid *id)
{
    struct jobid other;

    if (!jobid_is_jobid(object) || jobid_parse(object, &other, NULL) < 0 || other.key.seq != id->key.seq)
        return false;
    return id->form != JOBID_SUBJOB || other.key.index == id->key.index;
}

static int trace_log_add(struct trace_log *t, struct trace_line l)
{
    struct trace_line *more = t->line;

    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        more = realloc(t->line, t->cap * sizeof *more);
    }
    t->line = more ? more : t->line;
    if (!more || !l.when || !l.text) {
        free(l.when);
        free(l.text);
        return -1;
    }
    t->line[t->n++] = l;
    return 0;
}

/* Parse the fields between time and text. Return the object, if the line is wanted at all. */
static const char *take_middle(const struct trace_log *t, enum trace_kind kind, char **at)
{
    const char *first = take_field(at);

    if (!first || kind == TRACE_ACCOUNTING)
        return first ? take_field(at) : NULL;
    if (strtoul(first, NULL, 16) & t->hidden)
        return NULL;
    return take_field(at) && take_field(at) ? take_field(at) : NULL;
}

int trace_log_read(struct trace_log *t, FILE *in, enum trace_kind kind, char origin, const struct jobid *id)
{
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &cap, in) >= 0) {
        struct trace_line l = {.serial = t->n, .origin = origin};
        const char *behind = take_time(line, &l.order_us), *object;
        char *at = behind ? line + (behind - line) : NULL;

        object = at ? take_middle(t, kind, &at) : NULL;
        if (!object || !is_about(object, id))
            continue;
        l.when = strndup(line, strcspn(line, ";"));
        l.text = strndup(at, strcspn(at, "\n"));
        rc = trace_log_add(t, l);
    }
    free(line);
    return rc;
}

static int trace_log_compare(const void *va, const void *vb)
{
    const struct trace_line *a = va, *b = vb;

    if (a->order_us != b->order_us)
        return a->order_us < b->order_us ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void trace_log_sort(struct trace_log *t)
{
    if (t->n)
        qsort(t->line, t->n, sizeof *t->line, trace_log_compare);
}

void trace_log_fini(struct trace_log *t)
{
    size_t i;

    for (i = 0; i < t->n; i++) {
        free(t->line[i].when);
        free(t->line[i].text);
    }
    free(t->line);
    *t = (struct trace_log){0};
}

bool trace_log_is_excess(const struct trace_log *t, size_t i, size_t limit)
{
    size_t before = 0, k;

    for (k = i; k-- > 0 && before < limit;)
        before += t->line[k].origin == t->line[i].origin && !strcmp(t->line[k].text, t->line[i].text);
    return before >= limit;
}
