/* Hashes of jobs by key and by token. See job_index.h.
 *
 * Chains run through the jobs themselves (next_in), so a job costs no further block. The seed is random: a
 * client chooses its tokens, and must not be able to choose a bucket. Buckets double in one step and never
 * shrink: a server that once had a million jobs may have them again. */
#include "job_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { BUCKETS_FIRST = 1024 }; /* a choice: 8 KB, enough for a small site */

/* Multiply and shift, with odd constants that are known to mix well (2^64 divided by the golden ratio; the finalizer of
 * MurmurHash3). */
static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t h = (seed ^ a) * 0x9e3779b97f4a7c15u;

    h = (h ^ (h >> 32) ^ b) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    return h * 0xc4ceb9fe1a85ec53u >> 16;
}

static uint64_t hash_key(const struct job_index *x, struct job_key key)
{
    return mix(x->seed, (uint64_t)key.seq, (uint64_t)key.index);
}

static uint64_t hash_token(const struct job_index *x, const unsigned char *token)
{
    uint64_t half[2];

    static_assert(sizeof half == JOB_TOKEN_SIZE, "a token is two words");
    memcpy(half, token, sizeof half);
    return mix(x->seed, half[0], half[1]);
}

static struct job **bucket_of(const struct job_index *x, const struct job *j)
{
    uint64_t hash = x->of == JOB_BY_KEY ? hash_key(x, j->key) : hash_token(x, j->token);

    return &x->buckets[hash & (x->n_buckets - 1)];
}

void job_index_init(struct job_index *x, enum job_index_of of)
{
    *x = (struct job_index){.of = of};
    if (getrandom(&x->seed, sizeof x->seed, GRND_NONBLOCK) != (ssize_t)sizeof x->seed)
        x->seed = (uintptr_t)x;
}

void job_index_fini(struct job_index *x)
{
    free(x->buckets);
    x->buckets = NULL;
    x->n_buckets = x->n_jobs = 0;
}

static void push(struct job_index *x, struct job *j)
{
    struct job **bucket = bucket_of(x, j);

    j->next_in[x->of] = *bucket;
    *bucket = j;
}

/* Twice the buckets. Without memory the chains just get longer, but the first ones must be there. */
static int grow(struct job_index *x)
{
    struct job **old = x->buckets;
    size_t n_old = x->n_buckets, n = n_old ? n_old * 2 : BUCKETS_FIRST;
    struct job **buckets = calloc(n, sizeof(struct job *));

    if (!buckets)
        return n_old ? 0 : -1;
    x->buckets = buckets;
    x->n_buckets = n;
    for (size_t i = 0; i < n_old; i++) {
        for (struct job *j = old[i], *next; j; j = next) {
            next = j->next_in[x->of];
            push(x, j);
        }
    }
    free(old);
    return 0;
}

int job_index_add(struct job_index *x, struct job *j)
{
    if (x->n_jobs >= x->n_buckets && grow(x) < 0)
        return -1;
    push(x, j);
    x->n_jobs++;
    return 0;
}

void job_index_remove(struct job_index *x, struct job *j)
{
    struct job **at = bucket_of(x, j);

    for (; *at != j; at = &(*at)->next_in[x->of])
        assert(*at);
    *at = j->next_in[x->of];
    j->next_in[x->of] = NULL;
    x->n_jobs--;
}

struct job *job_index_find_key(const struct job_index *x, struct job_key key)
{
    struct job *j = x->n_jobs ? x->buckets[hash_key(x, key) & (x->n_buckets - 1)] : NULL;

    while (j && (j->key.seq != key.seq || j->key.index != key.index))
        j = j->next_in[JOB_BY_KEY];
    return j;
}

struct job *job_index_find_token(const struct job_index *x, const unsigned char token[static JOB_TOKEN_SIZE])
{
    struct job *j = x->n_jobs ? x->buckets[hash_token(x, token) & (x->n_buckets - 1)] : NULL;

    while (j && memcmp(j->token, token, JOB_TOKEN_SIZE) != 0)
        j = j->next_in[JOB_BY_TOKEN];
    return j;
}
