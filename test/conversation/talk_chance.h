#ifndef TALK_CHANCE_H
#define TALK_CHANCE_H
/* Chance that follows from a seed and the number of a step: a step that is left out changes no other one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline void chance_begin(struct chance *c, uint64_t seed, uint64_t step)
{
    c->state = seed * 0x9e3779b97f4a7c15ull ^ (step + 1) * 0xd1342543de82ef95ull;
}

static inline uint64_t chance_next(struct chance *c) /* splitmix64, Steele 2014 */
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* 0 .. n - 1; 0 of n = 0 */
static inline size_t chance_below(struct chance *c, size_t n)
{
    return n ? (size_t)(chance_next(c) % n) : 0;
}

static inline bool chance_one_in(struct chance *c, size_t n)
{
    return chance_below(c, n) == 0;
}

#define CHANCE_PICK(c, list) (list)[chance_below((c), sizeof(list) / sizeof((list)[0]))]

#endif
