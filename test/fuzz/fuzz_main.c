/* fuzz [-n RUNS] [-s SEED] [NAME...]: random input for every entry, or for those named.
 *
 * Everything follows from the seed, so what was found is found again: the last line before a crash names the entry, and
 * `fuzz -s SEED NAME` comes to the same input. Runs are counted, not timed. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { RUNS = 1000, INPUT_MAX = 4096, SEEDS_MAX = 512, CHANGES_MAX = 6 };

static const struct fuzz *const tables[] = {fuzz_base, fuzz_spec, fuzz_def, fuzz_wire, fuzz_files};

struct input {
    char bytes[INPUT_MAX + 1];
    size_t n;
};

/* For the signal handler: what was under way. */
static struct {
    const char *entry;
    unsigned long run, seed;
    const struct input *input;
} now;

/* Seeds of the entry under way: its own, and those it makes. */
static struct input seeds[SEEDS_MAX];
static size_t n_seeds;

/* --- chance -------------------------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next(void) /* xorshift64*, Vigna 2016 */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717ull;
}

static size_t below(size_t n)
{
    return n ? (size_t)(next() % n) : 0;
}

/* The same for one entry, whichever others are run beside it. */
static void begin_chance(unsigned long seed, const char *name)
{
    state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (; *name; name++)
        state = (state ^ (unsigned char)*name) * 1099511628211ull;
    state = state ? state : 1;
}

/* --- inputs -------------------------------------------------------------------------------------------- */

static void add_seed(const char *bytes, size_t n)
{
    struct input *s = &seeds[n_seeds];

    if (n_seeds == SEEDS_MAX || n > INPUT_MAX)
        return;
    memcpy(s->bytes, bytes, n);
    s->n = n;
    n_seeds++;
}

static void insert(struct input *i, size_t at, const char *bytes, size_t n)
{
    if (i->n + n > INPUT_MAX)
        return;
    memmove(i->bytes + at + n, i->bytes + at, i->n - at);
    memcpy(i->bytes + at, bytes, n);
    i->n += n;
}

static void remove_some(struct input *i)
{
    size_t at = below(i->n), n = below(i->n - at) + 1;

    memmove(i->bytes + at, i->bytes + at + n, i->n - at - n);
    i->n -= n;
}

/* Numbers and marks on which parsers stumble. */
static void insert_token(struct input *i)
{
    static const char *const tokens[] = {"0",
                                         "-1",
                                         "4294967295",
                                         "9223372036854775807",
                                         "18446744073709551616",
                                         "=",
                                         "+",
                                         ":",
                                         ",",
                                         "-",
                                         "[",
                                         "]",
                                         "(",
                                         ")",
                                         "@",
                                         ".",
                                         "\"",
                                         "'",
                                         "\\",
                                         "\n",
                                         "\r",
                                         " ",
                                         "#",
                                         "%",
                                         "ncpus=",
                                         "mem=1gb"};
    const char *token = tokens[below(sizeof tokens / sizeof tokens[0])];

    insert(i, below(i->n + 1), token, strlen(token));
}

static void splice(struct input *i)
{
    const struct input *other = &seeds[below(n_seeds)];
    size_t from = below(other->n + 1);

    insert(i, below(i->n + 1), other->bytes + from, below(other->n - from + 1));
}

static void change(struct input *i)
{
    char byte = (char)next();

    switch (below(7)) {
    case 0:
        insert(i, below(i->n + 1), &byte, 1);
        break;
    case 1:
        insert_token(i);
        break;
    case 2:
        splice(i);
        break;
    case 3:
        if (i->n)
            remove_some(i);
        break;
    case 4:
        if (i->n)
            i->bytes[below(i->n)] = byte;
        break;
    case 5:
        if (i->n)
            i->bytes[below(i->n)] ^= (char)(1 << below(8));
        break;
    case 6: /* a word of four bytes: lengths and kinds of XDR */
        if (i->n >= 4)
            memcpy(i->bytes + below(i->n / 4) * 4, (const uint32_t[]){(uint32_t)(next() >> below(64))}, 4);
        break;
    }
}

static void make_input(struct input *i)
{
    size_t changes = below(CHANGES_MAX);

    i->n = 0;
    if (n_seeds)
        *i = seeds[below(n_seeds)];
    while (changes--)
        change(i);
    i->bytes[i->n] = '\0';
}

/* --- running ------------------------------------------------------------------------------------------- */

/* Only what may be called in a handler. */
static void say_where(void)
{
    static const char hex[] = "0123456789abcdef";
    char line[INPUT_MAX * 2 + 1];
    size_t n = now.input ? now.input->n : 0;

    for (size_t i = 0; i < n; i++) {
        line[2 * i] = hex[(unsigned char)now.input->bytes[i] >> 4];
        line[2 * i + 1] = hex[(unsigned char)now.input->bytes[i] & 15];
    }
    line[2 * n] = '\n';
    if (write(STDERR_FILENO, "fuzz: in ", 9) < 0 || write(STDERR_FILENO, now.entry, strlen(now.entry)) < 0 ||
        write(STDERR_FILENO, ", input ", 8) < 0 || write(STDERR_FILENO, line, 2 * n + 1) < 0)
        _exit(2);
}

static void on_crash(int signo)
{
    say_where();
    signal(signo, SIG_DFL);
    raise(signo);
}

/* The sanitizers end the process without a signal. */
void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

static void catch_crashes(void)
{
    static const int signals[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    size_t n = sizeof signals / sizeof signals[0];

    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(say_where);
        n = 2; /* they have handlers of their own for the rest */
    }
    for (size_t i = 0; i < n; i++)
        signal(signals[i], on_crash);
}

static void run(const struct fuzz *f, unsigned long runs, unsigned long seed)
{
    struct input *i = calloc(1, sizeof *i);

    if (!i)
        abort();
    begin_chance(seed, f->name);
    n_seeds = 0;
    for (size_t k = 0; k < f->n_seeds; k++)
        add_seed(f->seeds[k].bytes, f->seeds[k].n);
    if (f->make_seeds)
        f->make_seeds(add_seed);
    now.entry = f->name;
    now.input = i;
    for (now.run = 0; now.run < runs; now.run++) {
        make_input(i);
        alarm(30); /* an input that keeps a parser busy for so long is found, too */
        f->take(i->bytes, i->n);
    }
    alarm(0);
    now.input = NULL;
    free(i);
}

static bool is_named(const char *name, int n, char *names[])
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return n == 0;
}

int main(int argc, char *argv[])
{
    unsigned long runs = RUNS, seed = 1, done = 0;
    int option;

    while ((option = getopt(argc, argv, "n:s:")) != -1)
        if (option == 'n')
            runs = strtoul(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoul(optarg, NULL, 10);
        else
            return 2;
    catch_crashes();
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct fuzz *f = tables[t]; f->name; f++)
            if (is_named(f->name, argc - optind, argv + optind)) {
                run(f, runs, seed);
                done++;
            }
    printf("%lu entries, %lu inputs each\n", done, runs);
    return done ? 0 : 2;
}
