/* Every call of tm.h and rm.h with places, texts and lists that are none. It prints the name of a call and what it returned, and then the
 * code of each event in the order in which they were asked for. In a job or outside of one. */
#include <rm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tm.h>

enum { HUGE_TEXT = 3000000, NO_TASK = 12345, NO_NODE = 999 };

#define SAY(call) said(#call, (long)(call))

static char *huge, program[] = "/bin/true", x[] = "x", empty[] = "";
static char *argv_true[] = {program, NULL}, *argv_none[] = {NULL}, *argv_empty[] = {empty, NULL},
            *argv_huge[] = {NULL, NULL};
static tm_event_t event;
static tm_task_id task;
static int n;

static void said(const char *call, long result)
{
    printf("%.*s %ld\n", (int)strcspn(call, "("), call, result);
    fflush(stdout);
}

static void local(void)
{
    tm_node_id node;
    tm_node_id *nodes = NULL;

    SAY(tm_nodeinfo(NULL, NULL));
    SAY(tm_nodeinfo(&nodes, NULL));
    SAY(tm_atnode(0, NULL));
    SAY(tm_atnode(NO_TASK, &node));
    SAY(tm_poll(TM_NULL_EVENT, NULL, 0, NULL));
}

static void without_a_place(void)
{
    SAY(tm_spawn(1, argv_true, NULL, 0, &task, NULL));
    SAY(tm_kill(0, 9, NULL));
    SAY(tm_obit(0, &n, NULL));
    SAY(tm_taskinfo(0, &task, 1, &n, NULL));
    SAY(tm_rescinfo(0, huge, 10, NULL));
    SAY(tm_publish(x, x, 1, NULL));
    SAY(tm_subscribe(1, x, huge, 1, &n, NULL));
    SAY(tm_publish(NULL, x, 1, &event));
    SAY(tm_publish(x, NULL, 1, &event));
    SAY(tm_publish(huge, x, 1, &event));
    SAY(tm_subscribe(1, NULL, huge, 3, &n, &event));
}

static void commands(void)
{
    argv_huge[0] = huge;
    SAY(tm_spawn(0, NULL, NULL, 0, &task, &event));
    SAY(tm_spawn(1, NULL, NULL, 0, &task, &event));
    SAY(tm_spawn(1, argv_none, NULL, 0, &task, &event));
    SAY(tm_spawn(2, argv_true, NULL, 0, &task, &event));
    SAY(tm_spawn(-1, argv_true, NULL, 0, &task, &event));
    SAY(tm_spawn(1, argv_empty, NULL, 0, &task, &event));
    SAY(tm_spawn(1, argv_true, NULL, NO_NODE, &task, &event));
    SAY(tm_spawn(1, argv_huge, NULL, 0, &task, &event));
}

/* Those that are asked: their events say what has become of them. */
static void asked(void)
{
    SAY(tm_kill(NO_TASK, 9, &event));
    SAY(tm_obit(NO_TASK, NULL, &event));
    SAY(tm_taskinfo(0, NULL, 5, NULL, &event));
    SAY(tm_taskinfo(NO_NODE, &task, 1, &n, &event));
    SAY(tm_rescinfo(0, NULL, 10, &event));
    SAY(tm_publish(x, x, -1, &event));
    SAY(tm_subscribe(1, x, NULL, 3, NULL, &event));
    SAY(tm_spawn(1, argv_true, NULL, 0, NULL, &event));
}

static void events(int wanted)
{
    int code[100] = {0};
    tm_event_t got = TM_NULL_EVENT;
    int of, first = event - wanted + 1;

    for (int i = 0; i < wanted && tm_poll(TM_NULL_EVENT, &got, 1, &of) == TM_SUCCESS; i++)
        if (got >= first && got < first + 100)
            code[got - first] = of;
    for (int i = 0; i < wanted; i++)
        printf("event %d\n", code[i]);
}

static void monitor(void)
{
    SAY(openrm(NULL, 0));
    SAY(openrm(empty, 1));
    SAY(openrm(huge, 0));
    SAY(closerm(-1));
    SAY(downrm(NO_NODE));
    SAY(configrm(-1, NULL));
    SAY(addreq(-1, NULL));
    SAY(addreq(0, huge));
    SAY(allreq(NULL));
    SAY(getreq(-1));
    SAY(flushreq());
    SAY(activereq());
    fullresp(7);
}

int main(void)
{
    int in_job;

    huge = calloc(1, HUGE_TEXT + 1);
    if (!huge)
        return 1;
    memset(huge, 'a', HUGE_TEXT);
    in_job = tm_init(NULL, NULL) == TM_SUCCESS;
    local();
    without_a_place();
    commands();
    asked();
    if (in_job)
        events(8);
    SAY(tm_attach(NULL, NULL, 0, NULL, NULL, 0));
    SAY(tm_attach(huge, NULL, 1, NULL, NULL, 0));
    SAY(tm_finalize());
    SAY(tm_finalize());
    monitor();
    return 0;
}
