/* Completing lines of qmgr. See qmgr_complete.h.
 *
 * The position of the last word decides: first a command, then an object, then names of such objects and attributes.
 * An operator or a comma begins a new attribute, as in "set queue q Priority = 5, max_". */
#include "qmgr_complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "attr_def.h"
#include "qmgr_line.h"
#include "resource.h"
#include "type_resc.h"

enum { WORD_MAX = 256 };

struct typed {
    const struct qmgr_complete *c;
    const char *last; /* the word under the cursor */
    size_t n;
};

static void qmgr_complete_offer(void *arg, const char *word)
{
    const struct typed *t = arg;

    if (strncasecmp(word, t->last, t->n) == 0)
        t->c->word(t->c->arg, word);
}

static void qmgr_complete_offer_row(void *arg, const char *word, int value)
{
    qmgr_complete_offer(arg, word);
}

static enum attr_of qmgr_complete_kind_of(int object)
{
    static const enum attr_of kinds[MGR_OBJ_LAST] = {
        [MGR_OBJ_SERVER] = OF_SERVER, [MGR_OBJ_QUEUE] = OF_QUEUE, [MGR_OBJ_JOB] = OF_COUNT,
        [MGR_OBJ_NODE] = OF_NODE,     [MGR_OBJ_RESV] = OF_COUNT,  [MGR_OBJ_RSC] = OF_RESOURCE,
        [MGR_OBJ_SCHED] = OF_SCHED,   [MGR_OBJ_HOST] = OF_COUNT,  [MGR_OBJ_HOOK] = OF_HOOK,
        [MGR_OBJ_PBS_HOOK] = OF_HOOK};

    return object >= 0 && object < MGR_OBJ_LAST ? kinds[object] : OF_COUNT;
}

/* Offer "resources_max." and the resources behind it. */
static void offer_resources(struct typed *t, const char *attribute, size_t n)
{
#define RESOURCE(name, ...) #name,
    static const char *const names[] = {
#include "resource.def"
    };
#undef RESOURCE
    char word[WORD_MAX];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(word, sizeof word, "%.*s.%s", (int)n, attribute, names[i]);
        qmgr_complete_offer(t, word);
    }
}

static void offer_attributes(struct typed *t, int object)
{
    enum attr_of of = qmgr_complete_kind_of(object);
    const char *dot = memchr(t->last, '.', t->n);

    if (of == OF_COUNT)
        return;
    if (dot) {
        offer_resources(t, t->last, (size_t)(dot - t->last));
        return;
    }
    for (int i = 0; i < attr_def_count(of); i++) {
        const struct attr_def *d = attr_def_get(of, i);
        char word[WORD_MAX];

        if (d->write == LEVEL_SERVER)
            continue;
        snprintf(word, sizeof word, "%s%s", d->name, attr_def_type(d)->by == BY_NOTHING ? "" : ".");
        qmgr_complete_offer(t, word);
    }
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == ',';
}

/* Return the beginning of the next word, and its length. */
static const char *next_word(const char *at, size_t *n)
{
    while (*at && is_separator(*at))
        at++;
    *n = strcspn(at, " \t,");
    return at;
}

size_t qmgr_complete(const char *line, const struct qmgr_complete *c)
{
    struct typed t = {.c = c};
    const char *at = line, *word;
    int command = QMGR_NOTHING, object = MGR_OBJ_NONE;
    size_t place = 0, n;

    for (word = next_word(at, &n); word[n]; word = next_word(at, &n), place++) {
        if (place == 0)
            command = qmgr_line_find_command(word, n);
        else if (place == 1)
            object = qmgr_line_find_object(word, n);
        at = word + n;
    }
    t.last = word;
    t.n = n;
    if (place == 0)
        qmgr_line_commands(qmgr_complete_offer_row, &t);
    else if (place == 1 && command != QMGR_DIFF && command != QMGR_APPLY)
        qmgr_line_objects(qmgr_complete_offer_row, &t);
    else if (place > 1) {
        if (place == 2 && command != MGR_CMD_CREATE && object != MGR_OBJ_SERVER)
            c->names(c->names_arg, object, qmgr_complete_offer, &t);
        if (command != MGR_CMD_DELETE && command != MGR_CMD_ACTIVE)
            offer_attributes(&t, object);
    }
    return n;
}
