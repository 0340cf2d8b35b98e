/* PMIx_Query of "pbs.preempt.policy". helper_policy_ask notes the question and starts `pbs_preempt --policy -F json`; the loop reads its output
 * (helper_policy_turn), and all who have asked by then get the same answer. The command is a child, since it speaks to the server and
 * may wait, and the helper must not. At most one runs.
 *
 * Nothing is kept after an answer: the policy may change. An answer that is not JSON, is too long, or names no queue is
 * PMIX_ERR_UNREACH. */
#include "helper_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "helper.h"
#include "helper_reply.h"
#include "json_read.h"
#include "byte_buf.h"

extern char **environ;

/* TEXT_MAX: the policy of a queue and its scheduler is some kilobytes. FACTS: members of the answer. */
enum { TEXT_MAX = 1 << 20, PIECE = 4096, FACTS = 8, PATH_SIZE = PATH_MAX + 32 };

struct helper_policy {
    struct asking {
        struct asking *next;
        pmix_info_cbfunc_t done;
        void *done_arg;
    } * first;
    int fd;
    pid_t pid;
    struct byte_buf text;
};

static struct helper_policy *policy_get(struct helper *h)
{
    if (!h->policy && (h->policy = calloc(1, sizeof *h->policy))) {
        h->policy->fd = -1;
        byte_buf_init(&h->policy->text);
    }
    return h->policy;
}

/* ---- the answer */
struct policy_answer {
    pmix_info_t *info;
};

static void policy_release(void *arg)
{
    struct policy_answer *a = arg;

    PMIX_INFO_FREE(a->info, 1);
    free(a);
}

/* "00:01:30" or "90" */
static uint32_t policy_seconds(const char *text)
{
    unsigned long total = 0;

    while (text && *text) {
        char *end;

        total = total * 60 + strtoul(text, &end, 10);
        if (*end != ':')
            break;
        text = end + 1;
    }
    return (uint32_t)total;
}

static const char *policy_text(const json_t *o, const char *name)
{
    const char *t = json_string_value(json_object_get(o, name));

    return t ? t : "";
}

/* A queue's own value before that of its scheduler. */
static const char *policy_own(const json_t *queue, const json_t *sched, const char *name)
{
    const char *t = policy_text(queue, name);

    return *t ? t : policy_text(sched, name);
}

/* As preempt_order has it: "SCR 50 R" */
static bool policy_order(const json_t *steps, char *out, size_t size)
{
    bool in_memory = false;
    size_t i, k, at = 0;
    json_t *step, *m;

    json_array_foreach(steps, i, step)
    {
        if (i)
            at += (size_t)snprintf(out + at, at < size ? size - at : 0, " ");
        json_array_foreach(json_object_get(step, "methods"), k, m)
        {
            at += (size_t)snprintf(out + at, at < size ? size - at : 0, "%s", policy_text(m, "letter"));
            in_memory |= json_is_true(json_object_get(m, "stays_in_memory"));
        }
        if (i + 1 < json_array_size(steps))
            at += (size_t)snprintf(out + at, at < size ? size - at : 0, " %d",
                                   (int)json_integer_value(json_object_get(step, "above_percent_left")));
        if (at >= size)
            break;
    }
    return in_memory;
}

static void policy_u32(pmix_info_t *i, const char *key, uint32_t v)
{
    PMIX_INFO_LOAD(i, key, &v, PMIX_UINT32);
}

static void policy_load(pmix_info_t *out, const json_t *queue, const json_t *sched, const char *document)
{
    const json_t *force = json_object_get(queue, "in_force");
    uint32_t grace = policy_seconds(policy_text(force, "notice"));
    uint32_t most = policy_seconds(policy_text(force, "notice_at_most"));
    char order[256] = "";
    bool in_memory = policy_order(json_object_get(force, "by_time_left"), order, sizeof order);
    bool negotiable = grace && most > grace;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = FACTS};
    pmix_info_t *i;

    PMIX_INFO_CREATE(i, FACTS);
    PMIX_INFO_LOAD(&i[0], "order", order, PMIX_STRING);
    policy_u32(&i[1], "grace_s", grace);
    policy_u32(&i[2], "grace_max_s", most);
    PMIX_INFO_LOAD(&i[3], "negotiable", &negotiable, PMIX_BOOL);
    PMIX_INFO_LOAD(&i[4], "in_memory", &in_memory, PMIX_BOOL);
    policy_u32(&i[5], "limit", (uint32_t)strtoul(policy_own(queue, sched, "preempt_max_count"), NULL, 10));
    policy_u32(&i[6], "exempt_s", policy_seconds(policy_own(queue, sched, "preempt_exempt_time")));
    PMIX_INFO_LOAD(&i[7], "document", document, PMIX_STRING);
    array.array = i;
    PMIX_INFO_LOAD(out, "pbs.preempt.policy", &array, PMIX_DATA_ARRAY); /* a copy */
    PMIX_INFO_FREE(i, FACTS);
}

