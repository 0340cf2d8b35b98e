/* See config_pages.h. */
#include "config_pages.h"

#include <stdbool.h>
#include <string.h>

#include "mdoc.h"
#include "settings.h"

enum { NOTE_MAX = 256 };

struct config_pages_type {
    const char *row, *shown; /* as the table has it, as the page says it */
};

static const char *type_shown(const char *row)
{
    static const struct config_pages_type types[] = {
        {"TEXT", "text"},          {"INT", "number"},        {"REAL", "number, may have a fraction"},
        {"BOOL", "true or false"}, {"DURATION", "duration"}, {"SIZE", "size"}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].row, row) == 0)
            return types[i].shown;
    return row;
}

static void put_default(FILE *f, const char *preset)
{
    if (preset && *preset)
        mdoc_line(f, "Default: %s.", preset);
}

/* --- sched_config ------------------------------------------------------------------------------------------- */

static const struct sched_option {
    const char *name, *type, *preset;
    const char *why_not; /* it does nothing; NULL: it does */
    const char *sentence;
} options[] = {
#define YES                                     NULL
#define OPTION(name, type, preset, acted_on, s) {#name, #type, preset, acted_on, s},
#include "sched_config.def"
#undef OPTION
#undef YES
};

static void put_options(FILE *f, bool acted_on)
{
    char note[NOTE_MAX];

    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const struct sched_option *o = &options[i];

        if ((o->why_not == NULL) != acted_on)
            continue;
        snprintf(note, sizeof note, "(%s)", type_shown(o->type));
        mdoc_term(f, o->name, note);
        mdoc_line(f, "%s.", o->sentence);
        put_default(f, o->preset);
        if (o->why_not)
            mdoc_line(f, "Does nothing here: %s.", o->why_not);
    }
    mdoc_list_close(f);
}

void config_pages_sched(FILE *f)
{
    mdoc_section(f, "OPTIONS");
    put_options(f, true);
    mdoc_section(f, "OPTIONS WITHOUT EFFECT");
    mdoc_line(f, "These are known so that files of other installations can be read.");
    mdoc_line(f, "The log names one that is set to anything but its default.");
    put_options(f, false);
    mdoc_section(f, "EXAMPLES");
    mdoc_line(
        f,
        "Keep the order of jobs, let small jobs run where they delay no top job, and fill hosts with few free processors first:");
    mdoc_example(f, "strict_ordering: True ALL\n"
                    "backfill_prime: False ALL\n"
                    "node_sort_key: \"ncpus LOW unused\" ALL");
    mdoc_line(f, "Fairshare by processor seconds, half of which are forgotten each week:");
    mdoc_example(f, "fair_share: True ALL\n"
                    "fairshare_usage_res: ncpus*walltime\n"
                    "fairshare_decay_time: 168:00:00\n"
                    "fairshare_decay_factor: 0.5");
    mdoc_line(f, "Look whether the file is right, then let the scheduler read it:");
    mdoc_example(f, "pbs_sched --check && kill -HUP $(head -1 $PBS_HOME/sched_priv/sched.lock)");
}

/* --- mom_priv/config ---------------------------------------------------------------------------------------- */

static const struct mom_directive {
    const char *name, *type, *unit;
    double min, max;
    const char *preset;
    unsigned flags;
    const char *check;
    const char *sentence;
} directives[] = {
#define CONFIG(name, type, unit, min, max, preset, flags, check, s)                                          \
    {#name, #type, unit, min, max, preset, flags, #check, s},
#include "mom_config.def"
#undef CONFIG
};

/* Return true if the directive is an error here, with a text that says where it belongs. */
static bool is_elsewhere(const struct mom_directive *d)
{
    return strcmp(d->check, "config_check_elsewhere") == 0;
}

static bool is_ignored(const struct mom_directive *d)
{
    return strcmp(d->check, "config_check_nothing") == 0;
}

static void put_bounds(FILE *f, const struct mom_directive *d)
{
    const char *unit = d->unit && strcmp(d->unit, "s") == 0 ? " seconds" : "";

    if (d->min > 0 && d->min < 0.001)
        mdoc_line(f, "More than 0, at most %.10g%s.", d->max, unit);
    else if (d->min != 0 && d->max != 0)
        mdoc_line(f, "From %.9g to %.9g%s.", d->min, d->max, unit);
    else if (d->max != 0)
        mdoc_line(f, "At most %.10g%s.", d->max, unit);
}

static void put_directives(FILE *f, bool acted_on)
{
    char term[NOTE_MAX], note[NOTE_MAX];

    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        const struct mom_directive *d = &directives[i];

        if (is_ignored(d) == acted_on || is_elsewhere(d))
            continue;
        snprintf(term, sizeof term, "$%s", d->name);
        snprintf(note, sizeof note, "(%s)", type_shown(d->type));
        mdoc_term(f, term, note);
        mdoc_line(f, "%s.", d->sentence);
        if (!acted_on)
            continue;
        put_bounds(f, d);
        put_default(f, d->preset);
        if (d->flags & SETTINGS_REPEAT)
            mdoc_line(f, "May be written several times.");
        if (!(d->flags & SETTINGS_LIVE))
            mdoc_line(f, "Read at the start of the MOM only.");
    }
    mdoc_list_close(f);
}

void config_pages_mom(FILE *f)
{
    mdoc_section(f, "DIRECTIVES");
    put_directives(f, true);
    mdoc_section(f, "DIRECTIVES WITHOUT EFFECT");
    mdoc_line(f, "These are taken, so that files of other installations can be read, and change nothing.");
    put_directives(f, false);
    mdoc_section(f, "RESOURCES");
    mdoc_line(
        f, "A line that does not begin with $ is a resource of the host's own vnode: a name and an amount,");
    mdoc_line(f, "or a name and !/SCRIPT ARGUMENTS, a script that prints the amount in its first line.");
    mdoc_line(f, "Scripts run at the start, at SIGHUP and every $resource_poll seconds.");
    mdoc_line(f, "What qmgr has set for the vnode counts more.");
    mdoc_section(f, "EXAMPLES");
    mdoc_example(f, "$logevent 0x3cf\n"
                    "$usecp *:/home /home\n"
                    "$enforce mem\n"
                    "$prologalarm 60\n"
                    "$action checkpoint 300 !/site/save %jobid %sid %path\n"
                    "licences 7\n"
                    "scratch !/site/free /scratch");
    mdoc_line(f, "Look whether the file is right, then let the MOM read it:");
    mdoc_example(f, "pbs_mom --check && kill -HUP $(head -1 $PBS_HOME/mom_priv/mom.lock)");
}
