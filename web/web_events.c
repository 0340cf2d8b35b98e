/* A stream belongs to its connection. libmicrohttpd asks for bytes; where there are none the connection is suspended, and the
 * watch's thread resumes it. Two locks: the watch's may be held when `web_events_wake` takes the stream's, so the stream's is never held while
 * the watch is asked. */
#include "web_events.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pbs_ext.h"
#include "web_call.h"
#include "web_watch.h"

enum { PIECE = 64 << 10, BLOCK = 32 << 10 };

struct web_stream {
    struct web_stream *next, **at; /* of all streams */
    struct web_watch *watch;
    struct web_watch_listener listener;
    struct MHD_Connection *http;
    struct web_watch_ask ask;
    char job[WEB_ID_MAX];
    bool said_hello, said_away, over;
    char *text; /* that was not sent yet */
    size_t n_text, sent;
    int64_t spoke_mono_ms, until_mono_ms; /* until: of a long poll */
    pthread_mutex_t lock;                 /* of what follows */
    bool suspended, woken;
};

static struct {
    pthread_mutex_t lock;
    struct web_stream *first;
    int n;
    bool stopping;
} streams = {
    .lock = PTHREAD_MUTEX_INITIALIZER}; /* of the process: libmicrohttpd has no list of its connections */

static void web_events_wake(void *arg)
{
    struct web_stream *s = arg;

    pthread_mutex_lock(&s->lock);
    s->woken = true;
    if (s->suspended) {
        s->suspended = false;
        MHD_resume_connection(s->http);
    }
    pthread_mutex_unlock(&s->lock);
}

static void web_events_all(bool stop)
{
    pthread_mutex_lock(&streams.lock);
    streams.stopping = streams.stopping || stop;
    for (struct web_stream *s = streams.first; s; s = s->next)
        web_events_wake(s);
    pthread_mutex_unlock(&streams.lock);
}

void web_events_tick(void)
{
    web_events_all(false);
}

void web_events_stop(void)
{
    web_events_all(true);
}

/* --- text ---------------------------------------------------------------------------------------------------------- */

static void web_events_sse(struct web_stream *s, FILE *f)
{
    struct web_watch_counts counts;
    bool lost = false;
    unsigned long long epoch = web_watch_epoch(s->watch);

    if (!s->said_hello)
        fprintf(f, "id: %llu-%llu\nevent: hello\ndata: {}\n\n", epoch, (unsigned long long)s->ask.after);
    s->said_hello = true;
    web_watch_counts(s->watch, &counts);
    if (!counts.connected && !s->said_away)
        fputs("event: away\ndata: {}\n\n", f);
    s->said_away = !counts.connected;
    s->ask.after = web_watch_write(s->watch, &s->ask, f, &lost);
    if (lost)
        fprintf(f, "id: %llu-%llu\nevent: reset\ndata: {}\n\n", epoch, (unsigned long long)s->ask.after);
    if (!ftell(f) && clock_real_mono_ms() - s->spoke_mono_ms > WEB_BEAT_S * 1000LL)
        fputs(": \n\n", f);
}

/* The one answer of a long poll, when there is something to be told or the time is over. */
static void web_events_poll(struct web_stream *s, FILE *f)
{
    bool lost = false;
    uint64_t after;
    long empty;

    fputs("{\"events\":[", f);
    empty = ftell(f);
    after = web_watch_write(s->watch, &s->ask, f, &lost);
    if (!lost && ftell(f) == empty && clock_real_mono_ms() < s->until_mono_ms && !s->over) {
        s->ask.after = after; /* what was looked at is of other kinds or jobs */
        rewind(f);
        return;
    }
    fprintf(f, "],\"reset\":%s,\"cursor\":\"%llu-%llu\"}\n", lost ? "true" : "false",
            (unsigned long long)web_watch_epoch(s->watch), (unsigned long long)after);
    s->over = true;
}

/* Fill s->text. False: no memory. */
static bool web_events_fill(struct web_stream *s)
{
    FILE *f;
    long n;

    free(s->text);
    s->text = NULL;
    s->n_text = s->sent = 0;
    f = open_memstream(&s->text, &s->n_text);
    if (!f)
        return false;
    if (s->ask.json)
        web_events_poll(s, f);
    else
        web_events_sse(s, f);
    n = ftell(f);
    if (fclose(f) == EOF)
        return false;
    s->n_text = n > 0 ? (size_t)n : 0;
    if (s->n_text)
        s->spoke_mono_ms = clock_real_mono_ms();
    return true;
}

static bool web_events_is_stopping(void)
{
    bool stopping;

    pthread_mutex_lock(&streams.lock);
    stopping = streams.stopping;
    pthread_mutex_unlock(&streams.lock);
    return stopping;
}

