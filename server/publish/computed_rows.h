#ifndef COMPUTED_ROWS_H
#define COMPUTED_ROWS_H
/* What the tables of derived attributes share; for computed*.c only. */
#include "derived_attribs.h"
#include "pbs_ifl.h"
#include "type_resc.h"

struct derived_attribs {
    const struct server_ctx *ctx;
    struct strbuf text;        /* of the last value that is a text made here */
    struct resc_list *amounts; /* of the last value that is a list made here */
    char host[PBS_MAXHOSTNAME + 1];
};

/* The value of one attribute; false: not set. The caller does not free it. */
typedef bool computed_fn(struct derived_attribs *c, const struct object *o, struct value *out);

extern computed_fn *const computed_job_rows[JOB_ATTR_COUNT];
/* Jobs have many that are a plain field. */
bool computed_job_has_field(int index);
bool computed_job_field(const struct object *o, int index, struct value *out);

/* Making values. */
static inline bool computed_text(const char *text, struct value *out)
{
    if (!text)
        return false;
    value_init(out);
    out->kind = VALUE_TEXT;
    out->text = text;
    return true;
}

static inline bool computed_number(int64_t n, struct value *out)
{
    *out = value_of_number(n);
    return true;
}

static inline bool computed_amounts(struct resc_list *l, struct value *out)
{
    if (!l)
        return false;
    value_init(out);
    out->kind = VALUE_AMOUNTS;
    out->amounts = l;
    return true;
}

static inline void computed_begin_amounts(struct derived_attribs *c)
{
    resc_free(c->amounts);
    c->amounts = NULL;
}

#endif
