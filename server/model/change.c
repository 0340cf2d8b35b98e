/* The list by last change, the ring of removed objects, and the chain of dirty entries. See change.h.
 *
 * An entry is in up to two lists of its own links: the list by number, for watchers, and the dirty chain,
 * for the writer. They are apart because they empty at different times: the writer takes an entry from the
 * chain, while its place in the list stays until the next touch. The chain keeps a pointer to the pointer
 * before it (dirty_link), so that a removed object leaves the middle of the chain in O(1).
 *
 * Invariants: numbers rise along the list and along the ring, and no number is given twice; `forgotten` is
 * the highest number that the ring no longer has. */
#include "change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

struct ring_slot {
    uint64_t number;
    enum change_kind kind;
    const char *name; /* interned */
};

struct change {
    struct change_entry *first, *last;
    struct change_pause *pauses;
    struct change_entry *dirty;
    struct change_entry **dirty_end;
    uint64_t number, number_of[CHANGE_KIND_COUNT];
    uint64_t forgotten; /* highest number that fell out of the ring */
    struct ring_slot *ring;
    size_t ring_size, ring_begin, ring_count;
    struct {
        void (*touched)(void *arg);
        void *arg;
    } listener[CHANGE_LISTENERS_MAX];
    size_t n_listeners;
};

struct change *change_create(size_t keep_gone)
{
    struct change *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->ring_size = keep_gone ? keep_gone : 1;
    c->ring = calloc(c->ring_size, sizeof *c->ring);
    c->dirty_end = &c->dirty;
    if (!c->ring) {
        free(c);
        return NULL;
    }
    return c;
}

void change_destroy(struct change *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->ring_count; i++)
        intern_unref(c->ring[(c->ring_begin + i) % c->ring_size].name);
    free(c->ring);
    free(c);
}

void change_init_entry(struct change_entry *e, enum change_kind kind)
{
    memset(e, 0, sizeof *e);
    e->kind = (unsigned char)kind;
}

static void unlink_entry(struct change *c, struct change_entry *e)
{
    if (!e->number)
        return;
    for (struct change_pause *p = c->pauses; p; p = p->next)
        if (p->at == e)
            p->at = e->next;
    *(e->prev ? &e->prev->next : &c->first) = e->next;
    *(e->next ? &e->next->prev : &c->last) = e->prev;
    e->prev = e->next = NULL;
    e->number = 0;
}

static void mark_dirty(struct change *c, struct change_entry *e, unsigned parts)
{
    e->dirty |= (unsigned char)parts;
    if (!e->dirty || e->dirty_link)
        return;
    e->dirty_next = NULL;
    e->dirty_link = c->dirty_end;
    *c->dirty_end = e;
    c->dirty_end = &e->dirty_next;
}

static void change_tell(struct change *c)
{
    for (size_t i = 0; i < c->n_listeners; i++)
        c->listener[i].touched(c->listener[i].arg);
}

static uint64_t next_number(struct change *c, unsigned kind)
{
    return c->number_of[kind] = ++c->number;
}

void change_touch(struct change *c, struct change_entry *e, unsigned parts)
{
    unlink_entry(c, e);
    e->number = next_number(c, e->kind);
    e->prev = c->last;
    *(c->last ? &c->last->next : &c->first) = e;
    c->last = e;
    mark_dirty(c, e, parts);
    change_tell(c);
}

void change_store_only(struct change *c, struct change_entry *e, unsigned parts)
{
    mark_dirty(c, e, parts);
    change_tell(c);
}

static void unlink_dirty(struct change *c, struct change_entry *e)
{
    if (e->dirty_link) {
        *e->dirty_link = e->dirty_next;
        if (e->dirty_next)
            e->dirty_next->dirty_link = e->dirty_link;
        else
            c->dirty_end = e->dirty_link;
    }
    change_cleaned(e);
}

void change_gone(struct change *c, struct change_entry *e, const char *name)
{
    struct ring_slot *slot;
    bool was_seen = e->number != 0;

    unlink_entry(c, e);
    unlink_dirty(c, e);
    if (!was_seen) /* no watcher knows it */
        return;
    if (c->ring_count == c->ring_size) {
        slot = &c->ring[c->ring_begin];
        c->forgotten = slot->number;
        intern_unref(slot->name);
        c->ring_begin = (c->ring_begin + 1) % c->ring_size;
        c->ring_count--;
    }
    slot = &c->ring[(c->ring_begin + c->ring_count++) % c->ring_size];
    slot->number = next_number(c, e->kind);
    slot->kind = e->kind;
    slot->name = intern_ref(name);
    change_tell(c);
}

uint64_t change_number(const struct change *c)
{
    return c->number;
}

uint64_t change_number_of(const struct change *c, enum change_kind kind)
{
    return c->number_of[kind];
}

struct change_entry *change_after(const struct change *c, uint64_t after)
{
    struct change_entry *e = c->last;

    if (!e || e->number <= after)
        return NULL;
    if (after == 0) /* a snapshot: the walk from the end would be over everything */
        return c->first;
    while (e->prev && e->prev->number > after)
        e = e->prev;
    return e;
}

struct change_entry *change_next(const struct change_entry *e)
{
    return e->next;
}

void change_pause(struct change *c, struct change_pause *p, struct change_entry *at)
{
    *p = (struct change_pause){.at = at, .next = c->pauses, .link = &c->pauses};
    if (p->next)
        p->next->link = &p->next;
    c->pauses = p;
}

struct change_entry *change_resume(struct change_pause *p)
{
    struct change_entry *at = p->at;

    if (p->link) {
        *p->link = p->next;
        if (p->next)
            p->next->link = p->link;
    }
    *p = (struct change_pause){0};
    return at;
}

bool change_gone_after(const struct change *c, uint64_t after, struct change_gone *out)
{
    size_t low = 0, high = c->ring_count; /* numbers rise along the ring */

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (c->ring[(c->ring_begin + mid) % c->ring_size].number > after)
            high = mid;
        else
            low = mid + 1;
    }
    if (low == c->ring_count)
        return false;
    const struct ring_slot *slot = &c->ring[(c->ring_begin + low) % c->ring_size];
    *out = (struct change_gone){slot->number, slot->kind, slot->name};
    return true;
}

uint64_t change_oldest_known(const struct change *c)
{
    return c->forgotten;
}

struct change_entry *change_take_dirty(struct change *c)
{
    struct change_entry *e = c->dirty;

    if (!e)
        return NULL;
    c->dirty = e->dirty_next;
    if (c->dirty)
        c->dirty->dirty_link = &c->dirty;
    else
        c->dirty_end = &c->dirty;
    e->dirty_next = NULL;
    e->dirty_link = NULL;
    return e;
}

unsigned change_cleaned(struct change_entry *e)
{
    unsigned parts = e->dirty;

    e->dirty = 0;
    e->dirty_next = NULL;
    e->dirty_link = NULL;
    return parts;
}

bool change_is_dirty(const struct change *c)
{
    return c->dirty != NULL;
}

void change_on_touch(struct change *c, void (*touched)(void *arg), void *arg)
{
    assert(c->n_listeners < CHANGE_LISTENERS_MAX);
    c->listener[c->n_listeners].touched = touched;
    c->listener[c->n_listeners++].arg = arg;
}

void change_off_touch(struct change *c, void *arg)
{
    for (size_t i = c->n_listeners; i-- > 0;)
        if (c->listener[i].arg == arg)
            c->listener[i] = c->listener[--c->n_listeners];
}