/* Suspend, unless there was a wake since the last look. */
static bool web_events_pause(struct web_stream *s)
{
    bool woken;

    pthread_mutex_lock(&s->lock);
    woken = s->woken;
    s->woken = false;
    if (!woken) {
        s->suspended = true;
        MHD_suspend_connection(s->http);
    }
    pthread_mutex_unlock(&s->lock);
    return !woken;
}

static ssize_t web_events_read_cb(void *arg, uint64_t position, char *out, size_t most)
{
    struct web_stream *s = arg;
    size_t n;

    while (s->sent == s->n_text) {
        if (s->over || (!s->ask.json && web_events_is_stopping()))
            return MHD_CONTENT_READER_END_OF_STREAM;
        s->over = web_events_is_stopping();
        if (!web_events_fill(s))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (!s->n_text && web_events_pause(s))
            return 0;
    }
    n = s->n_text - s->sent < most ? s->n_text - s->sent : most;
    memcpy(out, s->text + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

static void web_events_close_cb(void *arg)
{
    struct web_stream *s = arg;

    web_watch_remove(s->watch, &s->listener);
    pthread_mutex_lock(&streams.lock);
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    streams.n--;
    pthread_mutex_unlock(&streams.lock);
    pthread_mutex_destroy(&s->lock);
    free(s->text);
    free(s);
}

/* --- the request ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    unsigned kind;
} web_events_kinds[] = {{"job", 1u << PBS_KIND_JOB},
                        {"node", 1u << PBS_KIND_NODE},
                        {"queue", 1u << PBS_KIND_QUEUE},
                        {"reservation", 1u << PBS_KIND_RESV}};

static bool web_events_take_kinds(struct web_call *w, unsigned *kinds)
{
    const char *text = web_call_query(w, "kinds");

    *kinds = text && *text ? 0 : ~0u;
    while (text && *text) {
        size_t n = strcspn(text, ","), i = 0;

        while (i < 4 &&
               (strlen(web_events_kinds[i].word) != n || strncmp(web_events_kinds[i].word, text, n) != 0))
            i++;
        if (i == 4) {
            web_call_problem(w, 400, 0, "kinds is a list of job, node, queue, reservation");
            return false;
        }
        *kinds |= web_events_kinds[i].kind;
        text += n + (text[n] == ',');
    }
    return true;
}

/* Where to begin. A cursor of another process is before everything, so the client is told that it has missed something. */
static uint64_t web_events_after(struct web_call *w)
{
    const char *text = MHD_lookup_connection_value(w->http, MHD_HEADER_KIND, "Last-Event-ID");
    unsigned long long epoch, number;

    if (!text)
        text = web_call_query(w, "after");
    if (!text || !*text)
        return web_watch_newest(w->watch);
    return sscanf(text, "%llu-%llu", &epoch, &number) == 2 && epoch == web_watch_epoch(w->watch)
               ? number
               : UINT64_MAX - 1;
}

/* Put the stream among the others. False: there are too many. */
static bool web_events_admit(struct web_stream *s)
{
    bool room;

    pthread_mutex_lock(&streams.lock);
    room = streams.n < WEB_STREAMS_MAX && !streams.stopping;
    if (room) {
        s->next = streams.first;
        s->at = &streams.first;
        if (s->next)
            s->next->at = &s->next;
        streams.first = s;
        streams.n++;
    }
    pthread_mutex_unlock(&streams.lock);
    return room;
}

void web_events_show(struct web_call *w)
{
    const char *job = web_call_query(w, "job");
    struct web_stream *s;
    unsigned kinds;

    if (!web_events_take_kinds(w, &kinds))
        return;
    s = calloc(1, sizeof *s);
    if (!s) {
        web_call_problem(w, 503, 0, "no memory");
        return;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->watch = w->watch;
    s->http = w->http;
    s->ask = (struct web_watch_ask){.after = web_events_after(w),
                                    .kinds = kinds,
                                    .json = web_call_query(w, "wait") != NULL,
                                    .most = PIECE};
    if (job && *job) {
        snprintf(s->job, sizeof s->job, "%s", job);
        s->ask.job = s->job;
    }
    s->spoke_mono_ms = clock_real_mono_ms();
    s->until_mono_ms = s->spoke_mono_ms + web_call_number(w, "wait", 0) * 1000;
    s->listener = (struct web_watch_listener){.wake = web_events_wake, .arg = s};
    if (!web_events_admit(s)) {
        web_call_problem(w, 503, 0, "%d streams are open already", WEB_STREAMS_MAX);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return;
    }
    web_watch_add(w->watch, &s->listener);
    w->type = s->ask.json ? "application/json" : "text/event-stream";
    w->status = 200;
    w->stream = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, web_events_read_cb, s,
                                                  web_events_close_cb);
    if (!w->stream) {
        web_events_close_cb(s);
        web_call_problem(w, 503, 0, "no memory");
    }
}
