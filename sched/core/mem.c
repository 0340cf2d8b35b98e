/* What ends the process when memory ends. Plain arrays grow by doubling from four. */
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"

void *mem_new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        abort();
    return p;
}

void *mem_grow(void *p, size_t n, size_t size)
{
    void *q = reallocarray(p, n ? n : 1, size);

    if (!q)
        abort();
    return q;
}

char *mem_text(const char *text)
{
    char *copy = strdup(text ? text : "");

    if (!copy)
        abort();
    return copy;
}

const char *mem_intern(const char *text)
{
    if (!text)
        return NULL;
    const char *s = intern_ref(text);
    if (!s)
        abort();
    return s;
}

void *mem_room(void *p, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return p;
    *cap = *cap ? *cap * 2 : 4;
    return mem_grow(p, *cap, size);
}

uint64_t mem_hash(const char *text)
{
    uint64_t h = text ? 0xcbf29ce484222325ull : 0;

    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
    return h;
}
