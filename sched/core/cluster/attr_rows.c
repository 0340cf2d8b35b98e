/* Decoding by a table. See attr_rows.h. What cannot be read leaves the field as it is, or false: the server
 * has checked it. */
#include "attr_rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "units.h"

static void attr_row_set(const struct attr_row *row, void *object, const char *value)
{
    char *field = (char *)object + row->at;
    bool yes;

    switch (row->form) {
    case ATTR_ROWS_NUMBER:
        *(int64_t *)field = strtoll(value, NULL, 10);
        break;
    case ATTR_ROWS_YES:
        *(bool *)field = units_parse_bool(value, &yes, NULL) == 0 && yes;
        break;
    case ATTR_ROWS_SECONDS:
        units_parse_duration_s(value, (int64_t *)field, NULL);
        break;
    case ATTR_ROWS_TEXT:
        if (*value)
            *(const char **)field = mem_intern(value);
        break;
    case ATTR_ROWS_OWN:
        break;
    }
}

bool attr_rows_take(const struct attr_row *rows, size_t n, void *object, struct catalogue *c,
                    const struct attrl *a)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].name, a->name) != 0)
            continue;
        if (rows[i].form == ATTR_ROWS_OWN)
            rows[i].take(object, c, a);
        else
            attr_row_set(&rows[i], object, a->value);
        return true;
    }
    return false;
}
