/* Messages on their way to the mail program. See mailer.h.
 *
 * One struct for each message, from the call to the end of its program: it waits in a list, then it is at
 * work. Messages leave in order; a full queue drops the newest, since what is older may explain it.
 *
 * The program is looked up and checked each time (trusted_program), so one that was replaced by an untrusted file is not started. A
 * program that cannot be started is logged once until one starts again; its message is lost, and so are messages for which there is
 * no memory. An exit code other than 0 is logged for each message. Nothing of this reaches the caller.
 *
 * At the end of the server what waits is dropped, and programs at work are left to themselves: they have their text already. */
#include "mailer.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "log.h"
#include "loop.h"
#include "spawn.h"
#include "trusted.h"
#include "words.h"

enum { MS_PER_S = 1000 };

struct mailer_message { /* owned by one of the two lists of its mailer */
    struct mailer *m;
    struct mailer_message *next;
    struct words argv;        /* program -f FROM TO... */
    char *text, *about;       /* both owned; about: for the log */
    struct spawn *process;    /* NULL while it waits */
    struct loop_timer *limit; /* when the program is killed */
};

struct mailer {
    struct loop *loop;
    struct mailer_message *first, *last; /* waiting */
    struct mailer_message *busy;         /* at work */
    size_t n_waiting, n_busy;
    bool refused; /* the program could not be started the last time: logged once */
};

struct mailer *mailer_create(struct loop *l)
{
    struct mailer *m = calloc(1, sizeof *m);

    if (m)
        m->loop = l;
    return m;
}

static void message_free(struct mailer_message *x)
{
    loop_timer_destroy(x->limit);
    words_fini(&x->argv);
    free(x->text);
    free(x->about);
    free(x);
}

void mailer_destroy(struct mailer *m)
{
    struct mailer_message *x;

    if (!m)
        return;
    while ((x = m->first)) {
        m->first = x->next;
        message_free(x);
    }
    while ((x = m->busy)) {
        m->busy = x->next;
        spawn_leave(x->process);
        message_free(x);
    }
    free(m);
}

static void start_next(struct mailer *m);

static void unlink_busy(struct mailer_message *x)
{
    struct mailer_message **at = &x->m->busy;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    x->m->n_busy--;
}

static void mailer_on_end(void *arg, int status)
{
    struct mailer_message *x = arg;
    struct mailer *m = x->m;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        log_event(LOGC_SVR, LOGE_ADMIN, x->about, "mail by %s was not taken: %s %d", x->argv.w[0],
                  WIFEXITED(status) ? "exit code" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    unlink_busy(x);
    spawn_destroy(x->process);
    message_free(x);
    start_next(m);
}

static void mailer_on_limit(void *arg)
{
    struct mailer_message *x = arg;

    spawn_signal_group(x->process, SIGKILL);
}

static void mailer_refuse(struct mailer *m, struct mailer_message *x, const struct err *e)
{
    if (!m->refused)
        log_err(LOGC_SVR, x->about, e, "mail cannot be sent by %s (attribute mailer of the server)",
                x->argv.w[0]);
    m->refused = true;
    message_free(x);
}

static void mailer_start(struct mailer *m, struct mailer_message *x)
{
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LC_ALL=C", *envp[] = {path, lang, NULL};
    char real[PATH_MAX];
    const struct spawn_options o = {.path = real,
                                    .argv = x->argv.w,
                                    .envp = envp,
                                    .cwd = "/",
                                    .input = x->text,
                                    .input_len = strlen(x->text),
                                    .new_session = true};
    struct err e = {0};

    x->limit = loop_timer_create(m->loop, LOOP_REAL, mailer_on_limit, x);
    if (x->limit && trusted_program(x->argv.w[0], real, &e) == 0)
        x->process = spawn_start(m->loop, &o, mailer_on_end, x, &e);
    if (!x->process) {
        mailer_refuse(m, x, &e);
        return;
    }
    m->refused = false;
    loop_timer_set(x->limit, MAILER_LIMIT_S * MS_PER_S);
    x->next = m->busy;
    m->busy = x;
    m->n_busy++;
}

static void start_next(struct mailer *m)
{
    while (m->first && m->n_busy < MAILER_AT_ONCE) {
        struct mailer_message *x = m->first;

        m->first = x->next;
        if (!m->first)
            m->last = NULL;
        m->n_waiting--;
        mailer_start(m, x);
    }
}

/* -1: no address is left, or no memory. An address that begins with - would be an option of the program. */
static int mailer_fill(struct mailer_message *x, const char *program, const char *from, char *const to[],
                       size_t n_to)
{
    size_t n = 0;

    if (words_add(&x->argv, program, NULL) < 0 || words_add(&x->argv, "-f", NULL) < 0 ||
        words_add(&x->argv, from, NULL) < 0)
        return -1;
    for (size_t i = 0; i < n_to; i++)
        if (to[i][0] && to[i][0] != '-' && words_add(&x->argv, to[i], NULL) == 0)
            n++;
    return n ? 0 : -1;
}

void mailer_send(struct mailer *m, const char *program, const char *from, char *const to[], size_t n_to,
                 const char *text, const char *about)
{
    struct mailer_message *x;

    if (m->n_waiting >= MAILER_QUEUE_MAX) {
        log_event(LOGC_SVR, LOGE_ADMIN, about, "mail is dropped: %d messages are waiting for %s",
                  MAILER_QUEUE_MAX, program);
        return;
    }
    x = calloc(1, sizeof *x);
    if (!x)
        return;
    x->m = m;
    words_init(&x->argv);
    x->text = strdup(text);
    x->about = strdup(about);
    if (!x->text || !x->about || from[0] == '-' || mailer_fill(x, program, from, to, n_to) < 0) {
        message_free(x);
        return;
    }
    if (m->last)
        m->last->next = x;
    else
        m->first = x;
    m->last = x;
    m->n_waiting++;
    start_next(m);
}
