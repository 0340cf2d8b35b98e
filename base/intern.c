/* Strings held once and counted: see intern.h.
 *
 * A hash of chains whose nodes carry the text behind them: 24 bytes beyond the text, where a generic hash handle
 * would take 56. The hash is seeded, since texts come from outside. */
#include "intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>

struct intern_node {
    struct intern_node *next;
    uint32_t hash;
    uint32_t refs;
    uint32_t len;
    char text[];
};

/* Process-wide: see intern.h for why. */
static struct {
    struct intern_node **buckets; /* n_buckets is a power of two, or 0 */
    size_t n_buckets, count, bytes;
    uint64_t seed;
} table;

/* Eight bytes at a time; the length is part of it. */
static uint32_t hash_of(const char *bytes, size_t n)
{
    uint64_t h = table.seed ^ n, word;

    for (; n >= 8; bytes += 8, n -= 8) {
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, bytes, n);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    return (uint32_t)(h * 0xc4ceb9fe1a85ec53u >> 32);
}

/* The text is the last field of its node. */
static struct intern_node *node_of(const char *interned)
{
    return (struct intern_node *)(void *)((char *)(uintptr_t)interned - offsetof(struct intern_node, text));
}

/* Twice the buckets. Without memory the chains just get longer, but the first ones must be there. */
static int intern_grow(void)
{
    size_t n = table.n_buckets ? table.n_buckets * 2 : 1024;
    struct intern_node **buckets = calloc(n, sizeof *buckets);

    if (!buckets)
        return table.n_buckets ? 0 : -1;
    if (!table.n_buckets && getrandom(&table.seed, sizeof table.seed, GRND_NONBLOCK) < 0)
        table.seed = (uintptr_t)buckets;
    for (size_t i = 0; i < table.n_buckets; i++) {
        for (struct intern_node *p = table.buckets[i], *next; p; p = next) {
            next = p->next;
            p->next = buckets[p->hash & (n - 1)];
            buckets[p->hash & (n - 1)] = p;
        }
    }
    free(table.buckets);
    table.buckets = buckets;
    table.n_buckets = n;
    return 0;
}

static struct intern_node *intern_add(const char *bytes, size_t n, uint32_t hash)
{
    struct intern_node *p = n < UINT32_MAX ? malloc(sizeof *p + n + 1) : NULL;
    struct intern_node **bucket = &table.buckets[hash & (table.n_buckets - 1)];

    if (!p)
        return NULL;
    *p = (struct intern_node){.next = *bucket, .hash = hash, .len = (uint32_t)n};
    memcpy(p->text, bytes, n);
    p->text[n] = '\0';
    *bucket = p;
    table.count++;
    table.bytes += sizeof *p + n + 1;
    return p;
}

const char *intern_ref_bytes(const char *bytes, size_t n)
{
    struct intern_node *p;
    uint32_t hash;

    if (table.count >= table.n_buckets && intern_grow() < 0)
        return NULL;
    hash = hash_of(bytes, n);
    for (p = table.buckets[hash & (table.n_buckets - 1)]; p; p = p->next)
        if (p->hash == hash && p->len == n && !memcmp(p->text, bytes, n))
            break;
    if (!p)
        p = intern_add(bytes, n, hash);
    if (!p)
        return NULL;
    p->refs++;
    return p->text;
}

const char *intern_ref(const char *text)
{
    return text ? intern_ref_bytes(text, strlen(text)) : NULL;
}

const char *intern_again(const char *interned)
{
    if (interned)
        node_of(interned)->refs++;
    return interned;
}

/* No text is left: nothing is lost, and a test that looks for leaks sees none. */
static void drop_table(void)
{
    free(table.buckets);
    table.buckets = NULL;
    table.n_buckets = 0;
}

void intern_unref(const char *interned)
{
    struct intern_node *p, **at;

    if (!interned)
        return;
    p = node_of(interned);
    assert(p->refs);
    if (--p->refs)
        return;
    for (at = &table.buckets[p->hash & (table.n_buckets - 1)]; *at != p; at = &(*at)->next)
        assert(*at);
    *at = p->next;
    table.count--;
    table.bytes -= sizeof *p + p->len + 1;
    free(p);
    if (!table.count)
        drop_table();
}

size_t intern_count(void)
{
    return table.count;
}

size_t intern_bytes(void)
{
    return table.bytes + table.n_buckets * sizeof *table.buckets;
}
