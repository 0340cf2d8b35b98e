#ifndef ATTR_SELECT_H
#define ATTR_SELECT_H
/* Which attributes a status request wants: a bit for each, and resources by name where only some are wanted. */
#include <stdbool.h>
#include <stdint.h>

#include "attr_def.h"
#include "resource.h"

struct attr_select {
    uint8_t of;
    bool all;
    uint64_t whole[ATTR_MAX / 64]; /* the attribute with all its resources */
    uint64_t part[ATTR_MAX / 64];  /* only the resources listed in `pair` */
    uint32_t *pair;                /* index << 16 | resource id */
    uint16_t n_pairs, cap_pairs;
};

void attr_select_init(struct attr_select *s, enum attr_of of); /* nothing yet */
void attr_select_fini(struct attr_select *s);
void attr_select_all(struct attr_select *s);

/* Add one by name; resource may be NULL or "": all. -1: PBSE_NOATTR, PBSE_UNKRESC, PBSE_SYSTEM. */
int attr_select_add(struct attr_select *s, const struct resource_table *t, const char *name,
                    const char *resource, struct err *e);

bool attr_select_has(const struct attr_select *s, int index); /* at least a part */
/* The first index >= from that it has; ATTR_MAX: none. */
int attr_select_next(const struct attr_select *s, int from);
bool attr_select_has_resource(const struct attr_select *s, int index, int resource);

#endif
