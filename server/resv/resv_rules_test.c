#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "node.h"
#include "queue.h"
#include "resv_fsm.h"
#include "resv_revert.h"

/* What each event does in each state, for a reservation that ... */
enum {
    JOBS = 1,     /* has jobs in its queue */
    MORE = 2,     /* has occurrences left behind the present one */
    TAKEN = 4,    /* has its vnodes */
    DEGRADED = 8, /* has lost some */
    FORCED = 16,  /* is altered by force */
    LATER = 32,   /* is altered to begin at another time */
    CONFLICT = 64 /* has a vnode that a maintenance reservation has taken */
};

/* In the order of enum resv_event: confirm refuse start end delete empty alter lost lost_later back. */
static const struct row {
    const char *state;
    unsigned is;
    const char *want;
} rows[] = {
    {"UN", 0, "confirmed>CO refused>gone none>UN refused>gone remove>gone - - - - -"},
    {"UN", JOBS, "confirmed>CO refused-close>BD none>UN refused-close>BD close>BD - - - - -"},
    {"CO", 0, "- - started>RN remove>gone remove>gone - altered>AL degraded>DG degraded>CO whole>CO"},
    {"CO", JOBS, "- - started>RN close>BD close>BD - altered>AL degraded>DG degraded>CO whole>CO"},
    {"CO", MORE, "- - started>RN next>CO remove>gone - altered>AL degraded>DG degraded>CO whole>CO"},
    {"CO", MORE | JOBS, "- - started>RN next>CO close>BD - altered>AL degraded>DG degraded>CO whole>CO"},
    {"CO", DEGRADED | MORE,
     "confirmed>CO retry>CO started>RN next>CO remove>gone - altered>AL degraded>DG degraded>CO whole>CO"},
    {"RN", TAKEN, "- - - end-remove>gone remove>gone - altered>AL degraded>RN degraded>RN whole>RN"},
    {"RN", TAKEN | JOBS, "- - - end-close>BD close>BD - altered>AL degraded>RN degraded>RN whole>RN"},
    {"RN", TAKEN | MORE, "- - - occurrence>DJ remove>gone - altered>AL degraded>RN degraded>RN whole>RN"},
    {"RN", TAKEN | DEGRADED,
     "confirmed>RN retry>RN - end-remove>gone remove>gone - altered>AL degraded>RN degraded>RN whole>RN"},
    {"DG", DEGRADED,
     "confirmed>CO retry>DG started>RN remove>gone remove>gone - altered>AL none>DG none>CO whole>CO"},
    {"DG", DEGRADED | JOBS,
     "confirmed>CO retry>DG started>RN close>BD close>BD - altered>AL none>DG none>CO whole>CO"},
    {"DG", DEGRADED | MORE,
     "confirmed>CO retry>DG started>RN next>CO remove>gone - altered>AL none>DG none>CO whole>CO"},
    {"DG", DEGRADED | CONFLICT,
     "confirmed>CO retry>DG started>RN remove>gone remove>gone - altered>AL degraded>DG none>CO whole>CO"},
    {"DJ", TAKEN | MORE, "- - - - remove>gone next>CO - - - -"},
    {"DJ", TAKEN | MORE | JOBS, "- - - - close>BD next>CO - - - -"},
    {"BD", TAKEN | JOBS, "- - - - close>BD remove>gone - - - -"},
    {"AL", 0, "confirmed>CO revert>CO - - remove>gone - - - - -"},
    {"AL", JOBS, "confirmed>CO revert>CO - - close>BD - - - - -"},
    {"AL", DEGRADED, "confirmed>CO revert>DG - - remove>gone - - - - -"},
    {"AL", TAKEN, "confirmed>RN revert>RN - - remove>gone - - - - -"},
    {"AL", TAKEN | DEGRADED, "confirmed>RN revert>RN - - remove>gone - - - - -"},
    {"AL", TAKEN | LATER, "confirmed>CO revert>RN - - remove>gone - - - - -"},
    {"AL", FORCED, "confirmed>CO forced>CO - - remove>gone - - - - -"},
    {"AL", FORCED | LATER, "confirmed>CO forced>CO - - remove>gone - - - - -"},
    {"AL", FORCED | DEGRADED, "confirmed>CO forced>DG - - remove>gone - - - - -"},
    {"AL", FORCED | TAKEN, "confirmed>RN forced>RN - - remove>gone - - - - -"},
    {"AL", FORCED | TAKEN | LATER, "confirmed>CO forced>CO - - remove>gone - - - - -"},
};

static const char *const actions[RESV_ACT_COUNT] = {
    [RESV_ACT_NONE] = "none",
    [RESV_ACT_CONFIRMED] = "confirmed",
    [RESV_ACT_REFUSED] = "refused",
    [RESV_ACT_REFUSED_CLOSE] = "refused-close",
    [RESV_ACT_STARTED] = "started",
    [RESV_ACT_CLOSE] = "close",
    [RESV_ACT_OCCURRENCE] = "occurrence",
    [RESV_ACT_END_CLOSE] = "end-close",
    [RESV_ACT_END_REMOVE] = "end-remove",
    [RESV_ACT_NEXT] = "next",
    [RESV_ACT_REMOVE] = "remove",
    [RESV_ACT_ALTERED] = "altered",
    [RESV_ACT_REVERT] = "revert",
    [RESV_ACT_FORCED] = "forced",
    [RESV_ACT_DEGRADED] = "degraded",
    [RESV_ACT_WHOLE] = "whole",
    [RESV_ACT_RETRY] = "retry",
};