/* NULL: not a policy. */
static struct policy_answer *policy_answer(const json_t *root, const char *document)
{
    json_t *queues = json_object_get(root, "queue"), *scheds = json_object_get(root, "sched");
    json_t *queue = json_object_iter_value(json_object_iter(queues));
    json_t *sched = json_object_get(scheds, policy_text(json_object_get(queue, "in_force"), "scheduler"));
    struct policy_answer *a = json_object_get(queue, "in_force") ? calloc(1, sizeof *a) : NULL;

    if (!a)
        return NULL;
    PMIX_INFO_CREATE(a->info, 1);
    policy_load(a->info, queue, sched, document);
    return a;
}

static void policy_say(struct helper_policy *p)
{
    json_t *root = NULL;

    if (byte_buf_add(&p->text, "", 1) == 0)
        root = json_read(p->text.bytes, p->text.len - 1, TEXT_MAX + PIECE, NULL);
    while (p->first) {
        struct asking *x = p->first;
        struct policy_answer *a = root ? policy_answer(root, p->text.bytes) : NULL;

        p->first = x->next;
        if (a)
            helper_reply_info(x->done, x->done_arg, PMIX_SUCCESS, a->info, 1, policy_release, a);
        else
            helper_reply_info(x->done, x->done_arg, PMIX_ERR_UNREACH, NULL, 0, NULL, NULL);
        free(x);
    }
    json_decref(root);
    byte_buf_fini(&p->text);
    byte_buf_init(&p->text);
}

/* ---- the command */
/* bin/pbs_preempt beside libexec, where we are. */
static int policy_command(char out[static PATH_SIZE])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX);
    char *slash;
    size_t at;

    if (n <= 0)
        return -1;
    out[n] = '\0';
    for (int up = 0; up < 2; up++)
        if ((slash = strrchr(out, '/')))
            *slash = '\0';
    at = strlen(out);
    snprintf(out + at, PATH_SIZE - at, "/bin/pbs_preempt");
    return 0;
}

static int policy_spawn(struct helper_policy *p, int out)
{
    char path[PATH_SIZE], *queue = getenv("PBS_QUEUE");
    char *argv[] = {path, (char[]){"--policy"}, (char[]){"-F"}, (char[]){"json"}, queue, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    int rc;

    if (policy_command(path) < 0)
        return -1;
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    rc = posix_spawn(&p->pid, path, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return rc ? -1 : 0;
}

static void policy_begin(struct helper_policy *p)
{
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) < 0) {
        policy_say(p);
        return;
    }
    if (policy_spawn(p, pair[1]) < 0) {
        close(pair[0]);
        policy_say(p);
    } else {
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        p->fd = pair[0];
    }
    close(pair[1]);
}

void helper_policy_ask(struct helper *h, pmix_info_cbfunc_t done, void *done_arg)
{
    struct helper_policy *p = policy_get(h);
    struct asking *x = p ? calloc(1, sizeof *x) : NULL;

    if (!x) {
        helper_reply_info(done, done_arg, PMIX_ERR_NOMEM, NULL, 0, NULL, NULL);
        return;
    }
    *x = (struct asking){p->first, done, done_arg};
    p->first = x;
    if (p->fd < 0)
        policy_begin(p);
}

int helper_policy_fd(const struct helper *h)
{
    return h->policy ? h->policy->fd : -1;
}

void helper_policy_turn(struct helper *h)
{
    struct helper_policy *p = h->policy;
    char piece[PIECE];
    ssize_t n = read(p->fd, piece, sizeof piece);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && p->text.len < TEXT_MAX && byte_buf_add(&p->text, piece, (size_t)n) == 0)
        return;
    close(p->fd);
    p->fd = -1;
    if (n > 0)
        kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0); /* it has closed its output: it is at its end */
    policy_say(p);
}
