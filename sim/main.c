/* pbs_execsim: command line, loop, one simulated execution service. With --virtual sim_advance drives the loop's
 * clock together with the server's; the other files do not know which clock it is. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "sim_commands.h"
#include "sim_nodes.h"
#include "conf.h"
#include "execsim.h"
#include "loop.h"
#include "options.h"
#include "sim_rules.h"
#include "sim_advance.h"
#include "sim_feed.h"
#include "strbuf.h"
#include "units.h"

enum { TEXT_MAX = 256 };

enum sim_main_option_id {
    OPT_NODES,
    OPT_NCPUS,
    OPT_MEM,
    OPT_PREFIX,
    OPT_FILE,
    OPT_SERVICE,
    OPT_RUN,
    OPT_DIE,
    OPT_RULES,
    OPT_SCALE,
    OPT_WORKLOAD,
    OPT_VIRTUAL,
    OPT_BY_HAND
};

struct sim_main_settings {
    struct execsim_options o;
    const char *prefix, *file, *rules, *workload;
    int64_t n_nodes, ncpus;
    uint64_t mem_kb;
    bool is_virtual;
};

static int take_scale(struct sim_main_settings *s, const char *value, struct err *e)
{
    char *end;

    s->o.job.scale = strtod(value, &end);
    return end != value && !*end && s->o.job.scale > 0 && s->o.job.scale <= 1e6
               ? 0
               : err_set(e, 22, "\"%s\" is not a number above 0", value);
}

static int sim_main_take_option(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct sim_main_settings *s = context;
    struct units_size size;

    switch ((enum sim_main_option_id)row->id) {
    case OPT_PREFIX:
        s->prefix = value;
        return 0;
    case OPT_FILE:
        s->file = value;
        return 0;
    case OPT_RULES:
        s->rules = value;
        return 0;
    case OPT_WORKLOAD:
        s->workload = value;
        return 0;
    case OPT_SERVICE:
        s->o.service = value;
        return 0;
    case OPT_MEM:
        if (units_parse_size(value, &size, e) < 0)
            return -1;
        s->mem_kb = units_size_kb(size);
        return 0;
    case OPT_VIRTUAL:
        s->is_virtual = true;
        return 0;
    case OPT_BY_HAND:
        s->o.job.by_hand = true;
        return 0;
    case OPT_SCALE:
        return take_scale(s, value, e);
    case OPT_NODES:
        return units_parse_int(value, 0, INT_MAX, &s->n_nodes, e);
    case OPT_NCPUS:
        return units_parse_int(value, 0, INT_MAX, &s->ncpus, e);
    case OPT_RUN:
        return units_parse_int(value, 0, INT_MAX, &s->o.job.run_ms, e);
    case OPT_DIE:
        return units_parse_int(value, 0, INT_MAX, &s->o.job.die_ms, e);
    }
    return 0;
}

static const struct option_row rows[] = {
    {'n', "nodes", OPTION_VALUE, "N", "how many nodes (1)", sim_main_take_option, OPT_NODES},
    {'c', "ncpus", OPTION_VALUE, "N", "cpus of each (128)", sim_main_take_option, OPT_NCPUS},
    {'m', "mem", OPTION_VALUE, "SIZE", "memory of each (256gb)", sim_main_take_option, OPT_MEM},
    {'p', "prefix", OPTION_VALUE, "NAME", "their names are NAME1, NAME2 ... (n)", sim_main_take_option,
     OPT_PREFIX},
    {'f', "file", OPTION_VALUE, "FILE", "names and sizes of the nodes, instead of these",
     sim_main_take_option, OPT_FILE},
    {'R', "rules", OPTION_VALUE, "FILE", "durations, failures, epilogues, losses", sim_main_take_option,
     OPT_RULES},
    {'x', "scale", OPTION_VALUE, "FACTOR", "simulated seconds in one real second (1)", sim_main_take_option,
     OPT_SCALE},
    {'w', "workload", OPTION_VALUE, "FILE",
     "submit these jobs in stepped time (-V), and end with the last one", sim_main_take_option, OPT_WORKLOAD},
    {'V', "virtual", OPTION_ALONE, NULL, "drive the time of a server that was started with --virtual",
     sim_main_take_option, OPT_VIRTUAL},
    {'s', "service", OPTION_VALUE, "NAME", "name of the service (sim:1)", sim_main_take_option, OPT_SERVICE},
    {'r', "run-ms", OPTION_VALUE, "MS", "how long a job runs that does not say (0)", sim_main_take_option,
     OPT_RUN},
    {'b', "by-hand", OPTION_ALONE, NULL, "jobs do what lines on standard input say", sim_main_take_option,
     OPT_BY_HAND},
    {'d', "die-ms", OPTION_VALUE, "MS", "how long a terminated job takes to end (0)", sim_main_take_option,
     OPT_DIE},
};

static const struct options options = {.program = "pbs_execsim",
                                       .operands = "",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof *rows,
                                       .order = OPTIONS_ANYWHERE};

struct sim_main_program {
    struct loop *loop;
    struct sim_feed *feed;
    struct sim_advance *advance;
    struct execsim *sim;
    struct sim_commands *commands;
};

static void sim_main_stopped_cb(void *arg)
{
    loop_stop(arg);
}

static void sim_main_signal_cb(void *arg)
{
    struct sim_main_program *p = arg;

    execsim_stop(p->sim, sim_main_stopped_cb, p->loop);
}

static void sim_main_ended(void *arg, uint32_t line)
{
    struct sim_main_program *p = arg;

    if (p->feed)
        sim_feed_ended(p->feed, line);
}

/* The parts above the loop, in the order in which each needs the ones before it. Those that this simulation does not use stay NULL. */
static int sim_main_create(struct sim_main_program *p, const struct execsim_options *o, const char *workload,
                           struct err *e)
{
    if (workload && !(p->feed = sim_feed_create(p->loop, workload, o->socket_path, e)))
        return -1;
    p->sim = execsim_create(p->loop, o, e);
    if (!p->sim)
        return -1;
    if (o->clock && !(p->advance = sim_advance_create(p->loop, o->clock, p->sim, p->feed, e)))
        return -1;
    if (o->job.by_hand && !(p->commands = sim_commands_create(p->loop, p->sim, e)))
        return -1;
    return 0;
}

