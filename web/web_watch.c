/* The thread alone talks to the server. Events are text that was made once, in a ring under one lock; a listener that is slower than
 * the ring loses its place and is told so, and costs no memory of its own. See web_watch.h. */
#include "web_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "attrs.h"
#include "clock.h"
#include "json_out.h"
#include "pbs_ext.h"
#include "web_members.h"
#include "web_watch_tally.h"

struct web_watch_event {
    char *json; /* {"kind":"job","id":...} */
    size_t n;
    enum pbs_kind kind;
    const char *id; /* in json's memory, behind its end */
};

struct web_watch {
    uint64_t epoch;
    pthread_mutex_t lock; /* of what follows */
    struct web_watch_event ring[WEB_WATCH_EVENTS];
    uint64_t oldest, next; /* numbers of events that are kept: oldest <= n < next */
    size_t bytes;
    struct web_watch_listener *listeners;
    int64_t heard_mono_ms; /* when there was a listener; 0: never */
    struct web_watch_counts counts;
    /* of the thread alone */
    struct web_tally *tally;
    bool is_news; /* the first answer, of everything there is, is over */
};

static const char *const kind_names[PBS_KIND_COUNT] = {"server",      "queue",    "job",       "node",
                                                       "reservation", "resource", "scheduler", "hold"};

/* What is shown of a change; the object itself has the rest. */
static const char *const web_watch_of_job[] = {ATTR_name,
                                               ATTR_owner,
                                               ATTR_state,
                                               ATTR_substate,
                                               ATTR_queue,
                                               ATTR_project,
                                               ATTR_p,
                                               ATTR_comment,
                                               ATTR_qtime,
                                               ATTR_etime,
                                               ATTR_stime,
                                               ATTR_l,
                                               ATTR_execvnode,
                                               ATTR_estimated,
                                               ATTR_array_state_count,
                                               ATTR_exit_status,
                                               "paused_time",
                                               "preempt_count",
                                               "preempt_method",
                                               "preempt_time",
                                               "preempted_by",
                                               "preempt_deadline",
                                               "gives_way",
                                               "room_held",
                                               NULL};
static const char *const web_watch_of_node[] = {ATTR_NODE_state, ATTR_rescavail,  ATTR_rescassn,
                                                ATTR_NODE_jobs,  ATTR_NODE_resvs, ATTR_comment,
                                                ATTR_queue,      ATTR_partition,  NULL};
static const char *const web_watch_of_queue[] = {ATTR_qtype, ATTR_enable, ATTR_start, ATTR_p, NULL};
static const char *const web_watch_of_resv[] = {
    ATTR_resv_name, ATTR_resv_owner, ATTR_resv_state, ATTR_resv_start,
    ATTR_resv_end,  ATTR_resv_nodes, ATTR_queue,      NULL};

static const struct {
    enum pbs_kind kind;
    const char *const *names;
} web_watch_wanted[] = {{PBS_KIND_QUEUE, web_watch_of_queue},
                        {PBS_KIND_JOB, web_watch_of_job},
                        {PBS_KIND_NODE, web_watch_of_node},
                        {PBS_KIND_RESV, web_watch_of_resv}};
enum { HEARD_MS = 120000 }; /* a client that polls comes back once a minute at least (WEB_WAIT_MAX_S) */
enum { N_WANTED = sizeof web_watch_wanted / sizeof *web_watch_wanted };

/* --- the ring ---------------------------------------------------------------------------------------------------- */

static struct web_watch_event *web_watch_at(struct web_watch *w, uint64_t number)
{
    return &w->ring[number % WEB_WATCH_EVENTS];
}

static void web_watch_drop_oldest(struct web_watch *w)
{
    struct web_watch_event *ev = web_watch_at(w, w->oldest++);

    w->bytes -= ev->n;
    free(ev->json);
    ev->json = NULL;
}

/* Take `json`. Lock held. */
static void web_watch_push(struct web_watch *w, char *json, size_t n, enum pbs_kind kind, const char *id)
{
    while (w->next > w->oldest && (w->next - w->oldest >= WEB_WATCH_EVENTS || w->bytes + n > WEB_WATCH_BYTES))
        web_watch_drop_oldest(w);
    *web_watch_at(w, w->next++) = (struct web_watch_event){.json = json, .n = n, .kind = kind, .id = id};
    w->bytes += n;
}

