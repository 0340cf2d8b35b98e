/* Clients that wait until their reservation is confirmed or refused (attribute interactive).
 *
 *   decided      answered with the word of the decision
 *   time is up   answered UNCONFIRMED, or, where the client said so, the reservation is deleted
 *   it is gone   forgotten; the reservation stays
 *
 * Whichever comes first takes the wait out of the list, so there is one answer. Answers are sent when the batch with the
 * decision is durable. After a restart no client waits: a reservation that was to be deleted when its time is up is deleted then
 * (resv_clock.c). */
#include <ifl.h>
#include <stdlib.h>

#include "commit.h"
#include "intern.h"
#include "loop.h"
#include "request.h"
#include "reservations.h"
#include "strbuf.h"

struct resv_wait {
    struct reservations *all;
    struct resv *resv;       /* referenced */
    struct request *request; /* referenced */
    struct loop_timer *timer;
    bool deletes;
    struct resv_wait *next;
};

static void resv_wait_say(struct request *q, const char *id, const char *word)
{
    static char nothing[1];
    struct strbuf text;
    ifl_text_result result = {.result = {.text = nothing}};

    strbuf_init(&text, 1024);
    strbuf_addf(&text, "%s %s", id, word);
    result.text = (char *)strbuf_str(&text);
    request_reply(q, &result);
    strbuf_fini(&text);
}

struct resv_promise {
    struct request *request;
    const char *id, *word; /* interned; constant */
};

static void resv_wait_durable(void *arg)
{
    struct resv_promise *p = arg;

    if (p->word)
        resv_wait_say(p->request, p->id, p->word);
    else
        request_ok(p->request);
    request_unref(p->request);
    intern_unref(p->id);
    free(p);
}

void resv_wait_promise(struct reservations *all, struct request *q, const struct resv *r, const char *word)
{
    struct resv_promise *p = malloc(sizeof *p);

    if (!p)
        abort(); /* the client would not know that it is done */
    *p = (struct resv_promise){request_ref(q), intern_ref(r->obj.name), word};
    commit_then(all->p.commit, resv_wait_durable, p);
}

static void resv_wait_free(struct resv_wait *w)
{
    struct resv_wait **at = &w->all->waits;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    request_on_dead(w->request, NULL, NULL);
    loop_timer_destroy(w->timer);
    request_unref(w->request);
    object_unref(&w->resv->obj);
    free(w);
}

static void resv_wait_over(void *arg)
{
    struct resv_wait *w = arg;
    struct reservations *all = w->all;
    struct resv *r = w->resv;
    bool deletes = w->deletes;

    object_ref(&r->obj);
    resv_wait_promise(all, w->request, r, deletes ? "delete, wait period expired" : "UNCONFIRMED");
    attr_list_unset(&r->obj.attrs, RESV_ATTR_interactive);
    resvs_touch(all->p.ctx->resvs, r);
    resv_wait_free(w);
    if (deletes && !r->obj.gone)
        resv_fsm_post(all->fsm, r, RESV_EV_DELETE);
    object_unref(&r->obj);
}

static void resv_wait_dead(void *arg, struct request *q)
{
    resv_wait_free(arg);
}

/* How long it waits: no more than a timer can say. */
static int64_t resv_wait_ms(int64_t seconds)
{
    const int64_t most_s = INT32_MAX;

    return (seconds < -most_s || seconds > most_s ? most_s : seconds < 0 ? -seconds : seconds) * 1000;
}

int resv_wait_add(struct reservations *all, struct resv *r, struct request *q, int64_t seconds, struct err *e)
{
    struct resv_wait *w = calloc(1, sizeof *w);

    if (!w)
        return err_no_memory(e);
    *w = (struct resv_wait){.all = all,
                            .resv = r,
                            .request = request_ref(q),
                            .timer = loop_timer_create(all->p.loop, LOOP_CLOCK, resv_wait_over, w),
                            .deletes = seconds < 0,
                            .next = all->waits};
    if (!w->timer) {
        request_unref(w->request);
        free(w);
        return err_no_memory(e);
    }
    object_ref(&r->obj);
    all->waits = w;
    loop_timer_set(w->timer, resv_wait_ms(seconds));
    request_on_dead(q, resv_wait_dead, w);
    return 0;
}

void resv_wait_settle(struct reservations *all, const struct resv *r, const char *word)
{
    for (struct resv_wait *w = all->waits, *next; w; w = next) {
        next = w->next;
        if (w->resv != r)
            continue;
        attr_list_unset(&w->resv->obj.attrs, RESV_ATTR_interactive);
        resv_wait_promise(all, w->request, r, word);
        resv_wait_free(w);
    }
}

void resv_wait_destroy_all(struct reservations *all)
{
    while (all->waits)
        resv_wait_free(all->waits);
}
