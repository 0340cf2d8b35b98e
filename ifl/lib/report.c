/* What the last calls of this thread came to. See report.h.
 *
 * PBS gave its interface one number, and a text for each connection, and no object to hold them; here each thread has
 * its own, found through a thread-local pointer, and freed by the thread's end (pthread key). Nothing is kept of a
 * connection whose last call succeeded without a message; the connection reported last is first in the list. Errors of the system are
 * translated to the nearest PBSE_ number, as callers compare with those. Without memory the number at least is right. */
#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attrl.h"
#include "errors.h"
#include "replaceable.h"

enum { SERVER_MAX = PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2 };

struct said { /* of the last call on one connection, which failed */
    struct said *next;
    int connection;
    char *text; /* NULL: none, or there was no memory */
    struct ecl_attribute_errors errors;
};

struct report {
    int code;
    char server[SERVER_MAX];
    struct said *all;
};

/* The interface of PBS has a number and a text for each thread and no argument to carry them. */
static _Thread_local struct report *mine;
static _Thread_local int spare_code; /* where there is no memory for a report */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void free_errors(struct ecl_attribute_errors *a)
{
    for (int i = 0; i < a->ecl_numerrors; i++) {
        attrl_free(a->ecl_attrerr[i].ecl_attribute);
        free(a->ecl_attrerr[i].ecl_errmsg);
    }
    free(a->ecl_attrerr);
    *a = (struct ecl_attribute_errors){0};
}

static void said_free(struct said *s)
{
    free_errors(&s->errors);
    free(s->text);
    free(s);
}

static void report_end_of_thread(void *arg)
{
    struct report *r = arg;

    while (r->all) {
        struct said *s = r->all;
        r->all = s->next;
        said_free(s);
    }
    free(r);
}

static void report_make_key(void)
{
    (void)pthread_key_create(&key, report_end_of_thread);
}

static struct report *report_get(void)
{
    if (mine)
        return mine;
    (void)pthread_once(&once, report_make_key);
    mine = calloc(1, sizeof *mine);
    if (mine)
        (void)pthread_setspecific(key, mine);
    return mine;
}

/* Take the text out of the list. NULL: there was none. */
static struct said *report_take(struct report *r, int c)
{
    struct said **at = &r->all, *s;

    while (*at && (*at)->connection != c)
        at = &(*at)->next;
    s = *at;
    if (s)
        *at = s->next;
    return s;
}

static struct said *report_find(struct report *r, int c)
{
    struct said *s = report_take(r, c);

    if (s) {
        s->next = r->all;
        r->all = s;
    }
    return s;
}

static struct said *find_or_make(struct report *r, int c)
{
    struct said *s = report_find(r, c);

    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (s) {
        s->connection = c;
        s->next = r->all;
        r->all = s;
    }
    return s;
}

int *__pbs_errno_location(void)
{
    struct report *r = report_get();

    return r ? &r->code : &spare_code;
}

int pbs_geterrno(void)
{
    return pbs_errno;
}

char *__pbs_server_location(void)
{
    static char none[1];
    struct report *r = report_get();

    return r ? r->server : none;
}

void report_set_server(const char *server)
{
    struct report *r = report_get();

    if (r)
        (void)snprintf(r->server, sizeof r->server, "%s", server);
}

void report_clear(int c)
{
    struct report *r = report_get();
    struct said *s = r ? report_take(r, c) : NULL;

    pbs_errno = 0;
    if (s)
        said_free(s);
}

static int report_set_text(int c, int code, const char *text)
{
    struct report *r = report_get();
    struct said *s = r ? find_or_make(r, c) : NULL;

    pbs_errno = code;
    if (!s)
        return code;
    if (!text || !*text)
        text = errors_text(code);
    free(s->text);
    s->text = text ? strdup(text) : NULL;
    return code;
}

int report_set(int c, int code, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return report_set_text(c, code, text);
}

int report_err(int c, const struct err *e)
{
    static const struct {
        int number, code;
    } known[] = {
        {ENOMEM, PBSE_SYSTEM},
        {EINVAL, PBSE_IVALREQ},
        {EACCES, PBSE_PERM},
        {EBADMSG, PBSE_PROTOCOL},
        {EPROTONOSUPPORT, PBSE_PROTOCOL},
        {ECONNRESET, PBSE_PROTOCOL},
        {EPIPE, PBSE_PROTOCOL},
        {EIO, PBSE_PROTOCOL},
        {ETIMEDOUT, PBSE_PROTOCOL},
    };
    int code = e->code;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].number == code)
            code = known[i].code;
    return report_set_text(c, code, e->text);
}

static int copy_error(struct ecl_attrerr *to, const ifl_attr_error *from)
{
    to->ecl_errcode = from->code;
    to->ecl_attribute = attrl_create(from->name, *from->resource ? from->resource : NULL, from->value, SET);
    to->ecl_errmsg = strdup(*from->text || !errors_text(from->code) ? from->text : errors_text(from->code));
    return to->ecl_attribute && to->ecl_errmsg ? 0 : -1;
}

static void copy_errors(struct ecl_attribute_errors *to, const ifl_result *from)
{
    size_t n = from->errors.errors_len;

    to->ecl_attrerr = n ? calloc(n, sizeof to->ecl_attrerr[0]) : NULL;
    if (!to->ecl_attrerr)
        return;
    for (size_t i = 0; i < n; i++) {
        to->ecl_numerrors = (int)i + 1;
        if (copy_error(&to->ecl_attrerr[i], &from->errors.errors_val[i]) < 0)
            break;
    }
}

int report_result(int c, const ifl_result *r)
{
    struct report *all = report_get();
    struct said *s;

    report_clear(c);
    if (r->code == 0 && (!r->text || !*r->text)) /* NULL: the caller has stopped before the end */
        return 0;
    report_set_text(c, r->code, r->text);
    s = all ? report_find(all, c) : NULL;
    if (s)
        copy_errors(&s->errors, r);
    return r->code;
}

char *pbs_geterrmsg(int c)
{
    struct report *r = report_get();
    struct said *s = r ? report_find(r, c) : NULL;

    return s ? s->text : NULL;
}

struct ecl_attribute_errors *pbs_get_attributes_in_error(int c)
{
    struct report *r = report_get();
    struct said *s = r ? report_find(r, c) : NULL;

    return s && s->errors.ecl_numerrors ? &s->errors : NULL;
}