/* The text of a change and behind its end the identifier. NULL: no memory. */
static char *web_watch_text(const struct pbs_change *ch, size_t *n)
{
    struct batch_status o = {.name = (char *)ch->name, .attribs = ch->attribs};
    struct json_out j;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    json_out_begin(&j, f);
    j.compact = true;
    json_out_string(&j, "kind", kind_names[ch->kind]);
    if (!ch->gone) {
        web_members_put(&j, &o, ch->kind == PBS_KIND_NODE);
    } else {
        json_out_string(&j, "id", ch->name);
        json_out_any(&j, "gone", "true");
    }
    json_out_close(&j, '}');
    fflush(f);
    *n = size;
    fputc('\0', f);
    fputs(ch->name, f);
    if (fclose(f) == EOF) {
        free(text);
        return NULL;
    }
    return text;
}

/* Does a client listen, or did one a moment ago? Else no text is made: a client that comes later reads everything. Lock held. */
static bool web_watch_is_heard(struct web_watch *w)
{
    int64_t now = clock_real_mono_ms();

    if (w->listeners)
        w->heard_mono_ms = now;
    return w->heard_mono_ms && now - w->heard_mono_ms < HEARD_MS;
}

/* A change that has no text: every listener has missed something. Lock held. */
static void web_watch_skip(struct web_watch *w)
{
    while (w->oldest < w->next)
        web_watch_drop_oldest(w);
    w->oldest = ++w->next;
}

static void web_watch_change(const struct pbs_change *ch, void *arg)
{
    struct web_watch *w = arg;
    size_t n = 0;
    char *text;
    bool heard;

    pthread_mutex_lock(&w->lock);
    heard = w->is_news && web_watch_is_heard(w);
    pthread_mutex_unlock(&w->lock);
    text = heard ? web_watch_text(ch, &n) : NULL;
    pthread_mutex_lock(&w->lock);
    w->counts.changes++;
    if (ch->kind == PBS_KIND_JOB && ch->gone)
        web_tally_gone(w->tally, ch->name, time(NULL), &w->counts);
    else if (ch->kind == PBS_KIND_JOB)
        web_tally_job(w->tally, ch->name, ch->attribs, w->is_news, &w->counts);
    if (text)
        web_watch_push(w, text, n, ch->kind, text + n + 1);
    else
        web_watch_skip(w);
    pthread_mutex_unlock(&w->lock);
}

static void web_watch_restart(void *arg)
{
    struct web_watch *w = arg;

    pthread_mutex_lock(&w->lock);
    web_tally_restart(w->tally);
    w->counts.jobs = 0;
    w->is_news = false;
    pthread_mutex_unlock(&w->lock);
}

static void web_watch_wake_all(struct web_watch *w)
{
    for (struct web_watch_listener *l = w->listeners; l; l = l->next)
        l->wake(l->arg);
}

