/* One alert at a time, known by its id (JOB.RUN.ATTEMPT). Each program that has declared or answered something takes part: the
 * job is ready when all of them here are ready or have left; one that needs time, offers hosts or declines speaks for the job at
 * once. The shepherd keeps one answer on its way, so of several that need time the longest is said.
 *
 * What the server decides comes back as a new text of the notice: `answer=`, a later deadline, or its withdrawal. The callbacks of
 * those who wait for it are called then. */
#include "helper_talk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper.h"
#include "helper_link.h"
#include "helper_policy.h"
#include "helper_reply.h"
#include "rpc_buf.h"
#include "tm_.h"

/* ALERT_INFO: members of an alert. NAME_SIZE: of a method, and of what names jobs and hosts here. */
enum { ALERT_INFO = 9, NAME_SIZE = 64, LINE_SIZE = 4096 };

struct program { /* one client, from its connection to its end */
    struct program *next;
    pmix_proc_t proc;
    bool takes_part, by_event, can_save;
    uint32_t need_s;
    unsigned alerted; /* the attempt that it has been told of */
    unsigned ready,
        saved;  /* the attempt that it has answered so; saved: also of what the host has asked for */
    bool asked; /* for a checkpoint, and has not reported */
};

struct waiting { /* an answer whose result is not known yet */
    struct waiting *next;
    bool offer;
    pmix_info_cbfunc_t done;
    void *done_arg;
};

struct helper_talk {
    unsigned run, attempt; /* 0: no notice */
    char method[NAME_SIZE], urgent[TALK_TEXT_MAX], answer[TALK_TEXT_MAX], why[TALK_TEXT_MAX];
    char wanted[LINE_SIZE];
    double deadline, latest;
    int64_t need_until; /* the latest moment that a program has asked for */
    bool said_ready;
    time_t told_s; /* when the present notice came */
    struct program *programs;
    struct waiting *waiting;
    bool declared, party; /* to the server: the programs save themselves; some take part */
    uint32_t declared_s;
    bool checkpoint; /* the host waits for programs to save themselves */
};

struct helper_talk *helper_talk_create(unsigned run)
{
    struct helper_talk *t = calloc(1, sizeof *t);

    if (t)
        t->run = run;
    return t;
}

bool helper_talk_has_event(const struct helper *h)
{
    for (const struct program *p = h->talk->programs; p; p = p->next)
        if (p->by_event)
            return true;
    return false;
}

/* ---- what was said */
static void talk_text(char *out, size_t size, const pmix_info_t *i)
{
    if (i->value.type == PMIX_STRING && i->value.data.string)
        snprintf(out, size, "%s", i->value.data.string);
}

static long talk_number(const pmix_info_t *i)
{
    long n = 0;
    pmix_status_t rc;

    PMIX_VALUE_GET_NUMBER(rc, &i->value, n, long);
    return rc == PMIX_SUCCESS && n > 0 ? n : 0;
}

static bool talk_is_true(const pmix_info_t *i)
{
    return PMIX_INFO_TRUE(i);
}

/* The key of the signal is that of the time too, up to version 6.1. So the number is a signal only where no event is wanted, and a
 * time only where one is. */
static void talk_read_number(struct helper_talk_wish *w, long shared)
{
    if (!shared)
        return;
    w->declares = true;
    if (!w->by_event)
        w->signal = (int)shared;
    else if (!w->need_s)
        w->need_s = (uint32_t)shared;
}

