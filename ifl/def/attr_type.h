#ifndef ATTR_TYPE_H
#define ATTR_TYPE_H
/* Types by id, as the rows of attr_*.def name them: TYPE_LONG. The list is attr_type.def. */
#include "value.h"

enum attr_type {
#define TYPE(id, type) TYPE_##id,
#include "attr_type.def"
#undef TYPE
    TYPE_COUNT
};

const struct value_type *attr_type_get(enum attr_type id);

#endif
