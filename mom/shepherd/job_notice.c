/* There is one notice at a time, known by its attempt, and one answer on its way, the last one that was given.
 *
 * The file is replaced as a whole, with the owner's rights alone: a reader sees an old or a new one, and whatever the owner
 * has put in its place is left alone. An answer is said to the MOM that came last, again and again until one has
 * written it down; that it may be heard twice does no harm. */
#include "job_notice.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shep.h>
#include <tm.h>

#include "clock.h"
#include "file.h"
#include "identity.h"
#include "mom_link.h"
#include "pbs_error.h"
#include "rpc_match.h"
#include "rpc_msg.h"
#include "task_env.h"
#include "tm_.h"

/* AGAIN_MS: an answer of the job that the MOM could not take is offered again. */
enum { AGAIN_MS = 200, MODE = 0600 };

struct job_notice {
    struct job_notice_place place;
    const char *path; /* in the order's environment; NULL: the MOM that started us knew of no notices */
    unsigned attempt; /* of the present notice; 0: there is none */
    struct rpc_pending pending;
    bool under_way, waits; /* an answer: the MOM owes its reply; it is to be said (again) */
    int64_t next_mono_ms;
    unsigned number; /* of the answer kept: whether a reply is for this one */
    unsigned said;
    struct shep_notice_reply reply; /* nodes owned */
};

struct job_notice *job_notice_create(const struct job_notice_place *p)
{
    struct job_notice *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->place = *p;
    n->path = task_env_find(p->order->env.env_val, p->order->env.env_len, "PBS_PREEMPT_NOTICE");
    return n;
}

void job_notice_destroy(struct job_notice *n)
{
    if (!n)
        return;
    free(n->reply.nodes);
    free(n);
}

/* ---- the file */
static int write_file(const struct job_notice *n, const char *text, struct err *e)
{
    int rc;

    if (identity_enter(n->place.order, e) < 0)
        return -1;
    rc = file_write_quick(AT_FDCWD, n->path, text, strlen(text), MODE, e);
    identity_leave(n->place.order);
    return rc;
}

static void remove_file(const struct job_notice *n)
{
    if (!n->path || identity_enter(n->place.order, NULL) < 0)
        return;
    unlink(n->path);
    identity_leave(n->place.order);
}

/* ---- from the MOM */
static void forget_answer(struct job_notice *n)
{
    n->waits = false;
    n->number++; /* the answer under way belongs to no notice that is kept */
}

int job_notice_take(struct job_notice *n, const struct shep_notice_args *a, struct err *e)
{
    bool is_new = a->attempt != n->attempt;
    int rc;

    if (!n->path)
        return err_set(e, PBSE_NOSUP, "the job's shepherd has no place for a notice");
    if (a->withdrawn) {
        n->attempt = 0;
        forget_answer(n);
        remove_file(n);
        n->place.tell(n->place.arg, 0, a->text);
        return 0;
    }
    n->attempt = a->attempt;
    rc = write_file(n, a->text, e);
    if (is_new) {
        forget_answer(n);
        if (a->signo > 0)
            n->place.signal_job(
                n->place.arg, a->signo,
                a->target == EXEC_TARGET_ALL); /* after the file: the job reads it when the signal comes */
    }
    n->place.tell(n->place.arg, a->attempt, a->text);
    return rc;
}

void job_notice_over(struct job_notice *n)
{
    if (!n->attempt)
        return;
    n->attempt = 0;
    forget_answer(n);
    remove_file(n);
}

/* ---- from the job */
static int job_notice_check(const struct job_notice *n, const struct tmx_notice_args *a, struct err *e)
{
    if (!n->attempt)
        return err_set(e, TM_ENOTFOUND, "the job has no notice to answer");
    if (a->answer < TMX_NOTICE_READY || a->answer > TMX_NOTICE_SAVED)
        return err_set(e, TM_EUNKNOWNCMD, "the answer is not known");
    if (a->answer == TMX_NOTICE_DEFER && !a->need_s)
        return err_set(e, TM_EUNKNOWNCMD, "it is not said how many seconds are needed");
    if (a->answer == TMX_NOTICE_PARTIAL && !a->nodes[0])
        return err_set(e, TM_EUNKNOWNCMD, "no node is named that is offered");
    return 0;
}

static exec_notice_answer answer_of(tmx_notice_answer a)
{
    switch (a) {
    case TMX_NOTICE_READY:
        return EXEC_NOTICE_READY;
    case TMX_NOTICE_DEFER:
        return EXEC_NOTICE_DEFER;
    case TMX_NOTICE_PARTIAL:
        return EXEC_NOTICE_PARTIAL;
    case TMX_NOTICE_DECLINE:
        return EXEC_NOTICE_DECLINE;
    case TMX_NOTICE_SAVED:
        return EXEC_NOTICE_SAVED;
    }
    return EXEC_NOTICE_READY;
}

static void job_notice_say(struct job_notice *n);

int job_notice_answer(struct job_notice *n, const struct tmx_notice_args *a, struct err *e)
{
    char *nodes;

    if (job_notice_check(n, a, e) < 0)
        return -1;
    nodes = strdup(a->nodes);
    if (!nodes)
        return err_set(e, TM_ESYSTEM, "no memory for an answer");
    free(n->reply.nodes);
    n->reply = (struct shep_notice_reply){
        .attempt = n->attempt, .answer = answer_of(a->answer), .need_s = a->need_s, .nodes = nodes};
    n->number++;
    n->waits = true;
    if (!n->under_way)
        job_notice_say(n);
    return 0;
}

/* ---- to the MOM */
static void say_later(struct job_notice *n)
{
    n->next_mono_ms = clock_real_mono_ms() + AGAIN_MS;
}

static void job_notice_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct job_notice *n = (struct job_notice *)((char *)p - offsetof(struct job_notice, pending));

    n->under_way = false;
    if (h->status == RPC_ST_OK && n->said == n->number)
        n->waits = false;
    say_later(n);
}

static void job_notice_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct job_notice *n = (struct job_notice *)((char *)p - offsetof(struct job_notice, pending));

    n->under_way = false;
    say_later(n);
}

static void job_notice_say(struct job_notice *n)
{
    static const struct rpc_pending_ops ops = {.reply = job_notice_on_reply, .lost = job_notice_on_lost};

    n->pending.ops = &ops;
    n->said = n->number;
    n->under_way = true; /* before: a lost connection may say so inside */
    if (mom_link_ask(n->place.mom_link, SHEP_NOTICE_REPLY, (xdrproc_t)xdr_shep_notice_reply, &n->reply,
                     &n->pending) == 0)
        return;
    n->under_way = false;
    say_later(n);
}

int job_notice_wait_ms(const struct job_notice *n)
{
    int64_t left = n->next_mono_ms - clock_real_mono_ms();

    if (!n->waits || n->under_way)
        return -1;
    return left > 0 ? (int)left : 0;
}

void job_notice_turn(struct job_notice *n)
{
    if (n->waits && !n->under_way && clock_real_mono_ms() >= n->next_mono_ms)
        job_notice_say(n);
}