void helper_talk_read(struct helper_talk_wish *w, const pmix_info_t info[], size_t n)
{
    long shared = 0;

    for (size_t k = 0; k < n; k++) {
        const pmix_info_t *i = &info[k];

        if (PMIX_CHECK_KEY(i, PMIX_JOB_CTRL_ID) || PMIX_CHECK_KEY(i, PMIX_ALLOC_REQ_ID))
            talk_text(w->id, sizeof w->id, i);
        else if (PMIX_CHECK_KEY(i, "pbs.preempt.reply"))
            talk_text(w->reply, sizeof w->reply, i);
        else if (PMIX_CHECK_KEY(i, PMIX_ALLOC_NODE_LIST))
            talk_text(w->nodes, sizeof w->nodes, i);
        else if (PMIX_CHECK_KEY(i, "pbs.ckpt.path"))
            w->has_path = true;
        else if (PMIX_CHECK_KEY(i, "pbs.preempt.need_s"))
            w->need_s = (uint32_t)talk_number(i);
        else if (PMIX_CHECK_KEY(i, PMIX_JOB_CTRL_PREEMPTIBLE))
            w->declares = true, w->preemptible = talk_is_true(i);
        else if (PMIX_CHECK_KEY(i, PMIX_JOB_CTRL_CHECKPOINT_EVENT))
            w->declares = true, w->by_event = talk_is_true(i);
        else if (PMIX_CHECK_KEY(i, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL))
            shared = talk_number(i);
        else if (PMIX_CHECK_KEY(
                     i, "pmix.jctrl.ckpttime")) /* PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT after version 6.1 */
            w->need_s = (uint32_t)talk_number(i);
    }
    talk_read_number(w, shared);
    for (char *c = w->nodes; *c; c++)
        if (*c == ',')
            *c = '+';
}

/* ---- programs */
static struct program *program_find(const struct helper_talk *t, const pmix_proc_t *proc)
{
    struct program *p = t->programs;

    while (p && !(p->proc.rank == proc->rank && strcmp(p->proc.nspace, proc->nspace) == 0))
        p = p->next;
    return p;
}

static struct program *program_get(struct helper_talk *t, const pmix_proc_t *proc)
{
    struct program *p = program_find(t, proc);

    if (p || !(p = calloc(1, sizeof *p)))
        return p;
    p->proc = *proc;
    p->next = t->programs;
    t->programs = p;
    return p;
}

/* ---- the alert */
static void alert_id(const struct helper *h, char out[static TALK_TEXT_MAX])
{
    snprintf(out, TALK_TEXT_MAX, "%.200s.%u.%u", h->job, h->talk->run, h->talk->attempt);
}

static void alert_text(pmix_info_t *i, size_t *n, const char *key, const char *text)
{
    if (!*text)
        return;
    PMIX_INFO_LOAD(&i[*n], key, text, PMIX_STRING);
    ++*n;
}

struct alert { /* lives until the library has sent it */
    pmix_info_t *info;
};

static void alert_sent(pmix_status_t status, void *arg)
{
    struct alert *a = arg;

    PMIX_INFO_FREE(a->info, ALERT_INFO);
    free(a);
}

