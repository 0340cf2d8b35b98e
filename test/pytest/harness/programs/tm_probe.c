/* A program written for tm.h alone, as an MPI library would be: does what its arguments say, in order, and prints what comes of
 * it.
 *
 *   nodes | spawn:NODE:COMMAND | obit | kill:SIGNAL | tasks:NODE | resources:NODE | atnode
 *   publish:NAME=VALUE | hoard:COUNT:BYTES (names 0, 1, 2 ...) | subscribe:TASK:NAME | await:FILE (until it is there) | finalize | init
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tm.h"

enum { ROOM = 4096, LIST = 100, AWAIT_US = 20000 };

static tm_task_id last; /* the task spawned last */

static void die(const char *what, int code)
{
    printf("%s failed: %d\n", what, code);
    exit(1);
}

static int finish(const char *what, int code, tm_event_t event)
{
    tm_event_t done;
    int how;

    if (code != TM_SUCCESS)
        die(what, code);
    do
        if ((code = tm_poll(TM_NULL_EVENT, &done, 1, &how)) != TM_SUCCESS)
            die("tm_poll", code);
    while (done != event);
    if (how != TM_SUCCESS)
        printf("%s: error %d\n", what, how);
    return how;
}

static void do_init(void)
{
    struct tm_roots roots;
    int code = tm_init(NULL, &roots);

    if (code != TM_SUCCESS)
        die("tm_init", code);
    printf("task %u of %u, %d nodes\n", roots.tm_me, roots.tm_parent, roots.tm_nnodes);
}

static void do_nodes(void)
{
    tm_node_id *list;
    int n;
    int code = tm_nodeinfo(&list, &n);

    if (code != TM_SUCCESS)
        die("tm_nodeinfo", code);
    printf("nodes");
    for (int i = 0; i < n; i++)
        printf(" %d", list[i]);
    printf("\n");
    free(list);
}

static void do_spawn(char *arg)
{
    char *command = strchr(arg, ':'), sh[] = "/bin/sh", flag[] = "-c", mine[] = "GIVEN=yes";
    char *argv[] = {sh, flag, command + 1, NULL}, *envp[] = {mine, NULL};
    tm_event_t event;
    int code = tm_spawn(3, argv, envp, atoi(arg), &last, &event);

    if (finish("spawn", code, event) == TM_SUCCESS)
        printf("spawned\n");
}

static void do_obit(void)
{
    tm_event_t event;
    int status = -1, code = tm_obit(last, &status, &event);

    if (finish("obit", code, event) == TM_SUCCESS)
        printf("ended %d\n", status);
}

static void do_kill(const char *arg)
{
    tm_event_t event;
    int code = tm_kill(last, atoi(arg), &event);

    if (finish("kill", code, event) == TM_SUCCESS)
        printf("signalled\n");
}

static void do_tasks(const char *arg)
{
    tm_task_id list[LIST];
    tm_event_t event;
    int n = 0, code = tm_taskinfo(atoi(arg), list, LIST, &n, &event);

    if (finish("tasks", code, event) == TM_SUCCESS)
        printf("tasks %d\n", n);
}

static void do_resources(const char *arg)
{
    char text[ROOM];
    tm_event_t event;
    int code = tm_rescinfo(atoi(arg), text, sizeof text, &event);

    if (finish("resources", code, event) == TM_SUCCESS)
        printf("resources %s\n", text);
}

static void do_publish(char *arg)
{
    char *value = strchr(arg, '=');
    tm_event_t event;
    int code;

    *value++ = '\0';
    code = tm_publish(arg, value, (int)strlen(value) + 1, &event);
    if (finish("publish", code, event) == TM_SUCCESS)
        printf("published\n");
}

static void do_hoard(const char *arg)
{
    int count = atoi(arg), bytes = atoi(strchr(arg, ':') + 1), good = 0, how = TM_SUCCESS;
    char *value = calloc(1, (size_t)bytes + 1), name[16];

    for (int i = 0; i < count && value; i++) {
        tm_event_t event, done;
        int code;

        snprintf(name, sizeof name, "%d", i);
        code = tm_publish(name, value, bytes, &event);
        while (code == TM_SUCCESS && (code = tm_poll(TM_NULL_EVENT, &done, 1, &how)) == TM_SUCCESS &&
               done != event)
            ;
        if (code != TM_SUCCESS)
            die("tm_publish", code);
        good += how == TM_SUCCESS;
    }
    printf("hoarded %d of %d, last %d\n", good, count, how);
    free(value);
}

static void do_subscribe(char *arg)
{
    char *name = strchr(arg, ':') + 1, text[ROOM] = "";
    tm_event_t event;
    int amount = 0,
        code = tm_subscribe((tm_task_id)strtoul(arg, NULL, 0), name, text, sizeof text, &amount, &event);

    if (finish("subscribe", code, event) == TM_SUCCESS)
        printf("%s is %s (%d)\n", name, text, amount);
}

static void do_atnode(void)
{
    tm_node_id node = TM_ERROR_NODE;
    int code = tm_atnode(last, &node);

    printf("at node %d (%d)\n", node, code);
}

static void do_await(const char *path)
{
    while (access(path, F_OK) != 0)
        usleep(AWAIT_US);
}

static void perform(char *word)
{
    char *arg = strchr(word, ':');

    if (arg)
        *arg++ = '\0';
    if (!strcmp(word, "init"))
        do_init();
    else if (!strcmp(word, "finalize"))
        printf("finalize %d\n", tm_finalize());
    else if (!strcmp(word, "nodes"))
        do_nodes();
    else if (!strcmp(word, "spawn"))
        do_spawn(arg);
    else if (!strcmp(word, "obit"))
        do_obit();
    else if (!strcmp(word, "kill"))
        do_kill(arg);
    else if (!strcmp(word, "tasks"))
        do_tasks(arg);
    else if (!strcmp(word, "resources"))
        do_resources(arg);
    else if (!strcmp(word, "publish"))
        do_publish(arg);
    else if (!strcmp(word, "hoard"))
        do_hoard(arg);
    else if (!strcmp(word, "subscribe"))
        do_subscribe(arg);
    else if (!strcmp(word, "atnode"))
        do_atnode();
    else if (!strcmp(word, "await"))
        do_await(arg);
    else
        die(word, 0);
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++)
        perform(argv[i]);
    return 0;
}
