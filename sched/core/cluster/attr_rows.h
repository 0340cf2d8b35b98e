#ifndef ATTR_ROWS_H
#define ATTR_ROWS_H
/* Attributes of an object of the server, decoded into the fields of a struct by a table: a row for each attribute. */
#include <stdbool.h>
#include <stddef.h>

#include "pbs_ifl.h"

struct catalogue;

enum attr_rows_form {
    ATTR_ROWS_NUMBER,  /* int64_t */
    ATTR_ROWS_YES,     /* bool; what is not a boolean is false */
    ATTR_ROWS_SECONDS, /* int64_t; what is not a duration changes nothing */
    ATTR_ROWS_TEXT,    /* const char *, interned; the empty text changes nothing. The field is NULL before */
    ATTR_ROWS_OWN      /* `take` does it */
};

struct attr_row {
    const char *name;
    enum attr_rows_form form;
    size_t at; /* of the field in the struct */
    void (*take)(void *object, struct catalogue *c, const struct attrl *a);
};

/* Take one attribute, which has a value. Return false if no row has its name. */
bool attr_rows_take(const struct attr_row *rows, size_t n, void *object, struct catalogue *c,
                    const struct attrl *a);

#endif