static int seconds_left(const struct helper_talk *t)
{
    struct timespec now;
    double left;

    clock_gettime(CLOCK_REALTIME, &now);
    left = t->deadline - (double)now.tv_sec - (double)now.tv_nsec / 1e9;
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* To these programs alone; not to handlers of everything, which an MPI library may have; not kept by the library for handlers that
 * are made later, which would see one that was withdrawn. */
static size_t alert_load(const struct helper *h, pmix_info_t *i, pmix_proc_t *to, size_t n_to,
                         const char *method)
{
    const struct helper_talk *t = h->talk;
    pmix_data_array_t range = {.type = PMIX_PROC, .size = n_to, .array = to};
    char id[TALK_TEXT_MAX];
    int64_t deadline = (int64_t)t->deadline;
    int left = seconds_left(t);
    bool yes = true;
    size_t n = 0;

    alert_id(h, id);
    PMIX_INFO_LOAD(&i[n], PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY);
    n++;
    PMIX_INFO_LOAD(&i[n], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    n++;
    PMIX_INFO_LOAD(&i[n], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    n++;
    alert_text(i, &n, PMIX_JOB_CTRL_ID, id);
    if (!method)
        return n;
    PMIX_INFO_LOAD(&i[n], PMIX_EVENT_ACTION_TIMEOUT, &left, PMIX_INT);
    n++;
    PMIX_INFO_LOAD(&i[n], "pbs.preempt.deadline", &deadline, PMIX_INT64);
    n++;
    alert_text(i, &n, "pbs.preempt.method", method);
    alert_text(i, &n, "pbs.preempt.reclaim", t->wanted);
    alert_text(i, &n, "pbs.preempt.by", t->urgent);
    return n;
}

/* `method` NULL: the event is a checkpoint's and says no more than the id. */
static void alert_send(struct helper *h, pmix_status_t event, pmix_proc_t *to, size_t n_to,
                       const char *method)
{
    struct alert *a = n_to ? calloc(1, sizeof *a) : NULL;
    pmix_proc_t us = {.rank = 0};
    pmix_status_t rc;
    size_t n;

    if (!a)
        return;
    snprintf(us.nspace, sizeof us.nspace, "pbs_pmix.%s", h->job);
    PMIX_INFO_CREATE(a->info, ALERT_INFO);
    n = alert_load(h, a->info, to, n_to, method);
    rc = PMIx_Notify_event(event, &us, PMIX_RANGE_CUSTOM, a->info, n, alert_sent, a);
    if (rc != PMIX_SUCCESS)
        alert_sent(rc, a);
}

static void talk_alert_all(struct helper *h, const char *method)
{
    size_t n = 0, k = 0;
    pmix_proc_t *to;

    for (const struct program *p = h->talk->programs; p; p = p->next)
        n++;
    to = calloc(n + 1, sizeof *to);
    for (struct program *p = h->talk->programs; p && to; p = p->next) {
        to[k++] = p->proc;
        if (p->takes_part) /* else its handler may not be there yet: it is told again when it declares something */
            p->alerted = h->talk->attempt;
    }
    if (to)
        alert_send(h, PMIX_JCTRL_PREEMPT_ALERT, to, k, method);
    free(to);
}

/* One that has come in the middle, or only now has a handler, as far as we know. */
static void talk_alert_late(struct helper *h, struct program *p)
{
    if (!h->talk->attempt || p->alerted == h->talk->attempt)
        return;
    p->alerted = h->talk->attempt;
    alert_send(h, PMIX_JCTRL_PREEMPT_ALERT, &p->proc, 1, h->talk->method);
}

/* ---- answers to programs */
struct verdict {
    pmix_info_t *info;
    size_t n;
};

static void verdict_release(void *arg)
{
    struct verdict *v = arg;

    PMIX_INFO_FREE(v->info, v->n);
    free(v);
}

/* With the time that is left, and what the server has said. */
static void talk_answer(const struct helper_talk *t, pmix_info_cbfunc_t done, void *done_arg,
                        pmix_status_t status)
{
    struct verdict *v = t->attempt ? calloc(1, sizeof *v) : NULL;
    int left = seconds_left(t);

    if (!done) {
        free(v);
        return;
    }
    if (!v) {
        helper_reply_info(done, done_arg, status, NULL, 0, NULL, NULL);
        return;
    }
    v->n = 2;
    PMIX_INFO_CREATE(v->info, v->n);
    PMIX_INFO_LOAD(&v->info[0], PMIX_EVENT_ACTION_TIMEOUT, &left, PMIX_INT);
    PMIX_INFO_LOAD(&v->info[1], "pbs.preempt.answer", t->answer, PMIX_STRING);
    helper_reply_info(done, done_arg, status, v->info, v->n, verdict_release, v);
}

static void talk_answer_waiting(struct helper_talk *t, bool offers, pmix_status_t status)
{
    struct waiting **at = &t->waiting;

    while (*at) {
        struct waiting *w = *at;

        if (w->offer != offers) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        talk_answer(t, w->done, w->done_arg, status);
        free(w);
    }
}

static void talk_wait(struct helper_talk *t, const struct helper_talk_wish *w, bool is_offer)
{
    struct waiting *x = calloc(1, sizeof *x);

    if (!x) {
        talk_answer(t, w->done, w->done_arg, PMIX_ERR_NOMEM);
        return;
    }
    *x = (struct waiting){t->waiting, is_offer, w->done, w->done_arg};
    t->waiting = x;
}

/* For a program whose answer was granted in part: version 4.2 passes nothing with the status of an error. */
static void talk_tell_deadline(const struct helper_talk *t, pmix_info_cbfunc_t done, void *done_arg)
{
    struct verdict *v = t->attempt ? calloc(1, sizeof *v) : NULL;
    int64_t deadline = (int64_t)t->deadline;

    if (!v) {
        helper_reply_info(done, done_arg, PMIX_ERR_NOT_FOUND, NULL, 0, NULL, NULL);
        return;
    }
    v->n = 1;
    PMIX_INFO_CREATE(v->info, v->n);
    PMIX_INFO_LOAD(&v->info[0], "pbs.preempt.deadline", &deadline, PMIX_INT64);
    helper_reply_info(done, done_arg, PMIX_SUCCESS, v->info, v->n, verdict_release, v);
}

/* ---- answers to the shepherd */
struct said { /* an answer on its way */
    struct helper *h;
    bool offer, waits;
    unsigned attempt;
};

static void talk_on_said(void *arg, const struct tmx_answer *a)
{
    struct said s = *(struct said *)arg;

    free(arg);
    if (!a || a->code == TM_SUCCESS || !s.waits)
        return;
    talk_answer_waiting(s.h->talk, s.offer,
                        a->code == TM_ENOTFOUND ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM);
}

static void talk_say(struct helper *h, tmx_notice_answer answer, uint32_t need_s, const char *nodes)
{
    struct tmx_ask ask = {.kind = TMX_ASK_NOTICE};
    struct said *s = calloc(1, sizeof *s);

    if (!s)
        return;
    *s = (struct said){.h = h,
                       .offer = answer == TMX_NOTICE_PARTIAL,
                       .waits = answer == TMX_NOTICE_PARTIAL || answer == TMX_NOTICE_DEFER,
                       .attempt = h->talk->attempt};
    ask.tmx_ask_u.notice =
        (struct tmx_notice_args){.answer = answer, .need_s = need_s, .nodes = (char *)nodes};
    if (helper_link_ask(h->link, &ask, talk_on_said, s, NULL) < 0)
        free(s);
}

/* Ready, when all who take part are: to be looked at after each answer and each end. */
static void talk_review(struct helper *h)
{
    struct helper_talk *t = h->talk;
    bool any = false;

    for (const struct program *p = t->programs; p; p = p->next) {
        if (!p->takes_part)
            continue;
        any = true;
        if (p->ready != t->attempt)
            return;
    }
    if (!t->attempt || t->said_ready || !any)
        return;
    t->said_ready = true;
    talk_say(h, TMX_NOTICE_READY, 0, "");
}

/* ---- what programs are, and whether they can be saved */
static void talk_ignore(void *arg, const struct tmx_answer *a)
{
}

static void talk_declare(struct helper *h)
{
    struct helper_talk *t = h->talk;
    struct tmx_ask ask = {.kind = TMX_ASK_DECLARE};
    struct wire_party party = {.takes_part = false};
    bool can = false;
    uint32_t need_s = 0;
    struct byte_buf b;

    for (const struct program *p = t->programs; p; p = p->next) {
        party.takes_part |= p->takes_part;
        if (p->can_save) {
            can = true;
            need_s = p->need_s > need_s ? p->need_s : need_s;
        }
    }
    if (can == t->declared && need_s == t->declared_s && party.takes_part == t->party)
        return;
    t->declared = can;
    t->declared_s = need_s;
    t->party = party.takes_part;
    ask.tmx_ask_u.declare = (struct tmx_declare_args){.how = (char *)(can ? "pmix" : ""), .need_s = need_s};
    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_wire_party, &party) == 0)
        ask.tmx_ask_u.declare.ext = (wire_ext){(u_int)b.len, b.bytes};
    (void)helper_link_ask(h->link, &ask, talk_ignore, NULL, NULL); /* encoded inside */
    byte_buf_fini(&b);
}

/* It has said something about preemption: the job waits for it. */
static void talk_join(struct helper *h, struct program *p)
{
    p->takes_part = true;
    talk_declare(h);
}

static void talk_take_declaration(struct helper *h, struct program *p, const struct helper_talk_wish *w)
{
    p->takes_part = true;
    p->by_event = w->by_event;
    p->can_save = w->preemptible && (w->by_event || w->signal);
    p->need_s = w->need_s;
    talk_declare(h);
    talk_answer(h->talk, w->done, w->done_arg, PMIX_SUCCESS);
    talk_alert_late(h, p);
}

/* ---- checkpoints */
/* What was written since the alert is the state that this checkpoint is about: of now, for the MOM, which takes no older one. */
static void talk_renew(const char *dir, time_t since)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    struct stat st;

    while (d && (x = readdir(d)))
        if (fstatat(dirfd(d), x->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_mtime >= since)
            utimensat(dirfd(d), x->d_name, NULL, AT_SYMLINK_NOFOLLOW);
    if (d)
        closedir(d);
}

/* `since`: 0, or when the alert came that was answered by saving. */
static void talk_touch_done(time_t since)
{
    const char *dir = getenv("PBS_CHECKPOINT_DIR");
    char path[PATH_MAX];
    int fd;

    if (!dir)
        return;
    if (since)
        talk_renew(dir, since);
    snprintf(path, sizeof path, "%s/done", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* All that save themselves when asked have; or rank 0 has said where the state of all is. */
static bool talk_all_saved(const struct helper_talk *t, const struct helper_talk_wish *w)
{
    if (w->proc.rank == 0 && w->has_path)
        return true;
    for (const struct program *p = t->programs; p; p = p->next)
        if (p->can_save && (t->checkpoint ? p->asked : p->saved != t->attempt))
            return false;
    return true;
}

static void talk_take_saved(struct helper *h, struct program *p, const struct helper_talk_wish *w)
{
    struct helper_talk *t = h->talk;

    if (p) {
        p->asked = false;
        p->saved = t->attempt;
        p->ready = t->attempt;
    }
    if (!talk_all_saved(t, w))
        return;
    if (t->checkpoint) {
        for (struct program *x = t->programs; x; x = x->next)
            x->asked = false;
        t->checkpoint = false;
        talk_touch_done(0);
    } else if (t->attempt && !t->said_ready) {
        t->said_ready = true;
        for (struct program *x = t->programs; x; x = x->next)
            x->saved = t->attempt;
        talk_say(h, TMX_NOTICE_SAVED, 0, "");
    }
}

/* What was saved since the alert is the newest state there is: it is not asked for again. */
void helper_talk_checkpoint(struct helper *h)
{
    struct helper_talk *t = h->talk;
    size_t n = 0;
    pmix_proc_t *to;

    for (const struct program *p = t->programs; p; p = p->next)
        n++;
    to = calloc(n + 1, sizeof *to);
    n = 0;
    for (struct program *p = t->programs; p && to; p = p->next)
        if (p->by_event && !(t->attempt && p->saved == t->attempt)) {
            to[n++] = p->proc;
            p->asked = true;
        }
    t->checkpoint = n > 0;
    if (n)
        alert_send(h, PMIX_JCTRL_CHECKPOINT, to, n, NULL);
    else
        talk_touch_done(t->told_s);
    free(to);
}

/* ---- what programs say */
/* The largest time wins: a smaller one is granted by it. */
static void talk_defer(struct helper *h, const struct helper_talk_wish *w)
{
    struct helper_talk *t = h->talk;
    int64_t until = (int64_t)time(NULL) + w->need_s;

    if (!w->need_s) {
        talk_answer(t, w->done, w->done_arg, PMIX_ERR_BAD_PARAM);
        return;
    }
    talk_wait(t, w, false);
    if (until <= t->need_until && (double)until <= t->deadline) {
        talk_answer_waiting(t, false, PMIX_SUCCESS);
        return;
    }
    if (until > t->need_until)
        t->need_until = until;
    talk_say(h, TMX_NOTICE_DEFER, w->need_s, "");
}

static void talk_offer(struct helper *h, const struct helper_talk_wish *w)
{
    if (!w->nodes[0]) {
        talk_answer(h->talk, w->done, w->done_arg, PMIX_ERR_BAD_PARAM);
        return;
    }
    talk_wait(h->talk, w, true);
    talk_say(h, TMX_NOTICE_PARTIAL, 0, w->nodes);
}

static void talk_take_reply(struct helper *h, struct program *p, const struct helper_talk_wish *w)
{
    struct helper_talk *t = h->talk;

    talk_join(h, p);
    if (strcmp(w->reply, "ready") == 0) {
        p->ready = t->attempt;
        talk_answer(t, w->done, w->done_arg, PMIX_SUCCESS);
        talk_review(h);
        return;
    }
    p->ready = 0;
    if (strcmp(w->reply, "defer") == 0)
        talk_defer(h, w);
    else if (strcmp(w->reply, "partial") == 0)
        talk_offer(h, w);
    else if (strcmp(w->reply, "refuse") == 0) {
        talk_answer(t, w->done, w->done_arg, PMIX_SUCCESS);
        talk_say(h, TMX_NOTICE_DECLINE, 0, "");
    } else {
        talk_answer(t, w->done, w->done_arg, PMIX_ERR_BAD_PARAM);
    }
}

static bool talk_is_now(const struct helper *h, const struct helper_talk_wish *w)
{
    char id[TALK_TEXT_MAX];

    alert_id(h, id);
    return h->talk->attempt && (!w->id[0] || strcmp(w->id, id) == 0);
}

static void talk_take_control(struct helper *h, struct program *p, const struct helper_talk_wish *w)
{
    if (!p)
        talk_answer(h->talk, w->done, w->done_arg, PMIX_ERR_NOMEM);
    else if (!w->reply[0] && w->declares)
        talk_take_declaration(h, p, w);
    else if (!w->reply[0])
        talk_answer(h->talk, w->done, w->done_arg, PMIX_ERR_NOT_SUPPORTED);
    else if (!talk_is_now(h, w))
        talk_answer(h->talk, w->done, w->done_arg, PMIX_ERR_NOT_FOUND);
    else
        talk_take_reply(h, p, w);
}

static void talk_take_release(struct helper *h, struct program *p, const struct helper_talk_wish *w)
{
    if (!p || !talk_is_now(h, w)) {
        talk_answer(h->talk, w->done, w->done_arg, PMIX_ERR_NOT_FOUND);
        return;
    }
    talk_join(h, p);
    p->ready = 0;
    talk_offer(h, w);
}

static void talk_take_left(struct helper *h, const pmix_proc_t *proc)
{
    struct program **at = &h->talk->programs, *p = program_find(h->talk, proc);
    bool took_part = p && p->takes_part, others = false;

    if (!p)
        return;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p);
    for (p = h->talk->programs; p; p = p->next)
        others |= p->takes_part;
    talk_declare(h);
    if (others)
        talk_review(h);
    else if (took_part && h->talk->attempt && !h->talk->said_ready) {
        h->talk->said_ready = true; /* the last one has left: there is no one to wait for */
        talk_say(h, TMX_NOTICE_READY, 0, "");
    }
}

void helper_talk_take(struct helper *h, struct helper_event *ev)
{
    struct helper_talk_wish *w = (struct helper_talk_wish *)ev;
    struct program *p =
        w->what == TALK_LEFT || w->what >= TALK_POLICY ? NULL : program_get(h->talk, &w->proc);

    switch (w->what) {
    case TALK_CONNECTED:
        break;
    case TALK_LEFT:
        talk_take_left(h, &w->proc);
        break;
    case TALK_POLICY:
        helper_policy_ask(h, w->done, w->done_arg);
        break;
    case TALK_DEADLINE:
        talk_tell_deadline(h->talk, w->done, w->done_arg);
        break;
    case TALK_CONTROL:
        talk_take_control(h, p, w);
        break;
    case TALK_RELEASE:
        talk_take_release(h, p, w);
        break;
    case TALK_SAVED:
        if (h->talk->checkpoint || talk_is_now(h, w))
            talk_take_saved(h, p, w);
        break;
    }
    free(w);
}

/* ---- what the notice says */
static void told_line(const char *text, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);

    out[0] = '\0';
    while (*text) {
        size_t len = strcspn(text, "\n");

        if (len > n && strncmp(text, name, n) == 0 && text[n] == '=') {
            snprintf(out, size, "%.*s", (int)(len - n - 1 < size ? len - n - 1 : size - 1), text + n + 1);
            return;
        }
        text += len + (text[len] == '\n');
    }
}

static double told_time(const char *text, const char *name)
{
    char out[NAME_SIZE];

    told_line(text, name, out, sizeof out);
    return strtod(out, NULL);
}

/* The notice is over: an offer was enough, or it is withdrawn for another reason. */
static void talk_over(struct helper *h, const char *text)
{
    struct helper_talk *t = h->talk;
    bool enough;

    if (!t->attempt)
        return;
    told_line(text, "why", t->why, sizeof t->why);
    enough = strstr(t->why, " is enough");
    talk_answer_waiting(t, true, enough ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    talk_answer_waiting(t, false, PMIX_ERR_NOT_FOUND);
    talk_alert_all(h, "none");
    t->attempt = 0;
}

static void talk_read_notice(struct helper_talk *t, const char *text)
{
    told_line(text, "method", t->method, sizeof t->method);
    told_line(text, "for", t->urgent, sizeof t->urgent);
    told_line(text, "wanted", t->wanted, sizeof t->wanted);
    told_line(text, "answer", t->answer, sizeof t->answer);
    t->deadline = told_time(text, "deadline");
    t->latest = told_time(text, "latest");
}

/* What came of answers. "granted" is the word of the server for time that was given as it was asked for. */
static void talk_take_answer(struct helper_talk *t, double before)
{
    bool granted = strcmp(t->answer, "granted") == 0, recorded = strncmp(t->answer, "recorded", 8) == 0;

    if (!t->answer[0] || recorded)
        return;
    if (granted || strncmp(t->answer, "no more time", 12) == 0)
        talk_answer_waiting(t, false,
                            granted                ? PMIX_SUCCESS
                            : t->deadline > before ? PMIX_ERR_RESOURCE_BUSY
                                                   : PMIX_ERR_NO_PERMISSIONS);
    else
        talk_answer_waiting(t, true, PMIX_ERR_RESOURCE_BUSY);
}

void helper_talk_told(struct helper *h, const struct tmx_told_args *a)
{
    struct helper_talk *t = h->talk;
    bool is_new = a->attempt != t->attempt;
    double before = t->deadline;
    char method[NAME_SIZE];

    if (!a->attempt) {
        talk_over(h, a->text);
        return;
    }
    if (is_new && t->attempt)
        talk_over(h, "");
    snprintf(method, sizeof method, "%s", t->method);
    talk_read_notice(t, a->text);
    t->attempt = a->attempt;
    if (is_new) {
        t->said_ready = false;
        t->need_until = 0;
        t->told_s = time(NULL);
    }
    talk_take_answer(t, before);
    if (is_new || strcmp(method, t->method) != 0)
        talk_alert_all(h, t->method);
}
