/* The same rows by name and by number; a row never moves and never goes. Built-in ones come first, in the
 * order of their table: RES_NCPUS and its like are places in it. What the server says of them is ignored.
 *
 * Objects and the definition of a resource may come in either order. A name that is not defined yet gets
 * a row as a string and is noted as missed; the cluster then asks for everything again, since amounts that
 * were read as texts cannot be made into numbers afterwards. */
#include "catalogue.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uthash.h>

#include "intern.h"
#include "mem.h"

struct catalogue_row {
    struct resource r;
    res_id id;
    UT_hash_handle hh;
};

struct catalogue {
    struct catalogue_row *by_name;
    struct catalogue_row **by_id;
    size_t n, cap, n_builtin;
    bool missed; /* a name was asked for that is not defined */
};

static const struct {
    const char *name, *type, *flags;
} builtin[] = {
    {"ncpus", "long", "nhq"},
    {"mem", "size", "nhq"},
    {"host", "string", "h"},
    {"vnode", "string", "h"},
    {"vmem", "size", "nhq"},
    {"hbmem", "size", "nhq"},
    {"accelerator_memory", "size", "nhq"},
    {"naccelerators", "long", "nhq"},
    {"accelerator", "boolean", "h"},
    {"accelerator_model", "string", "h"},
    {"accelerator_group", "string_array", "h"},
    {"arch", "string", "h"},
    {"vntype", "string_array", "h"},
    {"aoe", "string_array", "h"},
    {"eoe", "string_array", "h"},
    {"mpiprocs", "long", "hu"},
    {"ompthreads", "long", "hu"},
    {"cput", "duration", ""},
    {"pcput", "duration", ""},
    {"walltime", "duration", ""},
    {"soft_walltime", "duration", ""},
    {"min_walltime", "duration", ""},
    {"max_walltime", "duration", ""},
    {"pmem", "size", ""},
    {"pvmem", "size", ""},
    {"file", "size", ""},
    {"nice", "long", ""},
    {"nodect", "long", ""},
    {"software", "string", ""},
    {"site", "string", ""},
    {"preempt_targets", "string_array", ""},
    {"select", "string", ""},
    {"place", "string", ""},
    {"nodes", "string", ""},
    {"nchunk", "long", "u"},
};

static const struct {
    const char *word;
    enum res_type type;
} type_words[] = {{"long", RES_LONG},           {"float", RES_FLOAT},     {"size", RES_SIZE},
                  {"duration", RES_DURATION},   {"boolean", RES_BOOLEAN}, {"string", RES_STRING},
                  {"string_array", RES_STRINGS}};

/* The server's numbers for the same, as pbs_statrsc has them. */
static const struct {
    int number;
    enum res_type type;
} type_numbers[] = {{1, RES_LONG}, {3, RES_STRING},   {4, RES_STRINGS},
                    {5, RES_SIZE}, {11, RES_BOOLEAN}, {14, RES_FLOAT}};

/* A word or the server's number; a string where it is neither. */
static enum res_type type_of(const char *word)
{
    int number = word ? atoi(word) : 0;

    for (size_t i = 0; number && i < sizeof type_numbers / sizeof *type_numbers; i++)
        if (number == type_numbers[i].number)
            return type_numbers[i].type;
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (word && strcmp(word, type_words[i].word) == 0)
            return type_words[i].type;
    return RES_STRING;
}

/* Bits of a flag mask, as pbs_statrsc has them. */
enum { MASK_SUM = 0x4000, MASK_PER_NODE = 0x8000, MASK_FIRST_NODE = 0x10000, MASK_HOST = 0x20000 };

static unsigned flags_of_mask(unsigned long mask)
{
    unsigned flags = mask & MASK_SUM ? RES_SERVER : 0;

    if (mask & (MASK_PER_NODE | MASK_FIRST_NODE))
        flags |= RES_VNODE | RES_HOST;
    return flags | (mask & MASK_HOST ? RES_HOST : 0);
}

/* Letters as qmgr prints them, or the mask of pbs_statrsc. */
static unsigned flags_of(const char *letters)
{
    unsigned flags = 0;

    if (letters && *letters >= '0' && *letters <= '9')
        return flags_of_mask(strtoul(letters, NULL, 10));

    for (; letters && *letters; letters++)
        switch (*letters) {
        case 'h':
            flags |= RES_HOST;
            break;
        case 'n':
        case 'f':
            flags |= RES_VNODE | RES_HOST;
            break;
        case 'q':
            flags |= RES_SERVER;
            break;
        case 'u':
            flags |= RES_UNCHECKED;
            break;
        }
    return flags;
}

struct catalogue *catalogue_create(void)
{
    struct catalogue *c = mem_new(1, sizeof *c);

    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        catalogue_define(c, builtin[i].name, builtin[i].type, builtin[i].flags);
    c->n_builtin = c->n;
    return c;
}

void catalogue_destroy(struct catalogue *c)
{
    if (!c)
        return;
    HASH_CLEAR(hh, c->by_name);
    for (size_t i = 0; i < c->n; i++) {
        intern_unref(c->by_id[i]->r.name);
        free(c->by_id[i]);
    }
    free(c->by_id);
    free(c);
}

/* The number is the place in by_id, and rows are never removed: amounts that are kept elsewhere stay right. */
bool catalogue_define(struct catalogue *c, const char *name, const char *type, const char *flags)
{
    struct catalogue_row *row;
    struct resource r = {.type = type_of(type), .flags = flags_of(flags)};

    HASH_FIND_STR(c->by_name, name, row);
    if (row) {
        if (row->id <
            c->n_builtin) /* the scheduler knows more of this resource than the server's change says */
            return false;
        bool changed = row->r.type != r.type || row->r.flags != r.flags;
        row->r.type = r.type;
        row->r.flags = r.flags;
        return changed;
    }
    if (c->n == RES_MAX)
        return false;
    c->by_id = mem_room(c->by_id, c->n, &c->cap, sizeof *c->by_id);
    row = mem_new(1, sizeof *row);
    row->r = r;
    row->r.name = mem_intern(name);
    row->id = (res_id)c->n;
    c->by_id[c->n++] = row;
    HASH_ADD_KEYPTR(hh, c->by_name, row->r.name, strlen(row->r.name), row);
    return true;
}

res_id catalogue_find(const struct catalogue *c, const char *name)
{
    struct catalogue_row *row;

    HASH_FIND_STR(c->by_name, name, row);
    return row ? row->id : RES_NONE;
}

res_id catalogue_expect(struct catalogue *c, const char *name)
{
    res_id id = catalogue_find(c, name);

    if (id != RES_NONE || !catalogue_define(c, name, "string", ""))
        return id;
    c->missed = true;
    return catalogue_find(c, name);
}

bool catalogue_take_missed(struct catalogue *c)
{
    bool missed = c->missed;

    c->missed = false;
    return missed;
}

const struct resource *catalogue_get(const struct catalogue *c, res_id res)
{
    return res < c->n ? &c->by_id[res]->r : NULL;
}
