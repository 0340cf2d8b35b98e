/* Three tables, each a heading and a row; no more is kept than the totals of -q. Columns are PBS's. State
 * counts come as one text ("Queued:2 Running:1 ...") and are looked up in it by name. */
#include "qstat_objects.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attrs.h"
#include "table.h"

static const char *value(const struct batch_status *o, const char *name, const char *resource,
                         const char *otherwise)
{
    const char *v = attrs_value(o->attribs, name, resource);

    return v && *v ? v : otherwise;
}

static bool is_true(const struct batch_status *o, const char *name)
{
    return !strcasecmp(value(o, name, NULL, "False"), "True");
}

/* Que Run Hld Wat Trn Ext */
static void put_counts(FILE *f, const struct batch_status *o)
{
    static const char *const states[] = {"Queued", "Running", "Held", "Waiting", "Transit", "Exiting"};
    const char *counts = value(o, ATTR_count, NULL, "");
    size_t i;

    for (i = 0; i < sizeof states / sizeof states[0]; i++)
        fprintf(f, " %5ld", job_show_count(counts, states[i]));
}

void qstat_objects_queue_heading(FILE *f)
{
    fputs("Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"
          "---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n",
          f);
}

void qstat_objects_queue(FILE *f, const struct batch_status *queue)
{
    table_left(f, queue->name, 16);
    fprintf(f, " %5s %5s %3s %3s", value(queue, ATTR_maxrun, NULL, "0"), value(queue, ATTR_total, NULL, "0"),
            is_true(queue, ATTR_enable) ? "yes" : "no", is_true(queue, ATTR_start) ? "yes" : "no");
    put_counts(f, queue);
    fprintf(f, " %.4s\n", value(queue, ATTR_qtype, NULL, "--  "));
}

void qstat_objects_server_heading(FILE *f)
{
    fputs("Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"
          "---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n",
          f);
}

void qstat_objects_server(FILE *f, const struct batch_status *server)
{
    table_left(f, server->name, 16);
    fprintf(f, " %5s %5s", value(server, ATTR_maxrun, NULL, "0"), value(server, ATTR_total, NULL, "0"));
    put_counts(f, server);
    fprintf(f, " %-10s\n", value(server, ATTR_status, NULL, ""));
}

void qstat_objects_limits_heading(FILE *f, const char *server)
{
    fprintf(f, "\nserver: %s\n\n", server);
    fputs("Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n"
          "---------------- ------ -------- -------- ---- ----- ----- ----  -----\n",
          f);
}

static const char *or_dashes(const char *text, const char *dashes)
{
    return text ? text : dashes;
}

void qstat_objects_limits(FILE *f, struct qstat_objects_limits *l, const struct batch_status *queue)
{
    const char *counts = value(queue, ATTR_count, NULL, "");
    const char *memory = value(queue, ATTR_rescmax, "mem", NULL);
    long running = job_show_count(counts, "Running"), queued = job_show_count(counts, "Queued");
    char text[JOB_SHOW_TEXT];

    table_left(f, queue->name, 16);
    fprintf(f, " %6s %8s %8s %4s %5ld %5ld %4s   %c %c\n",
            or_dashes(job_show_memory(memory, l->memory, text), "--  "),
            value(queue, ATTR_rescmax, "cput", "--   "), value(queue, ATTR_rescmax, "walltime", "--   "),
            value(queue, ATTR_rescmax, "nodect", "-- "), running, queued,
            value(queue, ATTR_maxrun, NULL, "--"), is_true(queue, ATTR_enable) ? 'E' : 'D',
            is_true(queue, ATTR_start) ? 'R' : 'S');
    l->running += running;
    l->queued += queued;
}

void qstat_objects_limits_totals(FILE *f, const struct qstat_objects_limits *l)
{
    fprintf(f, "%47s----- -----\n", "");
    fprintf(f, "%47s%5ld %5ld\n", "", l->running, l->queued);
}
