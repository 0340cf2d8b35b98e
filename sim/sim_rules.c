/* A row for each verb, with a function that parses its words. Lines may come in any order, but of `run` lines the
 * first match counts. Only two values change after reading, the counts of jobs and of STARTs. */
#include "sim_rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hostlist.h"
#include "sim_file.h"
#include "words.h"

struct run_rule {
    char *pattern;
    int64_t ms, most_ms;
    int status;
};

struct crash {
    char *pattern;
    int64_t ms;
};

struct epilogue {
    struct words nodes;
    int64_t ms;
};

struct sim_rules {
    struct run_rule *runs;
    size_t n_runs;
    struct crash *crashes;
    size_t n_crashes;
    struct epilogue *epilogues;
    size_t n_epilogues;
    struct sim_rules_loss *losses;
    size_t n_losses;
    int64_t fail_every, refuse_every, jobs, starts;
    int fail_status;
    bool can_save;
    int64_t save_ms, restart_ms;
};

struct sim_rules *sim_rules_create(void)
{
    return calloc(1, sizeof(struct sim_rules));
}

void sim_rules_destroy(struct sim_rules *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_runs; i++)
        free(r->runs[i].pattern);
    for (size_t i = 0; i < r->n_crashes; i++)
        free(r->crashes[i].pattern);
    for (size_t i = 0; i < r->n_epilogues; i++)
        words_fini(&r->epilogues[i].nodes);
    for (size_t i = 0; i < r->n_losses; i++)
        words_fini(&(struct words){r->losses[i].n_nodes, r->losses[i].nodes});
    free(r->runs);
    free(r->crashes);
    free(r->epilogues);
    free(r->losses);
    free(r);
}

static int parse_ms(const char *text, int64_t *ms, struct err *e)
{
    char *end;
    double s = strtod(text, &end);

    if (end == text || *end || !(s >= 0) || s > 1e10)
        return err_set(e, EINVAL, "\"%s\" is not a number of seconds", text);
    *ms = (int64_t)(s * 1000 + 0.5);
    return 0;
}

static int parse_int(const char *text, int64_t least, int64_t *n, struct err *e)
{
    char *end;
    long long v = strtoll(text, &end, 10);

    if (end == text || *end || v < least || v > INT32_MAX)
        return err_set(e, EINVAL, "\"%s\" is not a number from %lld on", text, (long long)least);
    *n = v;
    return 0;
}

/* One more element, zeroed, at the end of a vector; NULL: no memory. */
static void *grow(void *vector, size_t *n, size_t size, struct err *e)
{
    void **v = vector;
    char *more = realloc(*v, (*n + 1) * size);

    if (!more) {
        err_no_memory(e);
        return NULL;
    }
    *v = more;
    memset(more + *n * size, 0, size);
    return more + (*n)++ * size;
}

/* "SECONDS" or "LEAST-MOST" */
static int parse_span(char *text, int64_t *least, int64_t *most, struct err *e)
{
    char *dash = strchr(text, '-');

    if (dash)
        *dash = '\0';
    if (parse_ms(text, least, e) < 0 || parse_ms(dash ? dash + 1 : text, most, e) < 0)
        return -1;
    return *least <= *most ? 0 : err_set(e, EINVAL, "%s-%s: the least comes first", text, dash + 1);
}

static int sim_rules_parse_run(struct sim_rules *r, const struct words *w, struct err *e)
{
    struct run_rule *x = grow(&r->runs, &r->n_runs, sizeof *x, e);
    int64_t status = 0;

    if (!x || parse_span(w->w[2], &x->ms, &x->most_ms, e) < 0 ||
        (w->n > 3 && parse_int(w->w[3], INT16_MIN, &status, e) < 0))
        return -1;
    x->pattern = strdup(w->w[1]);
    x->status = (int)status;
    return x->pattern ? 0 : err_no_memory(e);
}

static int sim_rules_parse_crash(struct sim_rules *r, const struct words *w, struct err *e)
{
    struct crash *x = grow(&r->crashes, &r->n_crashes, sizeof *x, e);

    if (!x || parse_ms(w->w[2], &x->ms, e) < 0)
        return -1;
    x->pattern = strdup(w->w[1]);
    return x->pattern ? 0 : err_set(e, ENOMEM, "no memory");
}

static int sim_rules_parse_checkpoint(struct sim_rules *r, const struct words *w, struct err *e)
{
    r->can_save = true;
    return parse_ms(w->w[1], &r->save_ms, e) < 0 || (w->n > 2 && parse_ms(w->w[2], &r->restart_ms, e) < 0)
               ? -1
               : 0;
}

static int sim_rules_parse_fail(struct sim_rules *r, const struct words *w, struct err *e)
{
    int64_t status;

    if (parse_int(w->w[1], 1, &r->fail_every, e) < 0 || parse_int(w->w[2], INT16_MIN, &status, e) < 0)
        return -1;
    r->fail_status = (int)status;
    return 0;
}

