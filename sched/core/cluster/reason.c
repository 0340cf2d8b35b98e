/* Rows of sentences with places for two words. A reason is copied with its words, not with pointers to them:
 * it outlives the vnode or the limit that it speaks of. What is too long is cut. */
#include "reason.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *comment, *log;
} rows[REASON_COUNT] = {
#define REASON(name, comment, log) [REASON_##name] = {comment, log},
#include "reason.def"
#undef REASON
};

void reason_set(struct reason *r, enum reason_code code, const char *what, const char *detail)
{
    r->code = code;
    r->never = false;
    r->res = RES_NONE;
    r->entity = 0;
    r->in_queue = false;
    snprintf(r->what, sizeof r->what, "%s", what ? what : "");
    snprintf(r->detail, sizeof r->detail, "%s", detail ? detail : "");
}

void reason_lack(struct reason *r, enum reason_code code, const struct catalogue *c, res_id res, int64_t want,
                 int64_t available, int64_t total)
{
    const struct resource *x = catalogue_get(c, res);
    char w[RES_TEXT_MAX], a[RES_TEXT_MAX], t[RES_TEXT_MAX];

    reason_set(r, code, x->name, NULL);
    r->res = res;
    snprintf(r->detail, sizeof r->detail, "(R: %.30s A: %.30s T: %.30s)", res_format(x, want, w),
             res_format(x, available, a), res_format(x, total, t));
}

void reason_differs(struct reason *r, const struct catalogue *c, res_id res, const char *want,
                    const char *have)
{
    reason_set(r, REASON_LACK, catalogue_get(c, res)->name, NULL);
    r->res = res;
    snprintf(r->detail, sizeof r->detail, "(%.50s != %.50s)", want, have ? have : "");
}

/* Put `what` and `detail` where the row has %s; more of them than places: the rest is left out. */
static void reason_fill(const struct reason *r, const char *form, char *out, size_t size)
{
    const char *words[2] = {r->what, r->detail};
    size_t at = 0, next = 0;

    for (; *form && at + 1 < size; form++) {
        if (form[0] != '%' || form[1] != 's') {
            out[at++] = *form;
            continue;
        }
        int n = snprintf(out + at, size - at, "%s", next < 2 ? words[next] : "");
        next++;
        at = at + (size_t)n < size ? at + (size_t)n : size - 1;
        form++;
    }
    while (at > 0 && out[at - 1] == ' ')
        at--;
    out[at] = '\0';
}

const char *reason_comment(const struct reason *r, char out[static REASON_TEXT_MAX])
{
    int n = snprintf(out, REASON_TEXT_MAX, "%s", r->never ? "Can Never Run: " : "Not Running: ");

    reason_fill(r, rows[r->code].comment, out + n, REASON_TEXT_MAX - (size_t)n);
    return out;
}

const char *reason_log(const struct reason *r, char out[static REASON_TEXT_MAX])
{
    reason_fill(r, *rows[r->code].log ? rows[r->code].log : rows[r->code].comment, out, REASON_TEXT_MAX);
    return out;
}

bool reason_same(const struct reason *a, const struct reason *b)
{
    return a->code == b->code && a->never == b->never && strcmp(a->what, b->what) == 0 &&
           strcmp(a->detail, b->detail) == 0;
}

bool reasons_full(const struct reasons *l)
{
    return l->n >= l->max;
}

void reasons_keep(struct reasons *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (reason_same(&l->a[i], &l->a[l->n]))
            return;
    l->n++;
}
