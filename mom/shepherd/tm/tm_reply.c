/* The answer to a question of TM, as a letter to another host or to a client of the TM listener.
 *
 * A struct tm_reply is made for each question and freed by its answer. It knows its client by number, so a client may
 * leave while its question is under way. */
#include "tm_reply.h"

#include <errno.h>
#include <stdlib.h>

#include <shep.h>

#include "mom_link.h"
#include "rpc_buf.h"
#include "tm_.h"
#include "tm_parts.h"

/* WAITING_MAX: bytes of questions without an answer: room for one obit of each of TASKS_MAX tasks. LARGE: an answer of more bytes is not kept
 * where many wait to be read. */
enum { WAITING_MAX = 48 << 20, LARGE = 4096 };

struct tm_reply *tm_reply_create(struct tm_server *t, size_t n)
{
    struct tm_reply *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->tm = t;
    r->cost = sizeof *r + n;
    t->waiting += r->cost;
    return r;
}

static void answer_letter(struct tm_reply *r, const struct tmx_answer *a)
{
    struct shep_letter_result res = {0};
    struct byte_buf b;
    char none[1] = "";

    byte_buf_init(&b);
    res.text = none;
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_tmx_answer, a) < 0)
        res.code = ENOMEM;
    res.bytes.bytes_val = b.bytes;
    res.bytes.bytes_len = (u_int)b.len;
    if (r->tm->place.mom_link)
        mom_link_answer(r->tm->place.mom_link, &r->ticket, (xdrproc_t)xdr_shep_letter_result, &res);
    byte_buf_fini(&b);
}

/* Answers to tasks, or through the MOM to other hosts, that are not read occupy our memory. So they are bounded. */
static bool is_too_much(const struct tm_reply *r, const struct tmx_answer *a)
{
    size_t n = a->info.info_len + a->tasks.tasks_len * sizeof *a->tasks.tasks_val;

    if (n <= LARGE)
        return false;
    return r->is_letter
               ? r->tm->place.mom_link && mom_link_owes(r->tm->place.mom_link) > TM_LISTENER_OUT_ALL_MAX
               : tm_listener_is_crowded(r->tm->listener);
}

void tm_reply_answer(struct tm_reply *r, const struct tmx_answer *given)
{
    struct tmx_answer a = *given;
    struct tm_client *g;
    char none[1] = "", late[] = "8 MB of answers wait to be read by tasks of the job";

    if (is_too_much(r, given))
        a = (struct tmx_answer){.code = TM_ESYSTEM, .text = late};
    r->tm->waiting -= r->cost;

    if (!a.text)
        a.text = none;
    if (r->is_letter)
        answer_letter(r, &a);
    else if ((g = tm_listener_find(r->tm->listener, r->client)))
        rpc_core_reply(g->core, r->xid, (xdrproc_t)xdr_tmx_answer, &a, NULL);
    if (r->ask) {
        xdr_free((xdrproc_t)xdr_tmx_ask, r->ask);
        free(r->ask);
    }
    free(r);
}

void tm_reply_refuse(struct tm_reply *r, int code, const char *text)
{
    struct tmx_answer a = {.code = code, .text = (char *)text};

    tm_reply_answer(r, &a);
}

bool tm_reply_may_wait(struct tm_reply *r)
{
    if (r->tm->waiting <= WAITING_MAX)
        return true;
    tm_reply_refuse(r, TM_ESYSTEM, "tasks of the job wait for more answers on this host than 48 MB hold");
    return false;
}

int tm_reply_keep_ask(const struct tmx_ask *ask, struct tm_reply *r)
{
    struct byte_buf b;
    int rc = -1;

    byte_buf_init(&b);
    r->ask = calloc(1, sizeof *r->ask);
    if (r->ask && rpc_buf_encode(&b, (xdrproc_t)xdr_tmx_ask, ask) == 0)
        rc = rpc_buf_decode(b.bytes, b.len, (xdrproc_t)xdr_tmx_ask, r->ask);
    byte_buf_fini(&b);
    return rc < 0 ? -1 : 0;
}
