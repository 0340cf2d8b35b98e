/* A letter's way: shepherd, SHEP_PEER, peer_relay_out, sisters_carry, SIS_LETTER, peer_relay_in, SHEP_LETTER, shepherd; the answer goes
 * the same way back. Each step is a call that waits for the next; what breaks is answered "try again". */
#include "peer_relay.h"

#include <shep.h>
#include <sis.h>

#include "mom.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "mom_run.h"
#include "shepherds.h"
#include "sisters.h"

void peer_relay_out(void *arg, struct run *r, struct rpc_request *q)
{
    struct mom *m = arg;
    char text[] = "this MOM has just begun", none[1] = "";
    struct shep_letter_result later = {.code = PBSE_SISCOMM, .text = text, .bytes = {0, none}};

    if (m->sisters)
        sisters_carry(m->sisters, r, rpc_request_args(q), q);
    else
        rpc_reply(q, (xdrproc_t)xdr_shep_letter_result, &later);
}

static void peer_relay_on_answer(void *arg, const struct shep_letter_result *given)
{
    struct rpc_request *q = arg;
    char text[] = "the job's shepherd there does not listen now", none[1] = "";
    struct sis_letter_result res = {.code = PBSE_SISCOMM, .text = text, .bytes = {0, none}};

    if (given) {
        res.code = given->code;
        res.text = given->text;
        res.bytes.bytes_val = given->bytes.bytes_val;
        res.bytes.bytes_len = given->bytes.bytes_len;
    }
    rpc_reply(q, (xdrproc_t)xdr_sis_letter_result, &res);
    rpc_request_unref(q);
}

/* A run that is ending has no tasks any more, and will never have: final. */
void peer_relay_in(void *arg, struct run *r, const struct shep_letter_args *a, struct rpc_request *q)
{
    char text[] = "the job is over there", none[1] = "";
    struct sis_letter_result over = {.code = PBSE_UNKJOBID, .text = text, .bytes = {0, none}};

    if (r->slot.state >= RUN_ENDING)
        rpc_reply(q, (xdrproc_t)xdr_sis_letter_result, &over);
    else
        shepherds_letter(r, a, peer_relay_on_answer, rpc_request_ref(q));
}
