/* pbs_execsim: command line, loop, one simulated execution service. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf.h"
#include "execsim.h"
#include "loop.h"
#include "options.h"
#include "units.h"

enum option_id { OPT_NODES, OPT_NCPUS, OPT_MEM, OPT_PREFIX, OPT_SERVICE, OPT_RUN, OPT_DIE };

static int take_option(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct execsim_options *o = context;
    struct units_size size;
    int64_t n;

    switch ((enum option_id)row->id) {
    case OPT_PREFIX:
        o->prefix = value;
        return 0;
    case OPT_SERVICE:
        o->service = value;
        return 0;
    case OPT_MEM:
        if (units_parse_size(value, &size, e) < 0)
            return -1;
        o->mem_kb = units_size_kb(size);
        return 0;
    case OPT_NODES:
    case OPT_NCPUS:
    case OPT_RUN:
    case OPT_DIE:
        break;
    }
    if (units_parse_int(value, 0, INT_MAX, &n, e) < 0)
        return -1;
    if (row->id == OPT_NODES)
        o->n_nodes = (unsigned)n;
    else if (row->id == OPT_NCPUS)
        o->ncpus = (unsigned)n;
    else if (row->id == OPT_RUN)
        o->run_ms = n;
    else
        o->die_ms = n;
    return 0;
}

static const struct option_row rows[] = {
    {'n', "nodes", OPTION_VALUE, "N", "how many nodes (1)", take_option, OPT_NODES},
    {'c', "ncpus", OPTION_VALUE, "N", "cpus of each (128)", take_option, OPT_NCPUS},
    {'m', "mem", OPTION_VALUE, "SIZE", "memory of each (256gb)", take_option, OPT_MEM},
    {'p', "prefix", OPTION_VALUE, "NAME", "their names are NAME1, NAME2 ... (n)", take_option, OPT_PREFIX},
    {'s', "service", OPTION_VALUE, "NAME", "name of the service (sim:1)", take_option, OPT_SERVICE},
    {'r', "run-ms", OPTION_VALUE, "MS", "how long a job runs that does not say (0)", take_option, OPT_RUN},
    {'d', "die-ms", OPTION_VALUE, "MS", "how long a terminated job takes to end (0)", take_option, OPT_DIE},
};

static const struct options options = {.program = "pbs_execsim",
                                       .operands = "",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof *rows,
                                       .order = OPTIONS_ANYWHERE};

static void stop(void *arg)
{
    loop_stop(arg);
}

static int run(const struct execsim_options *o, struct err *e)
{
    struct loop *l = loop_create(NULL, e);
    struct loop_signal *term = l ? loop_signal_create(l, SIGTERM, stop, l, e) : NULL;
    struct loop_signal *intr = term ? loop_signal_create(l, SIGINT, stop, l, e) : NULL;
    struct execsim *s = intr ? execsim_create(l, o, e) : NULL;
    int rc = s ? loop_run(l, e) : -1;

    execsim_destroy(s);
    if (intr)
        loop_signal_destroy(intr);
    if (term)
        loop_signal_destroy(term);
    if (l)
        loop_destroy(l);
    return rc;
}

int main(int argc, char *argv[])
{
    struct execsim_options o = {
        .service = "sim:1", .prefix = "n", .n_nodes = 1, .ncpus = 128, .mem_kb = 256ull << 20};
    char path[PATH_MAX];
    struct conf *conf;
    struct err e;
    int first;

    if (options_parse(&options, argc, argv, &first, &o, &e) < 0 || !(conf = conf_load(&e))) {
        fprintf(stderr, "pbs_execsim: %s\n", e.text);
        return 1;
    }
    snprintf(path, sizeof path, "%s/pbs_server.sock", conf_text(conf, CONF_PBS_HOME));
    o.socket_path = path;
    int rc = run(&o, &e);
    if (rc < 0)
        fprintf(stderr, "pbs_execsim: %s\n", e.text);
    conf_destroy(conf);
    return rc < 0 ? 1 : 0;
}