static int sim_main_serve(struct execsim_options *o, const char *workload, struct err *e)
{
    struct sim_main_program p = {.loop = loop_create(o->clock, e)};
    struct loop_signal *term = p.loop ? loop_signal_create(p.loop, SIGTERM, sim_main_signal_cb, &p, e) : NULL;
    struct loop_signal *intr = term ? loop_signal_create(p.loop, SIGINT, sim_main_signal_cb, &p, e) : NULL;
    int rc = -1;

    if (workload) {
        o->job.ended = sim_main_ended;
        o->job.ended_arg = &p;
        o->takes_notice = true;
    }
    if (intr && sim_main_create(&p, o, workload, e) == 0)
        rc = loop_run(p.loop, e);
    if (rc == 0 && p.feed)
        rc = sim_feed_check(p.feed, e);
    sim_commands_destroy(p.commands);
    sim_advance_destroy(p.advance);
    execsim_destroy(p.sim);
    sim_feed_destroy(p.feed);
    loop_signal_destroy(intr);
    loop_signal_destroy(term);
    if (p.loop)
        loop_destroy(p.loop);
    return rc;
}

/* Nodes by a pattern of the command line, or by a file. */
static int make_cluster(const struct sim_main_settings *s, struct sim_nodes *c, struct err *e)
{
    char names[TEXT_MAX], ncpus[TEXT_MAX], mem[TEXT_MAX];
    const char *const amounts[] = {ncpus, mem};

    if (s->file)
        return sim_nodes_read(c, s->file, e);
    if (s->n_nodes == 0)
        return 0;
    snprintf(names, sizeof names, "%s[1-%lld]", s->prefix, (long long)s->n_nodes);
    snprintf(ncpus, sizeof ncpus, "ncpus=%lld", (long long)s->ncpus);
    snprintf(mem, sizeof mem, "mem=%llukb", (unsigned long long)s->mem_kb);
    return sim_nodes_add(c, names, amounts, 2, e);
}

static int sim_main_run(struct sim_main_settings *s, struct err *e)
{
    struct sim_nodes *c = sim_nodes_create();
    struct sim_rules *r = sim_rules_create();
    int rc = -1;

    s->o.cluster = c;
    s->o.rules = r;
    if (s->is_virtual && s->o.job.by_hand)
        err_set(e, 22,
                "time cannot go from one event to the next (-V) when the events are given by hand (-b)");
    else if (s->workload && !s->is_virtual)
        err_set(e, 22, "a workload (-w) needs stepped time (-V)");
    else if (!c || !r)
        err_set(e, 12, "no memory");
    else if (make_cluster(s, c, e) == 0 && (!s->rules || sim_rules_read(r, s->rules, e) == 0))
        rc = sim_main_serve(&s->o, s->workload, e);
    sim_rules_destroy(r);
    sim_nodes_destroy(c);
    return rc;
}

int main(int argc, char *argv[])
{
    struct sim_main_settings s = {.o = {.service = "sim:1", .job = {.scale = 1}},
                                  .prefix = "n",
                                  .n_nodes = 1,
                                  .ncpus = 128,
                                  .mem_kb = 256ull << 20};
    char path[PATH_MAX];
    struct conf *conf;
    struct err e;
    int first, rc;

    if (options_parse(&options, argc, argv, &first, &s, &e) < 0 || !(conf = conf_load(&e))) {
        fprintf(stderr, "pbs_execsim: %s\n", e.text);
        return 1;
    }
    snprintf(path, sizeof path, "%s/pbs_server.sock", conf_text(conf, CONF_PBS_HOME));
    s.o.socket_path = path;
    s.o.host = s.o.service;
    s.o.clock = s.is_virtual ? clock_create_driven(clock_wall_ns(clock_real())) : NULL;
    rc = sim_main_run(&s, &e);
    clock_destroy(s.o.clock);
    if (rc < 0)
        fprintf(stderr, "pbs_execsim: %s\n", e.text);
    conf_destroy(conf);
    return rc < 0 ? 1 : 0;
}
