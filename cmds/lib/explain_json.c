/* Entries of an explanation as JSON. See explain_json.h. */
#include "explain_json.h"

#include <string.h>

#include "attrs.h"

static const struct {
    const char *role, *key;
    bool has_vnode; /* it is named after a vnode, not a job */
} roles[] = {{"victim", "victims", false},           {"spared", "spared", false},
             {"holder", "holders", false},           {"before", "before", false},
             {"reservation", "reservations", false}, {"vnodes", "vnodes", true}};

bool explain_has_role(const struct batch_status *b, const char *role)
{
    const char *is = attrs_value(b->attribs, "role", NULL);

    return is && strcmp(is, role) == 0;
}

/* Return the shorter names of the lists of jobs. */
static const char *json_name(const char *name)
{
    if (strcmp(name, "victims") == 0)
        return "n_victims";
    if (strcmp(name, "vnode") == 0)
        return "names";
    return strcmp(name, "spared") == 0 ? "spared_by_reason" : name;
}

static bool explain_json_is_number(const char *name)
{
    static const char *const names[] = {"level",        "order",       "lost_core_seconds",
                                        "back",         "until",       "victims",
                                        "spared",       "expected",    "expected_alone",
                                        "lasts",        "jobs_before", "jobs_planned",
                                        "rests_on",     "begins",      "ends",
                                        "count",        "room",        "parts",
                                        "could_begin",  "occurrence",  "occurrence_begins",
                                        "reserve_state"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void json_value(struct json_out *j, const char *name, const char *key, const char *text)
{
    if (explain_json_is_number(name))
        json_out_any(j, key, text);
    else
        json_out_string(j, key, text);
}

/* Write "name.1", "name.2" as an array, "name.word" as an object. Return what follows. */
static const struct attrl *json_group(struct json_out *j, const struct attrl *a)
{
    const char *name = a->name;
    bool numbered = a->resource[strspn(a->resource, "0123456789")] == '\0';

    json_out_open(j, json_name(name), numbered ? '[' : '{');
    for (; a && a->resource && strcmp(a->name, name) == 0; a = a->next)
        json_value(j, name, numbered ? NULL : a->resource, a->value);
    json_out_close(j, numbered ? ']' : '}');
    return a;
}

static void json_attrs(struct json_out *j, const struct attrl *a)
{
    while (a) {
        if (a->resource && *a->resource) {
            a = json_group(j, a);
            continue;
        }
        if (strcmp(a->name, "role") != 0)
            json_value(j, a->name, strcmp(a->name, "vnode") == 0 ? "vnode" : json_name(a->name), a->value);
        a = a->next;
    }
}

static void json_role(struct json_out *j, const struct batch_status *list, size_t role)
{
    json_out_open(j, roles[role].key, '[');
    for (; list; list = list->next) {
        if (!explain_has_role(list, roles[role].role))
            continue;
        json_out_open(j, NULL, '{');
        if (!roles[role].has_vnode)
            json_out_string(j, strcmp(roles[role].role, "reservation") == 0 ? "reservation" : "job",
                            list->name);
        json_attrs(j, list->attribs);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

void explain_json(struct json_out *j, const struct batch_status *b)
{
    json_out_string(j, "job", b->name);
    json_attrs(j, b->attribs);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        json_role(j, b->next, i);
}
