/* One declaration is kept, the last one. It is sent to the MOM at once, and again every AGAIN_MS until one has answered: the MOM answers
 * when it has it in its journal, and may end before that. `number` counts declarations and `told` is the one that is under way: an
 * answer to an earlier one does not end the sending of a newer one. A declaration that the MOM hears twice does no harm. */
#include "job_declared.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>
#include <tm.h>

#include "clock.h"
#include "mom_link.h"
#include "rpc_match.h"
#include "rpc_msg.h"

enum { AGAIN_MS = 200 }; /* as answers to notices */

struct job_declared {
    struct mom_link *mom_link;
    struct rpc_pending pending;
    struct shep_declared said; /* how and ext owned */
    bool waits, under_way;     /* it is to be said (again); the MOM owes its reply */
    unsigned number, told;     /* of the declaration that is kept, and of that under way */
    int64_t next_mono_ms;
};

struct job_declared *job_declared_create(struct mom_link *l)
{
    struct job_declared *d = calloc(1, sizeof *d);

    if (d)
        d->mom_link = l;
    return d;
}

void job_declared_destroy(struct job_declared *d)
{
    if (!d)
        return;
    free(d->said.how);
    free(d->said.ext.wire_ext_val);
    free(d);
}

static void job_declared_over(struct job_declared *d, bool taken)
{
    d->under_way = false;
    if (taken && d->told == d->number)
        d->waits = false;
    d->next_mono_ms = clock_real_mono_ms() + AGAIN_MS;
}

static void job_declared_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    /* A MOM of an older version does not know the call: the declaration is not sent to it again. */
    job_declared_over((struct job_declared *)((char *)p - offsetof(struct job_declared, pending)),
                      h->status == RPC_ST_OK || h->status == RPC_ST_PROC_UNAVAIL);
}

static void job_declared_on_lost(struct rpc_pending *p, const struct err *why)
{
    job_declared_over((struct job_declared *)((char *)p - offsetof(struct job_declared, pending)), false);
}

static void job_declared_say(struct job_declared *d)
{
    static const struct rpc_pending_ops ops = {.reply = job_declared_on_reply, .lost = job_declared_on_lost};

    d->pending.ops = &ops;
    d->told = d->number;
    d->under_way = true; /* before: a lost connection may say so inside */
    if (mom_link_ask(d->mom_link, SHEP_DECLARE, (xdrproc_t)xdr_shep_declared, &d->said, &d->pending) < 0)
        job_declared_over(d, false);
}

int job_declared_take(struct job_declared *d, const struct tmx_declare_args *a, struct err *e)
{
    const u_int n = a->ext.wire_ext_len;
    char *how = strdup(a->how), *ext = malloc(n ? n : 1);

    if (!how || !ext) {
        free(how);
        free(ext);
        return err_set(e, ENOMEM, "no memory for a declaration");
    }
    if (n)
        memcpy(ext, a->ext.wire_ext_val, n);
    free(d->said.how);
    free(d->said.ext.wire_ext_val);
    d->said = (struct shep_declared){.how = how, .need_s = a->need_s, .ext = {n, ext}};
    d->number++;
    d->waits = true;
    if (!d->under_way)
        job_declared_say(d);
    return 0;
}

int job_declared_wait_ms(const struct job_declared *d)
{
    int64_t left = d->next_mono_ms - clock_real_mono_ms();

    if (!d->waits || d->under_way)
        return -1;
    return left > 0 ? (int)left : 0;
}

void job_declared_turn(struct job_declared *d)
{
    if (d->waits && !d->under_way && clock_real_mono_ms() >= d->next_mono_ms)
        job_declared_say(d);
}
