/* Sentences from attributes of a job and its queue. See wait_facts.h.
 *
 * Only what the server decides before a scheduler looks at the job is here; why a scheduler passes it by is the scheduler's answer
 * (pbs_explain.c). A hold by the system is not named beside dependencies, which cause it. Sentences above WAIT_FACTS_MAX are left out. */
#include "wait_facts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attrs.h"

static const char *value_of(const struct batch_status *b, const char *name)
{
    const char *value = b ? attrs_value(b->attribs, name, NULL) : NULL;

    return value ? value : "";
}

static void wait_facts_add(struct wait_facts *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void wait_facts_add(struct wait_facts *f, const char *fmt, ...)
{
    va_list ap;

    if (f->n == WAIT_FACTS_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(f->text[f->n++], WAIT_FACT_TEXT_MAX, fmt, ap);
    va_end(ap);
}

/* --- dependencies ----------------------------------------------------------------------------------------- */

/* The state of a job as a word, or NULL where it is not shown. */
static const char *state_word(int c, char *id, char room[2])
{
    struct attrl wanted = {.name = (char *)ATTR_state, .value = (char *)"", .op = SET};
    struct batch_status *b = pbs_statjob(c, id, &wanted, NULL);

    snprintf(room, 2, "%.1s", value_of(b, ATTR_state));
    pbs_statfree(b);
    return *room ? room : NULL;
}

/* "afterok:1.s@s:2.s@s": a sentence for each job. */
static void wait_facts_depends(int c, struct wait_facts *f, char *one)
{
    char *save = NULL, *type = strtok_r(one, ":", &save), room[2];
    size_t n = 0;

    if (!type || (strncmp(type, "after", 5) != 0 && strcmp(type, "on") != 0))
        return;
    for (char *id = strtok_r(NULL, ":", &save); id; id = strtok_r(NULL, ":", &save)) {
        if (strcmp(type, "on") == 0) {
            wait_facts_add(f, "it waits for %s other jobs to name it", id);
            return;
        }
        id[strcspn(id, "@")] = '\0';
        const char *state = n++ < WAIT_FACTS_DEPENDS_MAX ? state_word(c, id, room) : NULL;
        wait_facts_add(f, "it depends on %s (%s)%s%s", id, type, state ? ", whose state is " : "",
                       state ? state : "");
    }
}

static void depends(int c, const struct batch_status *job, struct wait_facts *f)
{
    char *all = strdup(value_of(job, ATTR_depend)), *save = NULL;

    for (char *one = all ? strtok_r(all, ",", &save) : NULL; one; one = strtok_r(NULL, ",", &save))
        wait_facts_depends(c, f, one);
    free(all);
}

/* --- holds and times ---------------------------------------------------------------------------------------- */

static const struct {
    char letter;
    const char *sentence;
} holds[] = {{'u', "it is held by its owner (qrls)"},
             {'o', "it is held by an operator (qrls -h o)"},
             {'s', "it is held by the system"},
             {'p', "it is held because of a bad password"}};

static void held(const struct batch_status *job, struct wait_facts *f)
{
    const char *letters = value_of(job, ATTR_h);
    bool is_told =
        *value_of(job, ATTR_depend) != '\0'; /* by its dependencies, for which the system holds it */

    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++)
        if (strchr(letters, holds[i].letter) && !(is_told && holds[i].letter == 's'))
            wait_facts_add(f, "%s", holds[i].sentence);
}

static void not_before(const struct batch_status *job, struct wait_facts *f)
{
    time_t at = (time_t)strtoll(value_of(job, ATTR_a), NULL, 10);
    struct tm tm;
    char text[64];

    if (at > time(NULL) && localtime_r(&at, &tm) && strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &tm))
        wait_facts_add(f, "it asked not to begin before %s (-a)", text);
}

static void queue_facts(const struct batch_status *queue, struct wait_facts *f)
{
    if (!queue)
        return;
    if (strncmp(value_of(queue, ATTR_qtype), "Route", 5) == 0)
        wait_facts_add(f, "it is in route queue %s, and goes to a destination that takes it", queue->name);
    if (strcmp(value_of(queue, ATTR_start), "True") != 0)
        wait_facts_add(f, "queue %s is not started", queue->name);
}

static void state_facts(const struct batch_status *job, struct wait_facts *f)
{
    switch (*value_of(job, ATTR_state)) {
    case 'T':
        wait_facts_add(f, "it is on its way: its script has not arrived, or another server is asked");
        break;
    case 'U':
        wait_facts_add(f, "it is suspended while a person uses its host");
        break;
    case 'F':
    case 'X':
    case 'M':
        wait_facts_add(f, "it is over");
        break;
    default:
        break;
    }
}

void wait_facts_list(int c, const struct batch_status *job, const struct batch_status *queue,
                     struct wait_facts *f)
{
    f->n = 0;
    state_facts(job, f);
    held(job, f);
    depends(c, job, f);
    not_before(job, f);
    queue_facts(queue, f);
}
