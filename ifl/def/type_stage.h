#ifndef TYPE_STAGE_H
#define TYPE_STAGE_H
/* Files to stage: "local@host:remote,...". The value is a list (type_list.h), held as text. */
#include <stddef.h>

#include "value.h"

extern const struct value_type type_stage;

/* One pair; pointers into the text, without NUL. */
struct stage_pair {
    const char *local, *host, *remote;
    size_t local_len, host_len, remote_len;
};

/* Cut one word of the list. -1, PBSE_BADATVAL. */
int stage_parse(const char *word, size_t n, struct stage_pair *out, struct err *e);

#endif
