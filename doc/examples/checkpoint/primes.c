/* primes LAST MICROSECONDS: count the primes below LAST, a number each MICROSECONDS, as a job that saves itself.
 *
 *     cc primes.c -o primes
 *     qsub -W preempt_methods=CR -- $PWD/primes 1000000 100
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LEN = 4096 };

struct state {
    long next, found;
};

static volatile sig_atomic_t asked; /* a handler may do no more than that */

static void ask(int signo)
{
    (void)signo;
    asked = 1;
}

static void name_of(char out[PATH_LEN], const char *name)
{
    const char *dir = getenv("PBS_CHECKPOINT_DIR");

    snprintf(out, PATH_LEN, "%s/%s", dir ? dir : ".", name);
}

static void load(struct state *s)
{
    char path[PATH_LEN];
    FILE *f;

    name_of(path, "state");
    f = fopen(path, "r");
    if (!f)
        return; /* from the beginning */
    if (fscanf(f, "%ld %ld", &s->next, &s->found) != 2) {
        fprintf(stderr, "primes: %s is damaged\n", path);
        exit(1);
    }
    fclose(f);
}

/* A new file, to disk, then its name, then the name's directory: a crash leaves the old state or the new one. */
static int save(const struct state *s)
{
    char new[PATH_LEN], path[PATH_LEN], done[PATH_LEN], text[64];
    int n = snprintf(text, sizeof text, "%ld %ld\n", s->next, s->found), fd;

    name_of(new, "state.new");
    name_of(path, "state");
    name_of(done, "done");
    fd = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return -1;
    if (write(fd, text, (size_t)n) != n || fsync(fd) < 0) {
        close(fd);
        return -1; /* a full disk: the old state stays, no `done` is made, and the checkpoint fails */
    }
    close(fd);
    if (rename(new, path) < 0 || (fd = open(done, O_WRONLY | O_CREAT, 0600)) < 0)
        return -1;
    close(fd);
    return 0;
}

static int is_prime(long n)
{
    if (n < 2)
        return 0;
    for (long d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct sigaction a = {.sa_handler = ask, .sa_flags = SA_RESTART};
    struct state s = {0, 0};
    long last = argc > 1 ? atol(argv[1]) : 100;
    useconds_t pause_us = argc > 2 ? (useconds_t)atol(argv[2]) : 0;

    sigaction(SIGUSR1, &a, NULL);
    for (load(&s); s.next < last; usleep(pause_us)) {
        s.found += is_prime(s.next++);
        if (!asked)
            continue;
        asked = 0;
        if (save(&s) < 0)
            fprintf(stderr, "primes: cannot save: %s\n", strerror(errno));
    }
    printf("%ld\n", s.found);
    return 0;
}
