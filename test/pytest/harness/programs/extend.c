/* Errors and extend strings, as a program written for PBS uses them: prints a line for each thing that it tries.
 * Its arguments: a running job, an array of three indices that are queued, the name of a queue. */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int a, b;

static void say(const char *what, long n)
{
    printf("%s %ld\n", what, n);
}

static long count(struct batch_status *list)
{
    long n = 0;

    for (struct batch_status *s = list; s; s = s->next)
        n++;
    pbs_statfree(list);
    return n;
}

static long count_names(char **names)
{
    long n = 0;

    while (names && names[n])
        n++;
    free(names);
    return n;
}

/* Each connection has the text of its own last error, whatever goes well on another. */
static void texts(void)
{
    char nothing[] = "none";

    pbs_statfree(pbs_statjob(a, "999999", NULL, NULL));
    say("job", pbs_errno);
    pbs_statfree(pbs_statque(b, nothing, NULL, NULL));
    say("queue", pbs_errno);
    printf("%s|%s\n", pbs_geterrmsg(a), pbs_geterrmsg(b));
    pbs_statfree(pbs_statserver(a, NULL, NULL));
    printf("%d %s\n", pbs_errno, pbs_geterrmsg(b));
}

/* What was wrong with which attribute. */
static void attributes(char *job)
{
    static char priority[] = ATTR_p, much[] = "much", unknown[] = "unheard", value[] = "1";
    struct attrl second = {.name = unknown, .value = value},
                 first = {.next = &second, .name = priority, .value = much};
    struct ecl_attribute_errors *e;

    say("alter", pbs_alterjob(a, job, &first, NULL) != 0);
    e = pbs_get_attributes_in_error(a);
    for (int i = 0; e && i < e->ecl_numerrors; i++)
        printf("%s %d\n", e->ecl_attrerr[i].ecl_attribute->name, e->ecl_attrerr[i].ecl_errcode);
    pbs_statfree(pbs_statserver(a, NULL, NULL));
    e = pbs_get_attributes_in_error(a);
    say("after", e ? e->ecl_numerrors : 0);
}

static void lists(char *job, char *array, char *queue)
{
    char *ids[] = {job, "888888", array};
    struct batch_deljob_status *bad;

    say("all", count(pbs_statjob(a, NULL, NULL, NULL)));
    say("all t", count(pbs_statjob(a, NULL, NULL, "t")));
    say("queue t", count(pbs_statjob(a, queue, NULL, "t")));
    say("select", count_names(pbs_selectjob(a, NULL, NULL)));
    say("select T", count_names(pbs_selectjob(a, NULL, "T")));
    bad = pbs_deljoblist(a, ids, 3, "force");
    for (struct batch_deljob_status *s = bad; s; s = s->next)
        printf("%s %d\n", s->name, s->code);
    pbs_delstatfree(bad);
}

int main(int argc, char *argv[])
{
    if (argc < 4)
        return 2;
    a = pbs_connect(NULL);
    b = pbs_connect(NULL);
    texts();
    attributes(argv[1]);
    lists(argv[1], argv[2], argv[3]);
    return pbs_disconnect(a) || pbs_disconnect(b);
}
