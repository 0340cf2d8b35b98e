/* Two shapes of jobs. `even`: three of four on one vnode, run times from five minutes to two days spread evenly over their
 * logarithm. `logged`: as the logs of parallel machines show it, in the words of Lublin and Feitelson (The workload on
 * parallel supercomputers, 2003): a quarter on one processor, most others on powers of two, a run time that is one of two
 * gamma distributions of its logarithm, the longer the wider the job. Urgent jobs are narrow and last up to an hour. There
 * is more work than room in `even`, and about as much in `logged`. */
#include "mix.h"

#include <math.h>
#include <stdlib.h>

#include "mem.h"

static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % below;
}

static int log_of(int n)
{
    int log = 0;

    while (n > 1) {
        n /= 2;
        log++;
    }
    return log;
}

/* Of urgent jobs, and of all in `even`. */
static void narrow(const struct mix *x, uint64_t *seed, struct mine *j)
{
    j->chunks = draw(seed, 4) ? 1 : 1 << draw(seed, x->nodes > 8 ? (unsigned)log_of(x->nodes) - 2 : 2);
    j->cores = 1 << draw(seed, (unsigned)log_of(x->cores) + 1);
}

static void even(const struct mix *x, uint64_t *seed, struct mine *j)
{
    j->runs_s = (int64_t)300 << draw(seed, 10);
    j->runs_s += draw(seed, (unsigned)j->runs_s);
    narrow(x, seed, j);
}

/* --- as in logs ------------------------------------------------------------------------------------------ */

static double fraction(uint64_t *seed)
{
    return (draw(seed, 1u << 30) + 0.5) / (1u << 30);
}

static double normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(fraction(seed)));

    return radius * cos(2 * acos(-1) * fraction(seed));
}

/* Marsaglia and Tsang; shape >= 1. */
static double gamma_of(uint64_t *seed, double shape, double scale)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (;;) {
        double n = normal(seed), v = (1 + c * n) * (1 + c * n) * (1 + c * n);
        if (v > 0 && log(fraction(seed)) < n * n / 2 + d - d * v + d * log(v))
            return d * v * scale;
    }
}

static int processors(uint64_t *seed, int most)
{
    double kind = fraction(seed), low = 0.8, high = log2(most), middle = high - 2.5 > low ? high - 2.5 : low;

    if (kind < 0.244)
        return 1;
    double log = fraction(seed) <= 0.86 ? low + fraction(seed) * (middle - low)
                                        : middle + fraction(seed) * (high - middle);
    return (int)(exp2(kind < 0.244 + 0.576 ? round(log) : log) + 0.5);
}

static void logged(const struct mix *x, uint64_t *seed, struct mine *j)
{
    int n = processors(seed, x->nodes * x->cores);
    double is_short = fmax(0, 0.78 - 0.0054 * n), log_s;

    do
        log_s = fraction(seed) <= is_short ? gamma_of(seed, 4.2, 0.94) : gamma_of(seed, 312, 0.03);
    while (log_s > log(2 * 86400));
    j->runs_s = (int64_t)exp(log_s) + 1;
    j->chunks = (n + x->cores - 1) / x->cores;
    j->cores = n < x->cores ? n : x->cores;
}

/* --- all ------------------------------------------------------------------------------------------------- */

const struct mix mixes[] = {
    {"even", 64, 16, 4000, 240, 20, 0, "R", even},
    {"even, one of four can be checkpointed", 64, 16, 4000, 240, 20, 4, "CR", even},
    {"logged", 64, 16, 4000, 400, 20, 0, "R", logged},
    {"logged, one of four can be checkpointed", 64, 16, 4000, 400, 20, 4, "CR", logged},
};
const size_t mixes_n = sizeof mixes / sizeof mixes[0];

const struct mix small_mixes[] = {
    {"even", 4, 4, 40, 5000, 5, 0, "R", even},
    {"logged", 4, 4, 60, 1000, 5, 0, "R", logged},
};
const size_t small_mixes_n = sizeof small_mixes / sizeof small_mixes[0];

struct mine *mix_make(const struct mix *x, uint64_t seed)
{
    struct mine *list = mem_new((size_t)x->jobs, sizeof *list);
    int64_t at_s = MIX_BEGIN_S;

    for (int i = 0; i < x->jobs; i++) {
        struct mine *j = &list[i];
        at_s += draw(&seed, (unsigned)x->gap_s);
        j->submit_s = at_s;
        j->urgent = draw(&seed, (unsigned)x->one_urgent_in) == 0;
        j->saves = x->one_saves_in && draw(&seed, (unsigned)x->one_saves_in) == 0;
        if (j->urgent) {
            j->runs_s = 600 + draw(&seed, 3000);
            narrow(x, &seed, j);
        } else {
            x->shape(x, &seed, j);
        }
    }
    return list;
}
