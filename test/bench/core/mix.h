#ifndef MIX_H
#define MIX_H
/* Mixes of jobs, made from a seed: what comes when, how wide and for how long, and who of it is urgent. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MIX_BEGIN_S = 1000000, MIX_PLACES = 64 };

struct mine { /* a job of a mix */
    int64_t submit_s, runs_s;
    int chunks, cores;  /* of a chunk */
    bool urgent, saves; /* it can be checkpointed: C loses nothing of it */

    int64_t start_s, end_s; /* while it runs */
    struct {
        int node, cores;
    } at[MIX_PLACES];
    int n_at;
};

struct mix {
    const char *name;
    int nodes, cores, jobs;          /* of a vnode; in all */
    int gap_s;                       /* the longest between two submissions */
    int one_urgent_in, one_saves_in; /* 0: none */
    const char *order;               /* preempt_order */
    void (*shape)(const struct mix *x, uint64_t *seed,
                  struct mine *j); /* width and run time of an ordinary job */
};

/* All mixes of the bench. In the small ones every choice of victims can be tried out. */
extern const struct mix mixes[], small_mixes[];
extern const size_t mixes_n, small_mixes_n;

/* x->jobs jobs, to be freed. */
struct mine *mix_make(const struct mix *x, uint64_t seed);

#endif
