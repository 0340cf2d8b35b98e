/* Old requests as a select. See select_old.h.
 *
 * A node spec is read word by word into one `chunk`, which is then written as "count:pairs". */
#include "select_old.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>

#include "amounts_text.h"
#include "pbs_error.h"
#include "strbuf.h"

enum {
    NUMBER_MAX = 10000000
}; /* as SELECT_COUNT_MAX: what is written out here must be taken by select_parse */

struct chunk {
    uint32_t count, ppn, ncpus, per_process; /* 0: not said */
    struct amounts_text res;
};

struct select_old_asker {
    int (*is_property)(void *context, const char *name);
    void *context;
};

static int select_old_parse_number(const char *word, const char *s, uint32_t *out, struct err *e)
{
    unsigned long v;
    char *end;

    errno = 0;
    v = strtoul(s, &end, 10);
    if (!isdigit((unsigned char)*s) || *end || errno || v < 1 || v > NUMBER_MAX)
        return err_set(e, PBSE_BADATVAL, "nodes: \"%s\" needs a number from 1 on", word);
    *out = (uint32_t)v;
    return 0;
}

static int select_old_add_pair(struct chunk *c, const char *name, const char *value, struct err *e)
{
    if (amounts_text_find(&c->res, name))
        return err_set(e, PBSE_DUPRESC,
                       "duplicated resource within a section of a select specification, resource is: %s",
                       name);
    return amounts_text_add(&c->res, name, value, e);
}

/* "name=value": the words that mean processes and cpus, or any resource. */
static int take_pair(struct chunk *c, char *word, char *eq, struct err *e)
{
    if (!strncmp(word, "ppn=", 4))
        return select_old_parse_number(word, eq + 1, &c->ppn, e);
    if (!strncmp(word, "ncpus=", 6))
        return select_old_parse_number(word, eq + 1, &c->ncpus, e);
    if (!strncmp(word, "cpp=", 4))
        return select_old_parse_number(word, eq + 1, &c->per_process, e);
    *eq = '\0';
    if (!*word || !eq[1])
        return err_set(e, PBSE_BADATVAL, "nodes: \"%s=%s\" is not name=value", word, eq + 1);
    return select_old_add_pair(c, word, eq + 1, e);
}

static int select_old_take_word(struct chunk *c, char *word, bool first, const struct select_old_asker *ask,
                                struct err *e)
{
    char *eq = strchr(word, '=');

    if (!*word)
        return err_set(e, PBSE_BADATVAL, "nodes: a word is missing");
    if (eq)
        return take_pair(c, word, eq, e);
    if (first && word[strspn(word, "0123456789")] == '\0')
        return select_old_parse_number(word, word, &c->count, e);
    if (ask->is_property && ask->is_property(ask->context, word))
        return select_old_add_pair(c, word, "True", e);
    if (word[strspn(word, "0123456789")] == '\0')
        return err_set(e, PBSE_BADATVAL, "nodes: \"%s\": the number of nodes must come first", word);
    return select_old_add_pair(c, "host", word, e);
}

static uint32_t cpus_of(const struct chunk *c)
{
    uint32_t processes = c->ppn ? c->ppn : 1;

    return c->ncpus ? c->ncpus : processes * (c->per_process ? c->per_process : 1);
}

static int write_chunk(const struct chunk *c, bool first, struct strbuf *select)
{
    uint32_t processes = c->ppn ? c->ppn : 1;

    strbuf_addf(select, "%s%u:ncpus=%u", first ? "" : "+", c->count ? c->count : 1, cpus_of(c));
    if (c->ppn)
        strbuf_addf(select, ":mpiprocs=%u", processes);
    if (c->res.n)
        strbuf_add_char(select, ':');
    return amounts_text_format(&c->res, select);
}

/* One "2:ppn=4:big" of the spec, which is cut in place. */
static int take_chunk(char *text, bool first, const struct select_old_asker *ask, struct strbuf *select,
                      struct err *e)
{
    struct chunk c = {0};
    bool first_word = true;
    int rc = 0;

    while (text && rc == 0) {
        char *word = strsep(&text, ":");

        rc = select_old_take_word(&c, word, first_word, ask, e);
        first_word = false;
    }
    if (rc == 0 && write_chunk(&c, first, select) < 0)
        rc = err_set(e, PBSE_SYSTEM, "no memory for a select");
    amounts_text_fini(&c.res);
    return rc;
}

/* The word after #: how the hosts are shared. */
static int take_suffix(const char *suffix, struct strbuf *place, struct err *e)
{
    if (!suffix)
        return strbuf_add(place, "scatter");
    if (!strcmp(suffix, "shared"))
        return strbuf_add(place, "scatter:shared");
    if (!strcmp(suffix, "excl"))
        return strbuf_add(place, "scatter:excl");
    if (!strcmp(suffix, "pack"))
        return strbuf_add(place, "pack");
    return err_set(e, PBSE_BADATVAL, "nodes: \"#%s\" is not one of #shared, #excl, #pack", suffix);
}

int select_old_nodes(const char *nodes, int (*is_property)(void *context, const char *name), void *context,
                     struct strbuf *select, struct strbuf *place, struct err *e)
{
    struct select_old_asker ask = {is_property, context};
    char *copy = strdup(nodes), *rest = copy, *suffix;
    bool first = true;
    int rc;

    if (!copy)
        return err_set(e, PBSE_SYSTEM, "no memory for a select");
    suffix = strchr(copy, '#');
    if (suffix)
        *suffix++ = '\0';
    rc = take_suffix(suffix, place, e);
    while (rc == 0 && rest) {
        rc = take_chunk(strsep(&rest, "+"), first, &ask, select, e);
        first = false;
    }
    free(copy);
    return rc;
}

int select_old_amounts(const struct select_old_resource *r, size_t n, struct strbuf *select)
{
    struct amounts_text l = {0};
    bool has_ncpus = false;
    size_t i;
    int rc = 0;

    for (i = 0; i < n && rc == 0; i++) {
        has_ncpus = has_ncpus || !strcmp(r[i].name, "ncpus");
        rc = amounts_text_add(&l, r[i].name, r[i].value, NULL);
    }
    if (rc == 0 && !has_ncpus)
        rc = amounts_text_add(&l, "ncpus", "1", NULL);
    if (rc == 0) {
        strbuf_add(select, "1:");
        rc = amounts_text_format(&l, select);
    }
    amounts_text_fini(&l);
    return rc;
}
