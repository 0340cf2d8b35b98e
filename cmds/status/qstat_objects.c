/* Three tables, each a row of columns, a heading and a line; only the totals of -q are kept. Columns are PBS's. State
 * counts come as one text ("Queued:2 Running:1 ...") and are looked up in it by name. */
#include "qstat_objects.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attrs.h"
#include "term_out.h"

enum { NAME = 16, NAME_LEAST = 8 };

/* A column behind the name, with one blank before it. The title has the width of the column. */
struct qstat_objects_column {
    const char *title, *dashes;
    int leaves; /* order in which columns are dropped, 1 first; 0: never */
};

struct table {
    const char *name;
    size_t most; /* columns of the name */
    const struct qstat_objects_column *columns;
    size_t n;
};

static const struct qstat_objects_column of_queue[] = {
    {"  Max", "-----", 6}, {"  Tot", "-----", 0}, {"Ena", "---", 0},     {"Str", "---", 0},
    {"  Que", "-----", 0}, {"  Run", "-----", 0}, {"  Hld", "-----", 4}, {"  Wat", "-----", 3},
    {"  Trn", "-----", 1}, {"  Ext", "-----", 2}, {"Type", "----", 5},
};
static const struct qstat_objects_column of_server[] = {
    {"  Max", "-----", 5}, {"  Tot", "-----", 0}, {"  Que", "-----", 0},
    {"  Run", "-----", 0}, {"  Hld", "-----", 4}, {"  Wat", "-----", 3},
    {"  Trn", "-----", 1}, {"  Ext", "-----", 2}, {"Status", "-----------", 0},
};
static const struct qstat_objects_column of_limits[] = {
    {"Memory", "------", 4}, {"CPU Time", "--------", 2}, {"Walltime", "--------", 3},
    {"Node", "----", 1},     {"  Run", "-----", 0},       {"  Que", "-----", 0},
    {"  Lm", "----", 5},     {" State", " -----", 0},
};
#define TABLE(head, most, rows)                                                                              \
    {                                                                                                        \
        head, most, rows, sizeof rows / sizeof rows[0]                                                       \
    }
static const struct table queues = TABLE("Queue", NAME, of_queue), servers = TABLE("Server", 40, of_server),
                          limits = TABLE("Queue", NAME, of_limits);

/* The columns of a table that are shown at a certain width. */
struct qstat_objects_fit {
    const struct table *table;
    size_t name;
    unsigned shown; /* a bit for each column */
};

static size_t line_width(const struct qstat_objects_fit *l)
{
    size_t width = l->name;

    for (size_t i = 0; i < l->table->n; i++)
        if (l->shown & 1u << i)
            width += 1 + strlen(l->table->columns[i].dashes);
    return width;
}

/* Drop one column. False: none is left that may be dropped. */
static bool leave_one_out(struct qstat_objects_fit *l)
{
    const struct qstat_objects_column *c = l->table->columns;
    size_t next = l->table->n;

    for (size_t i = 0; i < l->table->n; i++)
        if (c[i].leaves && l->shown & 1u << i && (next == l->table->n || c[i].leaves < c[next].leaves))
            next = i;
    l->shown &= next < l->table->n ? ~(1u << next) : l->shown;
    return next < l->table->n;
}

static struct qstat_objects_fit fit(const struct table *t, size_t columns)
{
    struct qstat_objects_fit l = {.table = t, .name = NAME, .shown = ~0u};
    const struct term_out_column name = {&l.name, NAME_LEAST, t->most};

    do {
        l.name = NAME;
        term_out_share_width(line_width(&l), columns, &name, 1);
    } while (columns && line_width(&l) > columns && leave_one_out(&l));
    return l;
}

static void heading(FILE *f, const struct qstat_objects_fit *l)
{
    const struct qstat_objects_column *c = l->table->columns;
    size_t i;

    fprintf(f, "%-*s", (int)l->name, l->table->name);
    for (i = 0; i < l->table->n; i++)
        if (l->shown & 1u << i)
            fprintf(f, " %s", c[i].title);
    putc('\n', f);
    for (i = 0; i < l->name; i++)
        putc('-', f);
    for (i = 0; i < l->table->n; i++)
        if (l->shown & 1u << i)
            fprintf(f, " %s", c[i].dashes);
    putc('\n', f);
}

/* Write a value at the right of its column; `text` is borrowed. */
static void qstat_objects_put(FILE *f, const struct qstat_objects_fit *l, size_t column, const char *text)
{
    if (l->shown & 1u << column)
        fprintf(f, " %*s", (int)strlen(l->table->columns[column].title), text);
}

static void put_number(FILE *f, const struct qstat_objects_fit *l, size_t column, long number)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", number);
    qstat_objects_put(f, l, column, text);
}

static const char *qstat_objects_value(const struct batch_status *o, const char *name, const char *resource,
                                       const char *otherwise)
{
    const char *v = attrs_value(o->attribs, name, resource);

    return v && *v ? v : otherwise;
}