/* Everything was read: from here on changes are news. A number is left out, so that every listener of before has missed something. */
static void web_watch_begin_news(struct web_watch *w)
{
    w->is_news = true;
    web_watch_skip(w);
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

static int web_watch_open(int c, unsigned *watch)
{
    struct attrs lists[N_WANTED] = {0};
    struct pbs_watch_want wants[N_WANTED];
    int rc = 0;

    for (size_t i = 0; i < N_WANTED; i++) {
        for (const char *const *name = web_watch_wanted[i].names; *name; name++)
            attrs_add(&lists[i], *name, NULL, "", SET);
        wants[i] = (struct pbs_watch_want){web_watch_wanted[i].kind, attrs_attrl(&lists[i])};
        rc = lists[i].failed ? -1 : rc;
    }
    rc = rc == 0 ? pbs_watch(c, wants, N_WANTED, NULL, watch) : rc;
    for (size_t i = 0; i < N_WANTED; i++)
        attrs_fini(&lists[i]);
    return rc;
}

/* Until the connection is lost. */
static void web_watch_follow(struct web_watch *w, int c)
{
    const struct pbs_watch_reader reader = {web_watch_restart, web_watch_change, w};
    struct pbs_cursor cursor = {0, 0};
    struct pbs_news *news = calloc(1, sizeof *news);
    unsigned watch;

    if (news && web_watch_open(c, &watch) == 0)
        while (pbs_watch_next(c, watch, cursor, &reader, news) == 0) {
            cursor = news->cursor;
            pthread_mutex_lock(&w->lock);
            w->counts.connected = true;
            if (news->caught_up && !w->is_news)
                web_watch_begin_news(w);
            web_watch_wake_all(w);
            pthread_mutex_unlock(&w->lock);
        }
    free(news);
}

static void *web_watch_run(void *arg)
{
    struct web_watch *w = arg;

    for (;;) {
        int c = pbs_connect(NULL);

        if (c >= 0) {
            web_watch_follow(w, c);
            pbs_disconnect(c);
        }
        web_watch_restart(w);
        pthread_mutex_lock(&w->lock);
        w->counts.connected = false;
        web_watch_wake_all(w);
        pthread_mutex_unlock(&w->lock);
        sleep(1);
    }
    return NULL;
}

struct web_watch *web_watch_start(struct err *e)
{
    struct web_watch *w = calloc(1, sizeof *w);
    pthread_t thread;
    int code;

    if (!w || !(w->tally = web_tally_create())) {
        free(w);
        err_no_memory(e);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    w->next = w->oldest = 1;
    if (RAND_bytes((unsigned char *)&w->epoch, sizeof w->epoch) != 1)
        w->epoch = (uint64_t)time(NULL);
    w->epoch &= 0x1fffffffffffff; /* a number that JavaScript can hold */
    code = pthread_create(&thread, NULL, web_watch_run, w);
    if (code) {
        web_tally_destroy(w->tally);
        free(w);
        err_errno(e, code, "cannot start a thread");
        return NULL;
    }
    pthread_detach(thread);
    return w;
}

/* --- listeners ---------------------------------------------------------------------------------------------------- */

void web_watch_add(struct web_watch *w, struct web_watch_listener *l)
{
    pthread_mutex_lock(&w->lock);
    l->next = w->listeners;
    w->listeners = l;
    w->heard_mono_ms = clock_real_mono_ms();
    pthread_mutex_unlock(&w->lock);
}

void web_watch_remove(struct web_watch *w, struct web_watch_listener *l)
{
    pthread_mutex_lock(&w->lock);
    for (struct web_watch_listener **at = &w->listeners; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    pthread_mutex_unlock(&w->lock);
}

uint64_t web_watch_epoch(const struct web_watch *w)
{
    return w->epoch;
}

uint64_t web_watch_newest(struct web_watch *w)
{
    uint64_t n;

    pthread_mutex_lock(&w->lock);
    n = w->next - 1;
    pthread_mutex_unlock(&w->lock);
    return n;
}

static void web_watch_write_one(struct web_watch *w, const struct web_watch_ask *q, uint64_t number,
                                bool first, FILE *f)
{
    const struct web_watch_event *ev = web_watch_at(w, number);

    if (q->json)
        fprintf(f, "%s", first ? "" : ",");
    else
        fprintf(f, "id: %llu-%llu\nevent: change\ndata: ", (unsigned long long)w->epoch,
                (unsigned long long)number);
    fwrite(ev->json, 1, ev->n, f);
    fputs(q->json ? "" : "\n\n", f);
}

uint64_t web_watch_write(struct web_watch *w, const struct web_watch_ask *q, FILE *f, bool *lost)
{
    uint64_t number = q->after;
    size_t written = 0;

    pthread_mutex_lock(&w->lock);
    *lost = q->after >= w->next || q->after + 1 < w->oldest;
    if (*lost) {
        number = w->next - 1;
    } else {
        while (number + 1 < w->next && written < q->most) {
            const struct web_watch_event *ev = web_watch_at(w, ++number);

            if (!(q->kinds & 1u << ev->kind) || (q->job && strcmp(q->job, ev->id) != 0))
                continue;
            web_watch_write_one(w, q, number, written == 0, f);
            written += ev->n;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return number;
}

void web_watch_counts(struct web_watch *w, struct web_watch_counts *out)
{
    pthread_mutex_lock(&w->lock);
    *out = w->counts;
    pthread_mutex_unlock(&w->lock);
}

void web_watch_preemptions(struct web_watch *w, struct json_out *j)
{
    pthread_mutex_lock(&w->lock);
    web_tally_preemptions(w->tally, j);
    pthread_mutex_unlock(&w->lock);
}
