/* The command line of pbs_mom: a row an option; what a value must be is checked where it is taken.
 *
 * An option that overrules pbs.conf (-d, -M, -R, -S) is set in the environment, which overrules the file (conf_load): so programs that the MOM
 * starts see the same value. The others are fields of struct command_line. With -s the operands are those of its verb, else
 * there are none. */
#include "command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "strbuf.h"
#include "units.h"

enum { USAGE_MAX = 8192, NICE_MOST = 19, PORT_MOST = 65535, DAY_S = 86400 };

enum {
    OPT_FOREGROUND,
    OPT_VERSION,
    OPT_CHECK,
    OPT_KEEP,
    OPT_END_JOBS,
    OPT_SCRIPT,
    OPT_CONFIG,
    OPT_CHECKPOINT,
    OPT_LOG,
    OPT_IGNORED
};

static int command_line_take_option(void *context, const struct option_row *row, const char *value,
                                    struct err *e)
{
    struct command_line *c = context;

    if (row->id == OPT_LOG && value[0] != '/')
        return err_set(e, EINVAL, "\"%s\" is not an absolute path", value);
    c->verb = row->id == OPT_SCRIPT ? value : c->verb;
    c->foreground |= row->id == OPT_FOREGROUND;
    c->check |= row->id == OPT_CHECK;
    c->version |= row->id == OPT_VERSION;
    c->keep |= row->id == OPT_KEEP;
    c->end_jobs |= row->id == OPT_END_JOBS;
    c->log = row->id == OPT_LOG ? value : c->log;
    c->home.config = row->id == OPT_CONFIG ? value : c->home.config;
    c->home.checkpoint = row->id == OPT_CHECKPOINT ? value : c->home.checkpoint;
    return 0;
}

static int command_line_take_number(void *context, const struct option_row *row, const char *value,
                                    struct err *e)
{
    struct command_line *c = context;
    int64_t n;

    if (row->letter == 'n') {
        c->has_nice = true;
        if (units_parse_int(value, -NICE_MOST - 1, NICE_MOST, &n, e) < 0)
            return -1;
        c->nice = (int)n;
        return 0;
    }
    if (units_parse_int(value, 1, DAY_S, &n, e) < 0)
        return -1;
    c->home.query_s = (int)n;
    return 0;
}

/* What pbs.conf may say, said here. */
static int command_line_take_setting(void *context, const struct option_row *row, const char *value,
                                     struct err *e)
{
    static const char *const names[] = {['d'] = "PBS_MOM_HOME",
                                        ['M'] = "PBS_MOM_SERVICE_PORT",
                                        ['R'] = "PBS_MANAGER_SERVICE_PORT",
                                        ['S'] = "PBS_BATCH_SERVICE_PORT"};
    int64_t port;

    if (row->letter == 'd' && value[0] != '/')
        return err_set(e, EINVAL, "\"%s\" is not an absolute path", value);
    if (row->letter != 'd' && units_parse_int(value, 1, PORT_MOST, &port, e) < 0)
        return -1;
    return setenv(names[(unsigned char)row->letter], value, 1) < 0 ? err_errno(e, errno, "-%c", row->letter)
                                                                   : 0;
}

static const struct option_row option_rows[] = {
    {'a', NULL, OPTION_VALUE, "seconds", "time limit of a script of a dynamic resource (10)",
     command_line_take_number, 0},
    {'C', NULL, OPTION_VALUE, "directory", "of images of checkpoints", command_line_take_option,
     OPT_CHECKPOINT},
    {'c', NULL, OPTION_VALUE, "file", "configuration, relative to mom_priv", command_line_take_option,
     OPT_CONFIG},
    {'d', NULL, OPTION_VALUE, "directory", "instead of PBS_HOME", command_line_take_setting, 0},
    {'L', NULL, OPTION_VALUE, "file", "one log file instead of daily ones", command_line_take_option,
     OPT_LOG},
    {'M', NULL, OPTION_VALUE, "port", "that the MOM shows", command_line_take_setting, 0},
    {'N', NULL, OPTION_ALONE, NULL, "stay in the foreground", command_line_take_option, OPT_FOREGROUND},
    {'n', NULL, OPTION_VALUE, "nice", "nice value of the daemon", command_line_take_number, 0},
    {'p', NULL, OPTION_ALONE, NULL, "keep running jobs (the default)", command_line_take_option, OPT_KEEP},
    {'Q', NULL, OPTION_VALUE, "format", "accepted; means nothing", command_line_take_option, OPT_IGNORED},
    {'R', NULL, OPTION_VALUE, "port", "for connections of other MOMs", command_line_take_setting, 0},
    {'r', NULL, OPTION_ALONE, NULL, "end running jobs: they are requeued", command_line_take_option,
     OPT_END_JOBS},
    {'S', NULL, OPTION_VALUE, "port", "of the server", command_line_take_setting, 0},
    {'s', NULL, OPTION_VALUE, "insert NAME FILE|remove NAME|show NAME|list", "vnode definition files",
     command_line_take_option, OPT_SCRIPT},
    {0, "check", OPTION_ALONE, NULL, "say what is wrong with the configuration, and end",
     command_line_take_option, OPT_CHECK},
    {0, "version", OPTION_ALONE, NULL, "show the version", command_line_take_option, OPT_VERSION},
};

int command_line_parse(int argc, char *argv[], struct command_line *c)
{
    const struct options o = {.program = "pbs_mom",
                              .rows = option_rows,
                              .n_rows = sizeof option_rows / sizeof option_rows[0],
                              .order = OPTIONS_ANYWHERE};
    struct strbuf usage;
    struct err e = {0};
    int first;

    if (options_parse(&o, argc, argv, &first, c, &e) == 0 && (first == argc || c->verb)) {
        c->operands = argv + first;
        c->n = argc - first;
        if (!(c->keep && c->end_jobs))
            return 0;
        err_set(&e, EINVAL, "-p keeps jobs and -r ends them: only one of them");
    }
    strbuf_init(&usage, USAGE_MAX);
    options_usage(&o, &usage);
    fprintf(stderr, "pbs_mom: %s\n%s", e.code ? e.text : "invalid operand", strbuf_str(&usage));
    strbuf_fini(&usage);
    return -1;
}
