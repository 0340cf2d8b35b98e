/* Lists are short: looked through from the front. */
#include "attr_set.h"

#include <stdlib.h>
#include <string.h>

static void attr_set_add(wire_attrs *list, const wire_attr *a)
{
    wire_attr *v = realloc(list->wire_attrs_val, (list->wire_attrs_len + 1) * sizeof *v);
    wire_attr *x;

    if (!v)
        return;
    list->wire_attrs_val = v;
    x = &v[list->wire_attrs_len];
    *x = (wire_attr){strdup(a->name), strdup(a->resource), strdup(a->value)};
    if (x->name && x->resource && x->value) {
        list->wire_attrs_len++;
        return;
    }
    free(x->name);
    free(x->resource);
    free(x->value);
}

static void attr_set_replace(wire_attr *a, const char *value)
{
    char *copy = strdup(value);

    if (!copy)
        return;
    free(a->value);
    a->value = copy;
}

void attr_set(wire_attrs *list, const char *name, const char *resource, const char *value)
{
    const wire_attr a = {(char *)name, (char *)resource, (char *)value};

    for (u_int i = 0; i < list->wire_attrs_len; i++) {
        wire_attr *x = &list->wire_attrs_val[i];

        if (strcmp(x->name, name) == 0 && strcmp(x->resource, resource) == 0) {
            attr_set_replace(x, value);
            return;
        }
    }
    attr_set_add(list, &a);
}
