/* How targets ended that are history. See depend_history.h.
 *
 * One question a target; the last answer calls back. The count begins with one for the asking itself, so
 * that answers cannot end it early. If the store takes no question at all, the caller is called back
 * before depend_history_ask returns. */
#include "depend_history.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "depend_list.h"
#include "json_read.h"
#include "pbs_error.h"
#include "store_reader.h"
#include "server_ctx.h"

struct depend_history_question {
    depend_history_fn *fn;
    void *arg;
    size_t open; /* answers that are to come, and 1 while questions are asked */
    size_t n;
    struct depend_history found[];
};

static void one_less(struct depend_history_question *q)
{
    if (--q->open > 0)
        return;
    q->fn(q->arg, q->found, q->n);
    free(q);
}

static bool says(json_t *job, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(job, name));

    return text && strcmp(text, value) == 0;
}

/* Judge as depend.c does for a job in memory: an array that was deleted is not ok, whatever its subjobs were. */
static bool is_ok(json_t *job)
{
    return says(job, "Exit_status", "0") && !(says(job, "array", "True") && says(job, "substate", "91"));
}

static void depend_history_answered(void *arg, const struct history_row *rows, size_t n,
                                    const struct err *why)
{
    struct depend_history_question *q = arg;
    json_t *job = n > 0 ? json_read_own(rows->attrs) : NULL;

    (void)why; /* what cannot be read is not known, and said to be so */
    if (n > 0 && !history_row_is_moved(rows))
        q->found[q->n++] = (struct depend_history){
            .key = rows->key,
            .started = json_object_get(job, "stime") != NULL,
            .ok = is_ok(job),
        };
    json_decref(job);
    one_less(q);
}

static bool is_past(const struct server_ctx *s, const struct depend_item *item)
{
    return depend_is_after(item->kind) && !jobs_find(s->jobs, item->key);
}

static int ask_all(struct depend_history_question *q, const struct server_ctx *s, struct store_reader *r,
                   const struct depend_items *l)
{
    int rc = 0;

    q->open = 1;
    for (size_t i = 0; i < l->n; i++) {
        struct err e;

        if (!is_past(s, &l->v[i]))
            continue;
        q->open++;
        rc = 1;
        if (store_reader_history_job(r, l->v[i].key, depend_history_answered, q, &e) < 0)
            q->open--; /* the store is overrun: as if it were not there */
    }
    one_less(q);
    return rc;
}

int depend_history_ask(const struct server_ctx *s, struct store_reader *r, const char *text,
                       depend_history_fn *fn, void *arg, struct err *e)
{
    struct depend_items l;
    struct depend_history_question *q;
    struct err ignored;
    size_t n = 0;

    if (!text || !r || !server_obj_history(s->server) || depend_list_read(s, text, &l, &ignored) < 0)
        return 0;
    for (size_t i = 0; i < l.n; i++)
        n += is_past(s, &l.v[i]);
    q = n ? calloc(1, sizeof *q + n * sizeof q->found[0]) : NULL;
    if (n && !q) {
        depend_list_fini(&l);
        return err_set(e, PBSE_SYSTEM, "no memory to ask for the past of jobs");
    }
    if (q) {
        q->fn = fn;
        q->arg = arg;
        ask_all(q, s, r, &l);
    }
    depend_list_fini(&l);
    return n > 0;
}
