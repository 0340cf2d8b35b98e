/* Two tables: words that are on or off, and numbers with their ranges. */
#include "enforce_rules.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 32 };

static const struct {
    const char *word;
    size_t field;
} switches[] = {
    {"mem", offsetof(struct enforce_rules, mem)},
    {"complexmem", offsetof(struct enforce_rules, complexmem)},
    {"cpuaverage", offsetof(struct enforce_rules, cpuaverage)},
    {"cpuburst", offsetof(struct enforce_rules, cpuburst)},
};

static const struct {
    const char *word;
    size_t field;
    double preset, most;
} numbers[] = {
    {"average_trialperiod", offsetof(struct enforce_rules, average_trialperiod), 120, 1e9},
    {"average_percent_over", offsetof(struct enforce_rules, average_percent_over), 50, 1e6},
    {"average_cpufactor", offsetof(struct enforce_rules, average_cpufactor), 1.025, 1e6},
    {"delta_percent_over", offsetof(struct enforce_rules, delta_percent_over), 50, 1e6},
    {"delta_cpufactor", offsetof(struct enforce_rules, delta_cpufactor), 1.05, 1e6},
    {"delta_weightup", offsetof(struct enforce_rules, delta_weightup), 0.4, 1},
    {"delta_weightdown", offsetof(struct enforce_rules, delta_weightdown), 0.1, 1},
};

static double *number_of(struct enforce_rules *r, size_t i)
{
    return (void *)((char *)r + numbers[i].field);
}

void enforce_rules_init(struct enforce_rules *r)
{
    *r = (struct enforce_rules){.kernel_mem = true};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *number_of(r, i) = numbers[i].preset;
}

static int take_switch(struct enforce_rules *r, const char *word, bool on)
{
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (strcmp(word, switches[i].word) == 0) {
            *(bool *)((char *)r + switches[i].field) = on;
            if (i == 0)
                r->kernel_mem = on;
            return 0;
        }
    return -1;
}

static int enforce_rules_take_number(struct enforce_rules *r, const char *word, const char *text,
                                     struct err *e)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *end;
        double v = strtod(text, &end);

        if (strcmp(word, numbers[i].word) != 0)
            continue;
        if (end == text || *end || !(v >= 0 && v <= numbers[i].most))
            return err_set(e, EINVAL, "$enforce %s needs a number from 0 to %g, not \"%s\"", word,
                           numbers[i].most, text);
        *number_of(r, i) = v;
        return 0;
    }
    return err_set(e, EINVAL,
                   "$enforce has no variable \"%s\"; there are average_trialperiod, "
                   "average_percent_over, average_cpufactor, delta_percent_over, delta_cpufactor, "
                   "delta_weightup, delta_weightdown",
                   word);
}

int enforce_rules_take(struct enforce_rules *r, const char *line, struct err *e)
{
    char word[WORD_MAX], value[WORD_MAX], rest;
    int n = sscanf(line, "%31s %31s %c", word, value, &rest);

    if (n == 2)
        return enforce_rules_take_number(r, word, value, e);
    if (n == 1 && take_switch(r, word[0] == '!' ? word + 1 : word, word[0] != '!') == 0)
        return 0;
    return err_set(e, EINVAL,
                   "$enforce %s: there are mem, complexmem, cpuaverage, cpuburst, with ! before them "
                   "not, and variables with their value",
                   line);
}
