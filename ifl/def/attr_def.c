/* The definitions of all attributes as tables, and a hash over their names. See attr_def.h.
 *
 * Each .def file is included twice: as enum in the header, as rows here, so an index is its row. Names from requests
 * are looked up by hash, without regard to case; all else uses indices. Write permission is decided here for all
 * callers: level, creation, whether the object runs. */
#include "attr_def.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "alike.h"
#include "errors.h"

#define RANGE(min, max) min, max
#define ANY             INT64_MIN, INT64_MAX
#define ATTR(name, type, read, write, flags, range, dflt, meaning)                                           \
    {#name, TYPE_##type, LEVEL_##read, LEVEL_##write, flags, range, dflt, meaning},

static const struct attr_def server_defs[] = {
#include "attr_server.def"
};
static const struct attr_def queue_defs[] = {
#include "attr_queue.def"
};
static const struct attr_def job_defs[] = {
#include "attr_job.def"
};
static const struct attr_def node_defs[] = {
#include "attr_node.def"
};
static const struct attr_def sched_defs[] = {
#include "attr_sched.def"
};
static const struct attr_def resv_defs[] = {
#include "attr_resv.def"
};
static const struct attr_def hook_defs[] = {
#include "attr_hook.def"
};
static const struct attr_def resource_defs[] = {
#include "attr_resource.def"
};
static const struct attr_def hold_defs[] = {
#include "attr_hold.def"
};
#undef ATTR

#define FITS(count) ((int)(count) <= (int)ATTR_MAX)
static_assert(FITS(SERVER_ATTR_COUNT) && FITS(QUEUE_ATTR_COUNT) && FITS(JOB_ATTR_COUNT) &&
                  FITS(NODE_ATTR_COUNT) && FITS(SCHED_ATTR_COUNT) && FITS(RESV_ATTR_COUNT),
              "attr_select has a bit for each attribute");

static const struct {
    const char *name;
    const struct attr_def *defs;
    int n;
} kinds[OF_COUNT] = {
    [OF_SERVER] = {"server", server_defs, SERVER_ATTR_COUNT},
    [OF_QUEUE] = {"queue", queue_defs, QUEUE_ATTR_COUNT},
    [OF_JOB] = {"job", job_defs, JOB_ATTR_COUNT},
    [OF_NODE] = {"node", node_defs, NODE_ATTR_COUNT},
    [OF_SCHED] = {"sched", sched_defs, SCHED_ATTR_COUNT},
    [OF_RESV] = {"resv", resv_defs, RESV_ATTR_COUNT},
    [OF_HOOK] = {"hook", hook_defs, HOOK_ATTR_COUNT},
    [OF_RESOURCE] = {"resource", resource_defs, RESOURCE_ATTR_COUNT},
    [OF_HOLD] = {"hold", hold_defs, HOLD_ATTR_COUNT},
};

/* A hash of indices with open addresses, at most half full. Filled once from the constant tables, at first use;
 * constant from then on, so no caller has to create it and pass it on. */
enum { N_SLOTS = 4 * ATTR_MAX };
static uint8_t slots[OF_COUNT][N_SLOTS]; /* index + 1 */
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static_assert(ATTR_MAX < UINT8_MAX, "an index + 1 fits a slot");

static unsigned slot_of(const char *name)
{
    unsigned h = 2166136261u;

    for (; *name; name++)
        h = (h ^ (unsigned)tolower((unsigned char)*name)) * 16777619u;
    return h % N_SLOTS;
}

static void attr_def_fill_slots(void)
{
    for (int of = 0; of < OF_COUNT; of++) {
        for (int i = 0; i < kinds[of].n; i++) {
            unsigned s = slot_of(kinds[of].defs[i].name);
            while (slots[of][s])
                s = (s + 1) % N_SLOTS;
            slots[of][s] = (uint8_t)(i + 1);
        }
    }
}

int attr_def_count(enum attr_of of)
{
    return kinds[of].n;
}

const struct attr_def *attr_def_get(enum attr_of of, int index)
{
    assert(index >= 0 && index < kinds[of].n);
    return &kinds[of].defs[index];
}

const struct value_type *attr_def_type(const struct attr_def *d)
{
    return attr_type_get(d->type);
}

const char *attr_def_of_name(enum attr_of of)
{
    return kinds[of].name;
}

int attr_def_find(enum attr_of of, const char *name)
{
    unsigned s = slot_of(name);

    pthread_once(&slots_once, attr_def_fill_slots);
    for (; slots[of][s]; s = (s + 1) % N_SLOTS) {
        if (strcasecmp(kinds[of].defs[slots[of][s] - 1].name, name) == 0)
            return slots[of][s] - 1;
    }
    return ATTR_NONE;
}

/* What managers set. */
static const enum attr_of attr_def_managed[] = {OF_SERVER, OF_QUEUE, OF_NODE, OF_SCHED};
enum { N_MANAGED = sizeof attr_def_managed / sizeof *attr_def_managed };

/* Of which other objects it is an attribute, as "queue, sched", where this one is managed too; false: of none. */
static bool attr_def_others(enum attr_of of, const char *name, char out[static 32])
{
    bool is_managed = false;

    out[0] = '\0';
    for (size_t i = 0; i < N_MANAGED; i++) {
        int index = attr_def_find(attr_def_managed[i], name);
        size_t n = strlen(out);

        is_managed = is_managed || attr_def_managed[i] == of;
        if (index != ATTR_NONE && attr_def_get(attr_def_managed[i], index)->read <= LEVEL_USER)
            (void)snprintf(out + n, 32 - n, "%s%s", n ? ", " : "", attr_def_of_name(attr_def_managed[i]));
    }
    return is_managed && out[0];
}

int attr_def_need(enum attr_of of, const char *name, struct err *e)
{
    int index = attr_def_find(of, name);
    char others[32];

    if (index != ATTR_NONE)
        return index;
    if (attr_def_others(of, name, others))
        return err_set(e, PBSE_NOATTR, "Undefined attribute  %.80s (it is an attribute of: %s)", name,
                       others);
    for (int i = 0; i < attr_def_count(of); i++) {
        const struct attr_def *d = attr_def_get(of, i);

        if (d->read <= LEVEL_USER && alike_is(name, d->name))
            return err_set(e, PBSE_NOATTR, "Undefined attribute  %.80s, did you mean %s?", name, d->name);
    }
    return err_set(e, PBSE_NOATTR, "Undefined attribute  %.80s", name);
}

bool attr_def_may_read(const struct attr_def *d, enum level l, bool show_hidden)
{
    if ((d->flags & AF_HIDDEN) && !show_hidden && l < LEVEL_SCHED)
        return false;
    return l >= d->read;
}

/* Is the writer's level below what the attribute asks for? A read-only one may be given when the object is made, if it says so. */
static int check_level(const struct attr_def *d, const struct attr_writer *w, struct err *e)
{
    if (d->write == LEVEL_SERVER)
        return (d->flags & AF_CREATE) && w->creating
                   ? 0
                   : err_set(e, PBSE_ATTRRO, "Cannot set attribute, read only or insufficient permission  %s",
                             d->name);
    if (w->level >= d->write)
        return 0;
    return err_set(
        e, PBSE_ATTRRO,
        "Cannot set attribute, read only or insufficient permission  %s: %ss may set it, not a plain %s",
        d->name, level_name(d->write), level_name(w->level));
}

int attr_def_check_write(const struct attr_def *d, const struct attr_writer *w, struct err *e)
{
    /* Schedulers and MOMs set some attributes whatever their level says. */
    bool own = (d->flags & AF_SERVER) && w->level >= LEVEL_SCHED;

    if (w->level == LEVEL_SERVER)
        return 0;
    if (!own && check_level(d, w, e) < 0)
        return -1;
    if ((d->flags & AF_CREATE) && !w->creating)
        return err_set(
            e, PBSE_ATTRRO,
            "Cannot set attribute, read only or insufficient permission  %s: it is set only when the object "
            "is made",
            d->name);
    if (w->running && !(d->flags & AF_RUN) && !own)
        return err_set(e, PBSE_MODATRRUN, "Cannot modify attribute while job running  %s", d->name);
    return 0;
}
