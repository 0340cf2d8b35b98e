/* monitor: say what happens to jobs, as it happens, without polling.
 *
 *     cc monitor.c $(pkg-config --cflags --libs pbs) -o monitor
 *
 * A watch begins with everything there is; from then on NEXT waits in the server until something has changed. Who loses
 * the connection connects again and continues with the cursor of the last answer: nothing is missed. */
#include <pbs_error.h>
#include <pbs_ext.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <string.h>

static struct attrl state = {.name = ATTR_state}, comment = {.next = &state, .name = ATTR_comment},
                    name = {.next = &comment, .name = ATTR_N};

static const char *value(const struct attrl *a, const char *wanted)
{
    for (; a; a = a->next)
        if (strcmp(a->name, wanted) == 0)
            return a->value;
    return "";
}

static void changed(const struct pbs_change *ch, void *arg)
{
    (void)arg;
    if (ch->gone)
        printf("%s is gone\n", ch->name);
    else
        printf("%s (%s) is %s: %s\n", ch->name, value(ch->attribs, ATTR_N), value(ch->attribs, ATTR_state),
               value(ch->attribs, ATTR_comment));
    fflush(stdout);
}

int main(void)
{
    const struct pbs_watch_want jobs = {.kind = PBS_KIND_JOB, .attribs = &name};
    const struct pbs_watch_reader reader = {.change = changed};
    struct pbs_news news = {.cursor = {0, 0}};
    unsigned watch;
    int c = pbs_connect(NULL);

    if (c < 0 || pbs_watch(c, &jobs, 1, NULL, &watch) != 0) {
        fprintf(stderr, "monitor: cannot watch (%d)\n", pbs_errno);
        return 1;
    }
    while (pbs_watch_next(c, watch, news.cursor, &reader, &news) == 0)
        ;
    fprintf(stderr, "monitor: %s\n", pbs_geterrmsg(c));
    return 1;
}
