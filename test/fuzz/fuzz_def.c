/* ifl/def: any text as the value of any attribute, and any JSON as the attributes of a stored object. */
#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "attr_walk.h"
#include "fuzz.h"
#include "resource.h"
#include "strbuf.h"

enum { SCRATCH_MAX = 1 << 24 };

/* What was taken is written, and read back into an empty list, as a store does it. */
static void write_and_read(const struct attr_list *l, const struct resource_table *t)
{
    struct attr_list again;
    json_t *json = attr_walk_to_json(l, t, 0, 0), *twice;
    char *text = json_dumps(json, JSON_COMPACT);
    struct err e;

    assert(text);
    attr_list_init(&again, l->of);
    assert(attr_walk_read(&again, t, text, &e) == 0);
    twice = attr_walk_to_json(&again, t, 0, 0);
    assert(twice && json_equal(json, twice));
    json_decref(twice);
    json_decref(json);
    free(text);
    attr_list_fini(&again);
}

static void try_attribute(const struct resource_table *t, enum attr_of of, int index, const char *text)
{
    bool amounts = attr_def_type(attr_def_get(of, index))->by != BY_NOTHING;
    const char *resource = amounts ? "ncpus" : NULL;
    struct attr_list l;
    struct err e;

    attr_list_init(&l, of);
    if (attr_list_change(&l, t, index, resource, text, SET, &e) == 0) {
        attr_list_change(&l, t, index, resource, text, INCR, &e);
        write_and_read(&l, t);
        attr_list_change(&l, t, index, resource, text, DECR, &e);
    }
    attr_list_fini(&l);
}

static void attributes(const char *bytes, size_t n)
{
    struct resource_table *t = resource_table_create();

    assert(t);
    for (int of = 0; of < OF_COUNT; of++)
        for (int i = 0; i < attr_def_count((enum attr_of)of); i++)
            try_attribute(t, (enum attr_of)of, i, bytes);
    resource_table_destroy(t);
}

static void stored(const char *bytes, size_t n)
{
    struct resource_table *t = resource_table_create();
    struct err e;

    assert(t);
    for (int of = 0; of < OF_COUNT; of++) {
        struct attr_list l;
        char *text = strdup(bytes); /* it is written to, and must be no longer than this */

        assert(text);
        attr_list_init(&l, (enum attr_of)of);
        if (attr_walk_read(&l, t, text, &e) == 0)
            write_and_read(&l, t);
        attr_list_fini(&l);
        free(text);
    }
    resource_table_destroy(t);
}

static const struct fuzz_seed value_seeds[] = {FUZZ_SEED("5"),
                                               FUZZ_SEED("True"),
                                               FUZZ_SEED("1:00:00"),
                                               FUZZ_SEED("10gb"),
                                               FUZZ_SEED("a,b,c"),
                                               FUZZ_SEED("+anna@*,-bert"),
                                               FUZZ_SEED("2.5"),
                                               FUZZ_SEED("[u:PBS_GENERIC=4],[g:phys=10]"),
                                               FUZZ_SEED("afterok:1.s:2.s,before:7"),
                                               FUZZ_SEED("a@h:/b,c@h:/d"),
                                               FUZZ_SEED("SCRD 50 SR"),
                                               FUZZ_SEED("2:ncpus=4+1:mem=1gb"),
                                               FUZZ_SEED("free:excl"),
                                               FUZZ_SEED("PATH=/bin,X=\"a,b\""),
                                               FUZZ_SEED("uos"),
                                               FUZZ_SEED("n"),
                                               FUZZ_SEED("express_queue, normal_jobs")};
static const struct fuzz_seed json_seeds[] = {
    FUZZ_SEED(
        "{\"Priority\": 5, \"Resource_List\": {\"ncpus\": 1, \"select\": \"1:ncpus=1\"}, \"defaulted\": [\"x\"]}"),
    FUZZ_SEED("{\"max_run\": \"[u:PBS_GENERIC=4]\", \"comment\": null, \"enabled\": true}"),
    FUZZ_SEED("{\"resources_available\": {\"mem\": \"1gb\", \"ncpus\": 4.5}, \"state\": []}")};

const struct fuzz fuzz_def[] = {
    {"attribute", attributes, FUZZ_SEEDS(value_seeds)},
    {"stored", stored, FUZZ_SEEDS(json_seeds)},
    {NULL},
};
