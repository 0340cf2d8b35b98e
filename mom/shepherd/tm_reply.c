/* The answer to a question of TM, as a letter or to a guest of the door.
 *
 * A struct tm_reply is made for each question and freed by its answer. It knows its guest by number, so a guest may
 * leave while its question is under way. */
#include <errno.h>
#include <stdlib.h>

#include <shep.h>

#include "rpc_buf.h"
#include "tm_parts.h"

static void answer_letter(struct tm_reply *r, const struct tmx_answer *a)
{
    struct shep_letter_result res = {0};
    struct rpc_buf b;
    char none[1] = "";

    rpc_buf_init(&b);
    res.text = none;
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_tmx_answer, a) < 0)
        res.code = ENOMEM;
    res.bytes.bytes_val = b.bytes;
    res.bytes.bytes_len = (u_int)b.len;
    if (r->tm->place.link)
        link_answer(r->tm->place.link, &r->ticket, (xdrproc_t)xdr_shep_letter_result, &res);
    rpc_buf_fini(&b);
}

void tm_answer(struct tm_reply *r, const struct tmx_answer *given)
{
    struct tmx_answer a = *given;
    struct door_guest *g;
    char none[1] = "";

    if (!a.text)
        a.text = none;
    if (r->is_letter)
        answer_letter(r, &a);
    else if ((g = door_find(r->tm->door, r->guest)))
        rpc_core_reply(g->core, r->xid, (xdrproc_t)xdr_tmx_answer, &a, NULL);
    if (r->ask) {
        xdr_free((xdrproc_t)xdr_tmx_ask, r->ask);
        free(r->ask);
    }
    free(r);
}

void tm_refuse(struct tm_reply *r, int code, const char *text)
{
    struct tmx_answer a = {.code = code, .text = (char *)text};

    tm_answer(r, &a);
}