static int sim_rules_parse_refuse(struct sim_rules *r, const struct words *w, struct err *e)
{
    return parse_int(w->w[1], 1, &r->refuse_every, e);
}

static int sim_rules_parse_epilogue(struct sim_rules *r, const struct words *w, struct err *e)
{
    struct epilogue *x = grow(&r->epilogues, &r->n_epilogues, sizeof *x, e);

    return !x || parse_ms(w->w[2], &x->ms, e) < 0 ? -1 : hostlist_parse(w->w[1], &x->nodes, e);
}

static int sim_rules_parse_lose(struct sim_rules *r, const struct words *w, struct err *e)
{
    struct sim_rules_loss *x = grow(&r->losses, &r->n_losses, sizeof *x, e);
    struct words nodes;

    words_init(&nodes);
    if (!x || parse_ms(w->w[2], &x->at_ms, e) < 0 || (w->n > 3 && parse_ms(w->w[3], &x->for_ms, e) < 0) ||
        hostlist_parse(w->w[1], &nodes, e) < 0)
        return -1;
    x->nodes = nodes.w; /* ownership moves */
    x->n_nodes = nodes.n;
    return 0;
}

static const struct sim_rules_verb {
    const char *name, *form;
    size_t least, most; /* words */
    int (*take)(struct sim_rules *r, const struct words *w, struct err *e);
} verbs[] = {
    {"run", "run PATTERN SECONDS [STATUS]", 3, 4, sim_rules_parse_run},
    {"crash", "crash PATTERN SECONDS", 3, 3, sim_rules_parse_crash},
    {"checkpoint", "checkpoint SECONDS [SECONDS]", 2, 3, sim_rules_parse_checkpoint},
    {"fail", "fail N STATUS", 3, 3, sim_rules_parse_fail},
    {"refuse", "refuse N", 2, 2, sim_rules_parse_refuse},
    {"epilogue", "epilogue NODES SECONDS", 3, 3, sim_rules_parse_epilogue},
    {"lose", "lose NODES AT [FOR]", 3, 4, sim_rules_parse_lose},
};

static int sim_rules_parse_line(void *context, const struct words *w, struct err *e)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        const struct sim_rules_verb *v = &verbs[i];

        if (strcmp(w->w[0], v->name) != 0)
            continue;
        if (w->n < v->least || w->n > v->most)
            return err_set(e, EINVAL, "write \"%s\"", v->form);
        return v->take(context, w, e);
    }
    return err_set(e, EINVAL,
                   "\"%s\" is not a rule; there are run, crash, checkpoint, fail, refuse, epilogue and lose",
                   w->w[0]);
}

int sim_rules_read(struct sim_rules *r, const char *path, struct err *e)
{
    return sim_file_read(path, sim_rules_parse_line, r, e);
}

/* Turn consecutive numbers into numbers without order (the finalizer of splitmix64). */
static uint64_t scatter(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

void sim_rules_run(const struct sim_rules *r, const char *name, uint64_t job, int64_t *ms, int *status)
{
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct run_rule *x = &r->runs[i];

        if (fnmatch(x->pattern, name, 0) != 0)
            continue;
        *ms = x->ms + (int64_t)(scatter(job) % (uint64_t)(x->most_ms - x->ms + 1));
        *status = x->status;
        return;
    }
}

int64_t sim_rules_crash_ms(const struct sim_rules *r, const char *name)
{
    for (size_t i = 0; i < r->n_crashes; i++)
        if (fnmatch(r->crashes[i].pattern, name, 0) == 0)
            return r->crashes[i].ms;
    return -1;
}

bool sim_rules_checkpoint(const struct sim_rules *r, int64_t *save_ms, int64_t *restart_ms)
{
    *save_ms = r->save_ms;
    *restart_ms = r->restart_ms;
    return r->can_save;
}

bool sim_rules_count_job(struct sim_rules *r, int *status)
{
    if (!r->fail_every || ++r->jobs % r->fail_every)
        return false;
    *status = r->fail_status;
    return true;
}

bool sim_rules_count_start(struct sim_rules *r)
{
    return r->refuse_every && ++r->starts % r->refuse_every == 0;
}

int64_t sim_rules_epilogue_ms(const struct sim_rules *r, const char *node)
{
    for (size_t i = 0; i < r->n_epilogues; i++)
        for (size_t k = 0; k < r->epilogues[i].nodes.n; k++)
            if (strcmp(r->epilogues[i].nodes.w[k], node) == 0)
                return r->epilogues[i].ms;
    return 0;
}

const struct sim_rules_loss *sim_rules_losses(const struct sim_rules *r, size_t *n)
{
    *n = r->n_losses;
    return r->losses;
}
