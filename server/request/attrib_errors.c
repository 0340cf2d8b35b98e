/* Which attributes of a request are wrong. See attrib_errors.h.
 *
 * A handler that has refused a request comes here instead of request_fail(), with the change at which it gave up. The
 * others are tried one by one against nothing (attr_edit_try), so only mistakes that a value shows by itself are
 * found. Only a request that has failed comes here, so checking each attribute once more costs successful requests
 * nothing. UNSET and DECR say little without the object, and are not looked at. */
#include "attrib_errors.h"

#include <stdlib.h>

#include <ifl.h>

enum { ERRORS_MAX = 64 }; /* the bound of ifl_result.errors in ifl/protocol/ifl.x */

struct attrib_errors_found {
    ifl_attr_error list[ERRORS_MAX];
    struct err texts[ERRORS_MAX]; /* of the same places */
    size_t n;
};

static void attrib_errors_note(struct attrib_errors_found *f, const struct attr_edit_change *c,
                               const struct err *why)
{
    static char nothing[1]; /* never written to: XDR wants its strings mutable */

    f->texts[f->n] = *why;
    f->list[f->n] = (ifl_attr_error){.name = (char *)(c->name ? c->name : nothing),
                                     .resource = (char *)(c->resource ? c->resource : nothing),
                                     .value = (char *)(c->value ? c->value : nothing),
                                     .code = why->code,
                                     .text = f->texts[f->n].text};
    f->n++;
}

void attrib_errors_answer(struct request *r, const struct err *why, const struct attrib_errors_ask *ask)
{
    struct attrib_errors_found *f = ask->at < ask->n ? calloc(1, sizeof *f) : NULL;
    struct err e;

    if (!f) {
        request_fail(r, why);
        return;
    }
    attrib_errors_note(f, &ask->changes[ask->at], why);
    for (size_t i = 0; i < ask->n && f->n < ERRORS_MAX; i++) {
        const struct attr_edit_change *c = &ask->changes[i];

        if (i != ask->at && (c->op == SET || c->op == INCR) && c->value && *c->value &&
            attr_edit_try(ask->ctx, ask->of, c, &ask->writer, &e) < 0)
            attrib_errors_note(f, c, &e);
    }
    request_fail_attrs(r, why, f->list, f->n);
    free(f);
}
