/* Failing on purpose: see fault.h. Nothing of it is in an ordinary build. */
#include "fault.h"

#ifdef CEDE_FAULTS

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RULES_MAX = 32 };

struct rule {
    char point[64];
    char what[32];
    unsigned long nth;
    bool all_later;
    unsigned long passes;
};

/* Read from the environment once; counts passes. Test build only, so a global is acceptable. */
static struct {
    pthread_mutex_t lock;
    bool read;
    size_t n;
    struct rule rules[RULES_MAX];
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* "point[:nth[+]]=what"; a rule that cannot be read must not pass for a test that passed. */
static void read_rule(const char *text, size_t n)
{
    struct rule *r = &faults.rules[faults.n];
    char copy[160], nth[32] = "";

    if (n >= sizeof copy || faults.n == RULES_MAX)
        abort();
    memcpy(copy, text, n);
    copy[n] = '\0';
    r->nth = 1;
    if (sscanf(copy, "%63[^:=]:%31[^=]=%31s", r->point, nth, r->what) == 3)
        r->nth = strtoul(nth, NULL, 10);
    else if (sscanf(copy, "%63[^:=]=%31s", r->point, r->what) != 2)
        abort();
    r->all_later = strchr(nth, '+') != NULL;
    faults.n++;
}

static void read_rules(void)
{
    const char *text = getenv("CEDE_FAULT");

    faults.read = true;
    while (text && *text) {
        size_t n = strcspn(text, ",");

        if (n)
            read_rule(text, n);
        text += n + (text[n] == ',');
    }
}

static int errno_of(const char *what)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {
        {"EIO", EIO},       {"ENOSPC", ENOSPC},         {"ENOMEM", ENOMEM},       {"EPIPE", EPIPE},
        {"EAGAIN", EAGAIN}, {"ECONNRESET", ECONNRESET}, {"ETIMEDOUT", ETIMEDOUT}, {"EACCES", EACCES}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, what))
            return names[i].number;
    return atoi(what);
}

static int fail_as(const char *what)
{
    long ms;

    if (!strcmp(what, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(what, "exit"))
        _exit(3);
    if (sscanf(what, "sleep:%ld", &ms) == 1) {
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};

        nanosleep(&t, NULL);
        return 0;
    }
    return errno_of(what);
}

int fault_at(const char *point)
{
    char what[32] = "";

    pthread_mutex_lock(&faults.lock);
    if (!faults.read)
        read_rules();
    for (size_t i = 0; i < faults.n && !*what; i++) {
        struct rule *r = &faults.rules[i];

        if (strcmp(r->point, point))
            continue;
        r->passes++;
        if (r->passes == r->nth || (r->all_later && r->passes > r->nth))
            memcpy(what, r->what, sizeof what);
    }
    pthread_mutex_unlock(&faults.lock);
    return *what ? fail_as(what) : 0;
}

#else

extern int fault_is_compiled_out; /* an empty file is no C */

#endif
