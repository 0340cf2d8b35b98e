/* Which attributes a status request wants. See attr_select.h.
 *
 * The selection is consulted for every attribute of every object of an answer, so the usual tests read one bit each;
 * the list of pairs is read only for attributes of which some resources were named. */
#include "attr_select.h"

#include <string.h>

#include "errors.h"

void attr_select_init(struct attr_select *s, enum attr_of of)
{
    *s = (struct attr_select){.of = (uint8_t)of};
}

void attr_select_fini(struct attr_select *s)
{
    free(s->pair);
    attr_select_init(s, s->of);
}

void attr_select_all(struct attr_select *s)
{
    s->all = true;
}

static bool bit(const uint64_t *bits, int index)
{
    return bits[index / 64] >> index % 64 & 1;
}

static void set_bit(uint64_t *bits, int index)
{
    bits[index / 64] |= (uint64_t)1 << index % 64;
}

static int attr_select_add_pair(struct attr_select *s, int index, int resource, struct err *e)
{
    if (s->n_pairs == s->cap_pairs) {
        size_t cap = s->cap_pairs ? (size_t)s->cap_pairs * 2 : 8;
        uint32_t *grown = cap < UINT16_MAX ? realloc(s->pair, cap * sizeof *grown) : NULL;
        if (!grown)
            return errors_set(e, PBSE_SYSTEM, "no memory for a selection, or too long");
        s->pair = grown;
        s->cap_pairs = (uint16_t)cap;
    }
    s->pair[s->n_pairs++] = (uint32_t)index << 16 | (uint32_t)resource;
    set_bit(s->part, index);
    return 0;
}

int attr_select_add(struct attr_select *s, const struct resource_table *t, const char *name,
                    const char *resource, struct err *e)
{
    int index = attr_def_need(s->of, name, e);
    const struct resource *r;

    if (index < 0)
        return -1;
    if (!resource || !*resource || attr_def_type(attr_def_get(s->of, index))->by == BY_NOTHING) {
        set_bit(s->whole, index);
        return 0;
    }
    r = resource_find(t, resource);
    if (!r)
        return errors_set(e, PBSE_UNKRESC, "%.80s.%.80s", name, resource);
    return attr_select_has_resource(s, index, r->id) ? 0 : attr_select_add_pair(s, index, r->id, e);
}

bool attr_select_has(const struct attr_select *s, int index)
{
    return s->all || bit(s->whole, index) || bit(s->part, index);
}

int attr_select_next(const struct attr_select *s, int from)
{
    for (int word = from / 64; word < ATTR_MAX / 64; word++, from = word * 64) {
        uint64_t bits = (s->all ? ~(uint64_t)0 : s->whole[word] | s->part[word]) >> from % 64;

        if (bits)
            return from + __builtin_ctzll(bits);
    }
    return ATTR_MAX;
}

bool attr_select_has_resource(const struct attr_select *s, int index, int resource)
{
    uint32_t want = (uint32_t)index << 16 | (uint32_t)resource;

    if (s->all || bit(s->whole, index))
        return true;
    for (size_t i = 0; bit(s->part, index) && i < s->n_pairs; i++) {
        if (s->pair[i] == want)
            return true;
    }
    return false;
}
