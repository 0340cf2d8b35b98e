/* rm.h on the public calls: a stream is a connection to the server and the name of a host.
 *
 * Requests are kept until an answer is asked for; then the host is looked up once for all of them. The table of
 * streams is the one thing that outlives a call: the interface has numbers for streams and no handle for the table. A
 * mutex keeps it; the streams in it are their callers' own. */
#include "rm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

/* Choices: a stream a host, and a request is a name with qualifiers. */
enum { STREAMS_MAX = 1024, LINE_MAX_LEN = 1024 };

struct rm_line {
    char *name;   /* as asked, without qualifiers */
    char *answer; /* NULL: not asked yet */
    struct rm_line *next;
};

struct rm_stream {
    int connection;
    char host[PBS_MAXHOSTNAME + 1];
    struct rm_line *first;
};

/* Mutable, since the interface has no place for it: see above. */
static struct rm_stream *streams[STREAMS_MAX];
static int full = 1;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static int rm_fail(int code)
{
    pbs_errno = code;
    return -1;
}

static struct rm_stream *stream_of(int number)
{
    struct rm_stream *s;

    pthread_mutex_lock(&table);
    s = number >= 0 && number < STREAMS_MAX ? streams[number] : NULL;
    pthread_mutex_unlock(&table);
    if (!s)
        pbs_errno = RM_ERR_BADPARAM;
    return s;
}

/* --- streams ------------------------------------------------------------------------------------------ */

static void line_free(struct rm_line *l)
{
    free(l->name);
    free(l->answer);
    free(l);
}

static void stream_free(struct rm_stream *s)
{
    while (s->first) {
        struct rm_line *next = s->first->next;
        line_free(s->first);
        s->first = next;
    }
    pbs_disconnect(s->connection);
    free(s);
}

static int rm_put(struct rm_stream *s)
{
    int i = 0;

    pthread_mutex_lock(&table);
    while (i < STREAMS_MAX && streams[i])
        i++;
    if (i < STREAMS_MAX)
        streams[i] = s;
    pthread_mutex_unlock(&table);
    return i < STREAMS_MAX ? i : -1;
}

int openrm(char *host, unsigned int port)
{
    struct rm_stream *s;
    struct batch_status *found;
    int number, code;

    if (!host || !*host || strlen(host) > PBS_MAXHOSTNAME)
        return rm_fail(RM_ERR_BADPARAM);
    s = calloc(1, sizeof *s);
    if (!s)
        return rm_fail(RM_ERR_SYSTEM);
    snprintf(s->host, sizeof s->host, "%s", host);
    s->connection = pbs_connect(NULL);
    if (s->connection < 0) {
        free(s);
        return -1;
    }
    found = pbs_stathost(s->connection, s->host, NULL, NULL);
    code = found ? 0 : pbs_errno;
    pbs_statfree(found);
    number = found ? rm_put(s) : -1;
    if (number >= 0)
        return number;
    stream_free(s);
    return rm_fail(code ? code : RM_ERR_SYSTEM);
}

int closerm(int number)
{
    struct rm_stream *s = stream_of(number);

    if (!s)
        return -1;
    pthread_mutex_lock(&table);
    streams[number] = NULL;
    pthread_mutex_unlock(&table);
    stream_free(s);
    return 0;
}

int downrm(int number)
{
    return stream_of(number) ? rm_fail(PBSE_NOSUP) : -1;
}

int configrm(int number, char *file)
{
    return stream_of(number) ? rm_fail(PBSE_NOSUP) : -1;
}

/* --- requests ----------------------------------------------------------------------------------------- */

int addreq(int number, char *text)
{
    struct rm_stream *s = stream_of(number);
    struct rm_line *l, **last;
    size_t n;

    if (!s)
        return -1;
    n = text ? strcspn(text, " \t[") : 0;
    if (n == 0 || n > LINE_MAX_LEN)
        return rm_fail(RM_ERR_NOPARAM);
    l = calloc(1, sizeof *l);
    if (!l || !(l->name = strndup(text, n))) {
        free(l);
        return rm_fail(RM_ERR_SYSTEM);
    }
    for (last = &s->first; *last; last = &(*last)->next)
        ;
    *last = l;
    return 0;
}

int allreq(char *text)
{
    int n = 0;

    for (int i = 0; i < STREAMS_MAX; i++) {
        int before = pbs_errno;
        struct rm_stream *s = stream_of(i);
        pbs_errno = before;
        if (s && addreq(i, text) == 0)
            n++;
    }
    return n;
}

/* Format a resource that the host offers, or one of its attributes. */
static const char *rm_value_of(const struct batch_status *host, const char *name)
{
    const char *attribute = NULL;

    for (const struct attrl *a = host->attribs; a; a = a->next) {
        if (strcmp(a->name, ATTR_rescavail) == 0 && a->resource && strcmp(a->resource, name) == 0)
            return a->value;
        if (strcmp(a->name, name) == 0 && (!a->resource || !*a->resource))
            attribute = a->value;
    }
    return attribute;
}

static int rm_answer(struct rm_line *l, const struct batch_status *host)
{
    const char *value = rm_value_of(host, l->name);
    int n;

    if (value)
        n = full ? asprintf(&l->answer, "%s=%s", l->name, value) : asprintf(&l->answer, "%s", value);
    else
        n = full ? asprintf(&l->answer, "%s=? %d", l->name, RM_ERR_UNKNOWN)
                 : asprintf(&l->answer, "? %d", RM_ERR_UNKNOWN);
    if (n >= 0)
        return 0;
    l->answer = NULL;
    return rm_fail(RM_ERR_SYSTEM);
}

/* Everything that was added and not asked yet. */
static int rm_ask(struct rm_stream *s)
{
    struct batch_status *host = NULL;
    int rc = 0;

    for (struct rm_line *l = s->first; l && rc == 0; l = l->next) {
        if (l->answer)
            continue;
        if (!host && !(host = pbs_stathost(s->connection, s->host, NULL, NULL)))
            return pbs_errno ? -1 : rm_fail(RM_ERR_SYSTEM);
        rc = rm_answer(l, host);
    }
    pbs_statfree(host);
    return rc;
}

char *getreq(int number)
{
    struct rm_stream *s = stream_of(number);
    struct rm_line *l;
    char *text;

    if (!s)
        return NULL;
    if (!s->first) {
        pbs_errno = 0;
        return NULL;
    }
    if (rm_ask(s) < 0)
        return NULL;
    l = s->first;
    s->first = l->next;
    text = l->answer;
    l->answer = NULL;
    line_free(l);
    return text;
}

int flushreq(void)
{
    int n = 0;

    for (int i = 0; i < STREAMS_MAX; i++) {
        struct rm_stream *s = stream_of(i);
        if (s && s->first && rm_ask(s) == 0)
            n++;
    }
    pbs_errno = 0;
    return n;
}

int activereq(void)
{
    for (int i = 0; i < STREAMS_MAX; i++) {
        struct rm_stream *s = stream_of(i);
        if (s && s->first && rm_ask(s) == 0) {
            pbs_errno = 0;
            return i;
        }
    }
    return rm_fail(0);
}

void fullresp(int flag)
{
    full = flag != 0;
}