static bool qstat_objects_is_true(const struct batch_status *o, const char *name)
{
    return !strcasecmp(qstat_objects_value(o, name, NULL, "False"), "True");
}

/* Write Que Run Hld Wat Trn Ext, from this column on. */
static void put_counts(FILE *f, const struct qstat_objects_fit *l, size_t column,
                       const struct batch_status *o)
{
    static const char *const states[] = {"Queued", "Running", "Held", "Waiting", "Transit", "Exiting"};
    const char *counts = qstat_objects_value(o, ATTR_count, NULL, "");

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        put_number(f, l, column + i, job_show_count(counts, states[i]));
}

void qstat_objects_queue_heading(FILE *f, size_t columns)
{
    const struct qstat_objects_fit l = fit(&queues, columns);

    heading(f, &l);
}

void qstat_objects_queue(FILE *f, size_t columns, const struct batch_status *queue)
{
    const struct qstat_objects_fit l = fit(&queues, columns);
    char type[5];

    term_out_left(f, queue->name, l.name);
    qstat_objects_put(f, &l, 0, qstat_objects_value(queue, ATTR_maxrun, NULL, "0"));
    qstat_objects_put(f, &l, 1, qstat_objects_value(queue, ATTR_total, NULL, "0"));
    qstat_objects_put(f, &l, 2, qstat_objects_is_true(queue, ATTR_enable) ? "yes" : "no");
    qstat_objects_put(f, &l, 3, qstat_objects_is_true(queue, ATTR_start) ? "yes" : "no");
    put_counts(f, &l, 4, queue);
    snprintf(type, sizeof type, "%.4s", qstat_objects_value(queue, ATTR_qtype, NULL, "--  "));
    qstat_objects_put(f, &l, 10, type);
    putc('\n', f);
}

void qstat_objects_server_heading(FILE *f, size_t columns)
{
    const struct qstat_objects_fit l = fit(&servers, columns);

    heading(f, &l);
}

void qstat_objects_server(FILE *f, size_t columns, const struct batch_status *server)
{
    const struct qstat_objects_fit l = fit(&servers, columns);

    term_out_left(f, server->name, l.name);
    qstat_objects_put(f, &l, 0, qstat_objects_value(server, ATTR_maxrun, NULL, "0"));
    qstat_objects_put(f, &l, 1, qstat_objects_value(server, ATTR_total, NULL, "0"));
    put_counts(f, &l, 2, server);
    fprintf(f, " %-10s\n", qstat_objects_value(server, ATTR_status, NULL, ""));
}

void qstat_objects_limits_heading(FILE *f, const struct qstat_objects_limits *q, const char *server)
{
    const struct qstat_objects_fit l = fit(&limits, q->columns);

    fprintf(f, "\nserver: %s\n\n", server);
    heading(f, &l);
}

static const char *or_dashes(const char *text, const char *dashes)
{
    return text ? text : dashes;
}

void qstat_objects_limits(FILE *f, struct qstat_objects_limits *q, const struct batch_status *queue)
{
    const struct qstat_objects_fit l = fit(&limits, q->columns);
    const char *counts = qstat_objects_value(queue, ATTR_count, NULL, "");
    const char *memory = qstat_objects_value(queue, ATTR_rescmax, "mem", NULL);
    long running = job_show_count(counts, "Running"), queued = job_show_count(counts, "Queued");
    char text[JOB_SHOW_TEXT];

    term_out_left(f, queue->name, l.name);
    qstat_objects_put(f, &l, 0, or_dashes(job_show_memory(memory, q->memory, text), "--  "));
    qstat_objects_put(f, &l, 1, qstat_objects_value(queue, ATTR_rescmax, "cput", "--   "));
    qstat_objects_put(f, &l, 2, qstat_objects_value(queue, ATTR_rescmax, "walltime", "--   "));
    qstat_objects_put(f, &l, 3, qstat_objects_value(queue, ATTR_rescmax, "nodect", "-- "));
    put_number(f, &l, 4, running);
    put_number(f, &l, 5, queued);
    qstat_objects_put(f, &l, 6, qstat_objects_value(queue, ATTR_maxrun, NULL, "--"));
    fprintf(f, "   %c %c\n", qstat_objects_is_true(queue, ATTR_enable) ? 'E' : 'D',
            qstat_objects_is_true(queue, ATTR_start) ? 'R' : 'S');
    q->running += running;
    q->queued += queued;
}

/* The totals are below the columns Run and Que. */
void qstat_objects_limits_totals(FILE *f, const struct qstat_objects_limits *q)
{
    struct qstat_objects_fit before = fit(&limits, q->columns);
    int at;

    before.shown &= 0xf;
    at = (int)line_width(&before) + 1;
    fprintf(f, "%*s----- -----\n", at, "");
    fprintf(f, "%*s%5ld %5ld\n", at, "", q->running, q->queued);
}
