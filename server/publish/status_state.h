#ifndef STATUS_STATE_H
#define STATUS_STATE_H
/* What status is made of, for status.c, which writes it, and status_query.c; others ask status.h. */
#include "attrib_render.h"

struct store_reader;

struct status {
    struct server_ctx *ctx;
    struct store_reader *store_reader; /* NULL: no history */
    struct attrib_render *attrib_render;
};

#endif
