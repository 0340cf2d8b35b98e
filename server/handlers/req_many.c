/* One request, several subjobs. See req_many.h.
 *
 * The count of open outcomes begins with one for the trying itself: outcomes may be known at once or much
 * later, and only the last of all answers. */
#include "req_many.h"

#include <stdlib.h>

#include "pbs_error.h"

struct req_many {
    struct request *request; /* referenced */
    size_t open, good;       /* outcomes that are not known, and 1 until the end */
    struct err last;
};

struct req_many *req_many_begin(struct request *r, int code, const char *text)
{
    struct req_many *m = calloc(1, sizeof *m);

    if (!m) {
        request_failf(r, PBSE_SYSTEM, "no memory for subjobs");
        return NULL;
    }
    m->request = request_ref(r);
    m->open = 1;
    err_set(&m->last, code, "%s", text);
    return m;
}

void req_many_add(struct req_many *m)
{
    m->open++;
}

static void one_less(struct req_many *m)
{
    if (--m->open > 0)
        return;
    if (m->good)
        request_ok(m->request);
    else
        request_fail(m->request, &m->last);
    request_unref(m->request);
    free(m);
}

void req_many_known(struct req_many *m, int rc, const struct err *why)
{
    if (rc < 0)
        m->last = *why;
    else
        m->good++;
    one_less(m);
}

void req_many_end(struct req_many *m)
{
    one_less(m);
}
