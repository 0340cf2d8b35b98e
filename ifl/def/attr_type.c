/* Types by id. See attr_type.h. */
#include "attr_type.h"

#include "type_depend.h"
#include "type_limit.h"
#include "type_list.h"
#include "type_order.h"
#include "type_resc.h"
#include "type_scalar.h"
#include "type_stage.h"
#include "type_words.h"

static const struct value_type *const types[TYPE_COUNT] = {
#define TYPE(id, type) [TYPE_##id] = &type,
#include "attr_type.def"
#undef TYPE
};

const struct value_type *attr_type_get(enum attr_type id)
{
    return types[id];
}