static const char *const letters[] = {
    [RESV_NONE] = "gone",   [RESV_UNCONFIRMED] = "UN",   [RESV_CONFIRMED] = "CO",
    [RESV_RUNNING] = "RN",  [RESV_BEING_DELETED] = "BD", [RESV_DELETING_JOBS] = "DJ",
    [RESV_DEGRADED] = "DG", [RESV_BEING_ALTERED] = "AL",
};

static void resv_put(struct resv *r, int index, int64_t n)
{
    assert_int_equal(attr_list_set_number(&r->obj.attrs, index, n, NULL), 0);
}

static int state_of(const char *word)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i] && strcmp(letters[i], word) == 0)
            return (int)i;
    fail_msg("no state %s", word);
    return -1;
}

static struct resv maintenance = {.obj.name = "M2.svr"};
static struct node vnode;
static struct resv_share of_maintenance = {.resv = &maintenance, .node = &vnode};
static struct resv_share share = {.node = &vnode, .next = &of_maintenance};

/* Both have the vnode at that time. */
static void resv_take_from(struct resv *r)
{
    if (!attr_list_is_set(&maintenance.obj.attrs, RESV_ATTR_reserve_start)) {
        attr_list_init(&maintenance.obj.attrs, OF_RESV);
        resv_put(&maintenance, RESV_ATTR_reserve_start, 2000);
        resv_put(&maintenance, RESV_ATTR_reserve_end, 3000);
    }
    share.resv = r;
    vnode.shares = &share;
    r->shares = &share;
    r->n_shares = 1;
}

static void make(struct resv *r, struct queue *q, const struct row *x)
{
    memset(r, 0, sizeof *r);
    memset(q, 0, sizeof *q);
    attr_list_init(&r->obj.attrs, OF_RESV);
    r->obj.name = x->is & MORE ? "S1.svr" : "R1.svr";
    r->queue = q;
    q->n_jobs = x->is & JOBS ? 1 : 0;
    r->taken = x->is & TAKEN;
    resv_put(r, RESV_ATTR_reserve_index, 1);
    resv_put(r, RESV_ATTR_reserve_count, x->is & MORE ? 2 : 1);
    resv_put(r, RESV_ATTR_reserve_standing, x->is & MORE ? 1 : 0);
    resv_put(r, RESV_ATTR_reserve_start, 1000);
    resv_put(r, RESV_ATTR_reserve_end, 2000);
    resv_put(r, RESV_ATTR_reserve_state, state_of(x->state));
    resv_put(r, RESV_ATTR_reserve_substate, x->is & DEGRADED ? RESV_DEGRADED : RESV_RUNNING);
    if (resv_state(r) == RESV_BEING_ALTERED)
        assert_int_equal(resv_revert_keep(r, x->is & FORCED), 0);
    if (x->is & LATER)
        resv_put(r, RESV_ATTR_reserve_start, 1500);
    if (x->is & CONFLICT)
        resv_take_from(r);
}

static void each_event_does_in_each_state_what_the_page_says(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[400] = "";
        struct resv r;
        struct queue q;

        make(&r, &q, &rows[i]);
        for (int e = 0; e < RESV_EV_COUNT; e++) {
            const struct resv_rule *x = resv_fsm_rule(&r, (enum resv_event)e);
            size_t n = strlen(got);

            if (x)
                snprintf(got + n, sizeof got - n, "%s%s>%s", e ? " " : "", actions[x->act], letters[x->to]);
            else
                snprintf(got + n, sizeof got - n, "%s-", e ? " " : "");
        }
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s, %u: %s\nnot %s", rows[i].state, rows[i].is, got, rows[i].want);
        attr_list_fini(&r.obj.attrs);
    }
}

static void the_last_row_of_a_pair_is_unguarded_or_the_event_may_mean_nothing(void **state)
{
    for (size_t i = 0; i < resv_rules_count; i++) {
        const struct resv_rule *last = &resv_rules[i];
        bool decides = last->event == RESV_EV_CONFIRM || last->event == RESV_EV_REFUSE;

        for (size_t k = i; k < resv_rules_count; k++)
            if (resv_rules[k].in == last->in && resv_rules[k].event == last->event)
                last = &resv_rules[k];
        assert_true(!last->when || ((last->in == RESV_RUNNING || last->in == RESV_CONFIRMED) && decides));
    }
}

static void every_row_is_met_by_one_of_these(void **state)
{
    bool met[100] = {false};

    assert_true(resv_rules_count <= sizeof met);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct resv r;
        struct queue q;

        make(&r, &q, &rows[i]);
        for (int e = 0; e < RESV_EV_COUNT; e++) {
            const struct resv_rule *x = resv_fsm_rule(&r, (enum resv_event)e);

            if (x)
                met[x - resv_rules] = true;
        }
        attr_list_fini(&r.obj.attrs);
    }
    for (size_t i = 0; i < resv_rules_count; i++)
        if (!met[i])
            fail_msg("row %zu of resv_rules", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_does_in_each_state_what_the_page_says),
        cmocka_unit_test(the_last_row_of_a_pair_is_unguarded_or_the_event_may_mean_nothing),
        cmocka_unit_test(every_row_is_met_by_one_of_these),
    };

    int rc = cmocka_run_group_tests(tests, NULL, NULL);

    attr_list_fini(&maintenance.obj.attrs);
    return rc;
}
