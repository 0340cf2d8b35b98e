/* Two cores that talk through memory: matching, both directions, order, errors, endless answers, and
 * hostile input. */
#include "rpc_core.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "rpc_entries.h"
#include "rpc_frame.h"

enum { PROG = 0x20000100, ECHO = 1, LIST = 2, LATER = 3 };

struct side {
    struct rpc_core *core;
    uint32_t parked[16];
    int n_parked, n_calls;
};

struct result {
    struct rpc_pending p;
    enum rpc_status status;
    int value, order, lost;
};

static int order;

static void take_call(void *arg, const struct rpc_call_hdr *h)
{
    struct side *s = arg;
    int v = 0;

    s->n_calls++;
    if (h->id.prog != PROG)
        rpc_core_reply_error(s->core, h->xid, RPC_ST_PROG_UNAVAIL, 0, 0, NULL);
    else if (h->id.vers != 1)
        rpc_core_reply_error(s->core, h->xid, RPC_ST_PROG_MISMATCH, 1, 3, NULL);
    else if (h->id.proc == LATER)
        s->parked[s->n_parked++ % 16] = h->xid;
    else if (h->id.proc != ECHO)
        rpc_core_reply_error(s->core, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
    else if (rpc_buf_decode(h->args, h->n_args, (xdrproc_t)xdr_int, &v) < 0)
        rpc_core_reply_error(s->core, h->xid, RPC_ST_GARBAGE_ARGS, 0, 0, NULL);
    else
        rpc_core_reply(s->core, h->xid, (xdrproc_t)xdr_int, &v, NULL);
}

static const struct rpc_core_events events = {.call = take_call};

static void got(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
    struct result *res = (struct result *)p;

    res->status = r->status;
    res->order = ++order;
    if (r->status == RPC_ST_OK && rpc_buf_decode(r->result, r->n_result, (xdrproc_t)xdr_int, &res->value) < 0)
        res->status = RPC_ST_GARBAGE_REPLY;
}

static void lost(struct rpc_pending *p, const struct err *why)
{
    assert_int_equal(why->code, ECONNRESET);
    ((struct result *)p)->lost++;
}

static const struct rpc_pending_ops ops = {.reply = got, .lost = lost};

static void make(struct side *s)
{
    *s = (struct side){0};
    s->core = rpc_core_create(&events, s, 1 << 20);
    assert_non_null(s->core);
}

/* Move output to the other side in stretches of `step` bytes, as TCP may. */
static void carry(struct side *from, struct side *to, size_t step)
{
    struct byte_buf b = {0};
    size_t at, n;
    struct err e;

    byte_buf_swap(&b, rpc_core_output(from->core));
    for (at = 0; at < b.len; at += n) {
        n = b.len - at < step ? b.len - at : step;
        assert_int_equal(rpc_core_input(to->core, b.bytes + at, n, &e), n);
    }
    byte_buf_fini(&b);
}

static void call(struct side *s, struct result *r, uint32_t proc, int v)
{
    const struct rpc_proc_id id = {PROG, 1, proc};

    *r = (struct result){.p.ops = &ops};
    assert_int_equal(rpc_core_call(s->core, &r->p, &id, (xdrproc_t)xdr_int, &v, NULL), 0);
}

static void calls_both_ways(void **state)
{
    size_t step;

    for (step = 1; step < 200; step += 7) {
        struct side a, b;
        struct result r[20];
        int i;

        make(&a);
        make(&b);
        for (i = 0; i < 20; i++)
            call(i % 2 ? &a : &b, &r[i], ECHO, i);
        assert_int_equal(r[0].p.xid, r[1].p.xid); /* the same numbers in both directions at once */
        carry(&a, &b, step);
        carry(&b, &a, step);
        carry(&a, &b, step);
        for (i = 0; i < 20; i++)
            assert_int_equal(r[i].value, i);
        assert_int_equal(rpc_core_under_way(a.core) + rpc_core_under_way(b.core), 0);
        rpc_core_destroy(a.core);
        rpc_core_destroy(b.core);
    }
}

static void late_replies_come_in_any_order(void **state)
{
    struct side a, b;
    struct result r[5];
    int i;

    make(&a);
    make(&b);
    order = 0;
    for (i = 0; i < 5; i++)
        call(&a, &r[i], i == 2 ? ECHO : LATER, i);
    carry(&a, &b, 9);
    carry(&b, &a, 9);
    assert_int_equal(r[2].order, 1);
    for (i = 3; i >= 0; i--) {
        int v = 100 + i;

        rpc_core_reply(b.core, b.parked[i], (xdrproc_t)xdr_int, &v, NULL);
    }
    carry(&b, &a, 9);
    assert_int_equal(r[4].order, 2);
    assert_int_equal(r[4].value, 103);
    assert_int_equal(r[0].order, 5);
    rpc_core_destroy(a.core);
    rpc_core_destroy(b.core);
}

static void errors_have_their_own_forms(void **state)
{
    static const struct {
        struct rpc_proc_id id;
        bool garbage;
        enum rpc_status status;
    } rows[] = {{{PROG, 1, 99}, false, RPC_ST_PROC_UNAVAIL},
                {{PROG, 2, ECHO}, false, RPC_ST_PROG_MISMATCH},
                {{7, 1, ECHO}, false, RPC_ST_PROG_UNAVAIL},
                {{PROG, 1, ECHO}, true, RPC_ST_GARBAGE_ARGS}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct side a, b;
        struct result r = {.p.ops = &ops};
        int v = 1;

        make(&a);
        make(&b);
        assert_int_equal(
            rpc_core_call(a.core, &r.p, &rows[i].id, rows[i].garbage ? NULL : (xdrproc_t)xdr_int, &v, NULL),
            0);
        carry(&a, &b, 1000);
        carry(&b, &a, 3);
        assert_int_equal(r.status, rows[i].status);
        rpc_core_destroy(a.core);
        rpc_core_destroy(b.core);
    }
}

static void an_old_rpc_version_is_answered(void **state)
{
    struct side a, b;
    struct result r;

    make(&a);
    make(&b);
    call(&a, &r, ECHO, 1);
    rpc_buf_put_u32(rpc_core_output(a.core)->bytes + 4 + 8, 3);
    carry(&a, &b, 1000);
    carry(&b, &a, 1000);
    assert_int_equal(r.status, RPC_ST_RPC_MISMATCH);
    rpc_core_destroy(a.core);
    rpc_core_destroy(b.core);
}

static void a_lost_connection_ends_every_call(void **state)
{
    struct side a;
    struct result r[3];
    struct err e;

    make(&a);
    call(&a, &r[0], LATER, 1);
    call(&a, &r[1], LATER, 1);
    call(&a, &r[2], LATER, 1);
    rpc_core_forget(a.core, &r[1].p);
    err_set(&e, ECONNRESET, "gone");
    rpc_core_fail(a.core, &e);
    assert_int_equal(r[0].lost, 1);
    assert_int_equal(r[1].lost, 0);
    assert_int_equal(r[2].lost, 1);
    rpc_core_destroy(a.core);
}

static void limits_hold(void **state)
{
    struct side a;
    char endless[4 * 64] = {0};
    char big[8] = {0x7f, -1, -1, -1, 0, 0, 0, 0};
    struct err e;

    make(&a);
    assert_int_equal(rpc_core_input(a.core, big, sizeof big, &e), -1);
    assert_int_equal(e.code, EMSGSIZE);
    rpc_core_destroy(a.core);
    make(&a);
    assert_int_equal(rpc_core_input(a.core, endless, sizeof endless, &e), -1);
    assert_int_equal(e.code, EMSGSIZE);
    rpc_core_destroy(a.core);
}

/* --- endless answers */

struct entry_list {
    int next, n, ended;
};

static enum rpc_more more(void *arg, struct rpc_entries *out)
{
    struct entry_list *l = arg;

    while (l->next < l->n && !rpc_entries_is_full(out)) {
        rpc_entries_add(out, (xdrproc_t)xdr_int, &l->next);
        l->next++;
    }
    if (l->next < l->n)
        return RPC_MORE;
    rpc_entries_tail(out, (xdrproc_t)xdr_int, &l->n);
    return RPC_DONE;
}

static void ended(void *arg)
{
    ((struct entry_list *)arg)->ended++;
}

static const struct rpc_producer producer = {.more = more, .end = ended};

struct stream_in {
    struct result r;
    struct byte_buf spool;
    bool end;
};

static void piece(struct rpc_pending *p, const char *bytes, size_t n, bool end)
{
    struct stream_in *in = (struct stream_in *)p;

    assert_int_equal(byte_buf_add(&in->spool, bytes, n), 0);
    in->end = end;
}

static const struct rpc_pending_ops stream_ops = {.piece = piece, .lost = lost};

/* Three bytes at a time, so that every item is cut somewhere. */
struct drip {
    const struct byte_buf *b;
    size_t at;
};

static int drip(void *arg, const char **bytes, size_t *n, struct err *e)
{
    struct drip *d = arg;

    *bytes = d->b->bytes + d->at;
    *n = d->b->len - d->at < 3 ? d->b->len - d->at : 3;
    d->at += *n;
    return *n > 0;
}

static void read_all(const struct byte_buf *b, int n)
{
    struct drip d = {b, 0};
    struct rpc_entries_reader *r = rpc_entries_reader_create(drip, &d);
    int head = 0, tail = 0, i, v;
    struct err e;

    assert_int_equal(rpc_entries_head(r, (xdrproc_t)xdr_int, &head, &e), 0);
    assert_int_equal(head, 42);
    for (i = 0; i < n; i++) {
        v = -1;
        assert_int_equal(rpc_entries_next(r, (xdrproc_t)xdr_int, &v, &e), 1);
        assert_int_equal(v, i);
    }
    assert_int_equal(rpc_entries_next(r, (xdrproc_t)xdr_int, &v, &e), 0);
    assert_int_equal(rpc_entries_read_tail(r, (xdrproc_t)xdr_int, &tail, &e), 0);
    assert_int_equal(tail, n);
    assert_int_equal(rpc_entries_next(r, (xdrproc_t)xdr_int, &v, &e), -1);
    assert_int_equal(e.code, EBADMSG);
    rpc_entries_reader_destroy(r);
}

static void endless_answers_pass_and_others_wait_behind(void **state)
{
    const struct rpc_proc_id id = {PROG, 1, LATER};
    struct side a, b;
    struct stream_in in = {.r.p.ops = &stream_ops};
    struct result r;
    struct entry_list l = {.n = 100000};
    int head = 42, v = 7;
    bool failed;

    make(&a);
    make(&b);
    assert_int_equal(rpc_core_call(a.core, &in.r.p, &id, (xdrproc_t)xdr_int, &v, NULL), 0);
    call(&a, &r, ECHO, 5);
    carry(&a, &b, 1000);
    carry(&b, &a, 1000);
    assert_int_equal(r.value, 5);
    assert_int_equal(rpc_entries_reply(b.core, b.parked[0], (xdrproc_t)xdr_int, &head, &producer, &l, NULL),
                     0);
    call(&a, &r, ECHO, 6);
    carry(&a, &b, 1000);
    while (rpc_core_pull(b.core, &failed) == 1) {
        assert_true(rpc_core_output(b.core)->len < RPC_ENTRIES_FRAGMENT + 4096);
        carry(&b, &a, 10007);
        if (!in.end)
            assert_int_equal(r.value, 0); /* records are not interleaved */
    }
    assert_false(failed);
    carry(&b, &a, 10007);
    assert_true(in.end);
    assert_int_equal(r.value, 6);
    assert_int_equal(l.ended, 1);
    read_all(&in.spool, l.n);
    byte_buf_fini(&in.spool);
    rpc_core_destroy(a.core);
    rpc_core_destroy(b.core);
}

static void a_forgotten_endless_answer_is_skipped(void **state)
{
    const struct rpc_proc_id id = {PROG, 1, LATER};
    struct side a, b;
    struct stream_in in = {.r.p.ops = &stream_ops};
    struct entry_list l = {.n = 1000000};
    struct result r;
    int v = 0, n = 0;
    bool failed;

    make(&a);
    make(&b);
    rpc_core_call(a.core, &in.r.p, &id, (xdrproc_t)xdr_int, &v, NULL);
    carry(&a, &b, 1000);
    rpc_entries_reply(b.core, b.parked[0], (xdrproc_t)xdr_int, &v, &producer, &l, NULL);
    while (rpc_core_pull(b.core, &failed) == 1) {
        carry(&b, &a, 8192);
        if (++n == 3)
            rpc_core_forget(a.core, &in.r.p);
    }
    carry(&b, &a, 8192);
    call(&a, &r, ECHO, 9);
    carry(&a, &b, 1000);
    carry(&b, &a, 1000);
    assert_int_equal(r.value, 9);
    byte_buf_fini(&in.spool);
    rpc_core_destroy(a.core);
    rpc_core_destroy(b.core);
}

/* --- hostile input: mutated, cut and doubled records; nothing but an error may come of them */

static void mutated_input_does_no_harm(void **state)
{
    uint32_t seed = 20261;
    int round, bad = 0;

    for (round = 0; round < 20000; round++) {
        struct side a, b;
        struct result r[3];
        struct byte_buf *out;
        struct err e;
        int k;

        make(&a);
        make(&b);
        for (k = 0; k < 3; k++)
            call(round % 2 ? &a : &b, &r[k], ECHO, k);
        if (round % 2 == 0)
            carry(&b, &a, 1000);
        out = rpc_core_output(a.core); /* calls in odd rounds, replies in even ones */
        for (k = 0; k < 1 + round % 4; k++) {
            seed = seed * 1664525 + 1013904223;
            out->bytes[seed / 65536 % out->len] = (char)(seed >> 8);
        }
        if (round % 5 == 0)
            byte_buf_cut(out, out->len - seed / 65536 % out->len);
        if (rpc_core_input(b.core, out->bytes, out->len, &e) < 0)
            bad++;
        err_set(&e, ECONNRESET, "end of round");
        rpc_core_fail(a.core, &e);
        rpc_core_fail(b.core, &e);
        rpc_core_destroy(a.core);
        rpc_core_destroy(b.core);
    }
    assert_in_range(bad, 1000, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_both_ways),
        cmocka_unit_test(late_replies_come_in_any_order),
        cmocka_unit_test(errors_have_their_own_forms),
        cmocka_unit_test(an_old_rpc_version_is_answered),
        cmocka_unit_test(a_lost_connection_ends_every_call),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(endless_answers_pass_and_others_wait_behind),
        cmocka_unit_test(a_forgotten_endless_answer_is_skipped),
        cmocka_unit_test(mutated_input_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
