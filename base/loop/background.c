/* Calls that are made when nothing else is ready. See background.h. */
#include "background.h"

void background_init(struct background *b)
{
    *b = (struct background){.last = BACKGROUND_COMMON};
    for (int i = 0; i < BACKGROUND_QUEUES; i++)
        call_list_init(&b->queue[i]);
}

int background_add(struct background *b, enum background_queue queue, loop_fn *fn, void *arg)
{
    struct call *c = call_list_create_call(fn, arg);

    if (!c)
        return -1;
    call_list_add(&b->queue[queue], c);
    return 0;
}

size_t background_forget(struct background *b, loop_fn *fn, void *arg)
{
    size_t n = 0;

    for (int i = 0; i < BACKGROUND_QUEUES; i++)
        n += call_list_forget(&b->queue[i], fn, arg);
    return n;
}

void background_drop(struct background *b)
{
    for (int i = 0; i < BACKGROUND_QUEUES; i++)
        call_list_drop(&b->queue[i]);
}

bool background_has_calls(const struct background *b)
{
    return b->queue[BACKGROUND_COMMON].first || b->queue[BACKGROUND_SOON].first;
}

/* From the queue that the last call did not come from, unless that is empty. */
struct call *background_take(struct background *b)
{
    enum background_queue other = b->last == BACKGROUND_SOON ? BACKGROUND_COMMON : BACKGROUND_SOON;

    if (b->queue[other].first)
        b->last = other;
    return call_list_take(&b->queue[b->last]);
}

void background_press(struct background *b, int64_t now_us)
{
    b->pressed_until_us = now_us + BACKGROUND_PRESS_US;
}

/* Few calls are let through whatever happens: they cost the urgent work little. */
static bool is_pressed(const struct background *b, int64_t now_us)
{
    return now_us < b->pressed_until_us &&
           b->queue[BACKGROUND_COMMON].n + b->queue[BACKGROUND_SOON].n > BACKGROUND_CROWD;
}

bool background_is_free(const struct background *b, int64_t now_us, bool is_idle)
{
    return is_idle && !is_pressed(b, now_us);
}

int64_t background_rests_us(const struct background *b, int64_t now_us)
{
    return is_pressed(b, now_us) ? turn_share_wait_us(&b->share, now_us) : 0;
}
