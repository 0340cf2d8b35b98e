/* Reservations: submitted, altered, confirmed, deleted. The server answers with text; pbs_statresv is in pbs_stat.c.
 *
 * A submission with the attribute `interactive` is answered when it is decided or the time is over, so it may take long;
 * like every call it has no limit of its own (call.c). The answer's text is the caller's to free. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "replaceable.h"
#include "report.h"

static char *resv_text_request(int c, uint32_t proc, const char *resvid, const struct attropl *attrib,
                               const char *extend)
{
    ifl_resv_args a = {.resv = call_text(resvid), .extend = call_text(extend)};
    ifl_text_result r = {0};
    char *text = NULL;

    report_clear(c);
    if (call_attrops(c, attrib, &a.attrs) < 0)
        return NULL;
    if (call_do(c, proc, (xdrproc_t)xdr_ifl_resv_args, &a, (xdrproc_t)xdr_ifl_text_result, &r) == 0) {
        text = strdup(r.text);
        if (!text)
            (void)report_set(c, PBSE_SYSTEM, "no memory for the answer about a reservation");
    }
    xdr_free((xdrproc_t)xdr_ifl_text_result, (char *)&r);
    free(a.attrs.wire_attrops_val);
    return text;
}

char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend)
{
    return resv_text_request(c, IFL_SUBMIT_RESV, "", attrib, extend);
}

static int pbs_resv_check_id(int c, const char *resvid)
{
    report_clear(c);
    return resvid && *resvid ? 0 : report_set(c, PBSE_IVALREQ, "no reservation is named");
}

char *pbs_modify_resv(int c, const char *resvid, struct attropl *attrib, const char *extend)
{
    return pbs_resv_check_id(c, resvid) ? NULL
                                        : resv_text_request(c, IFL_MODIFY_RESV, resvid, attrib, extend);
}

int pbs_delresv(int c, const char *resvid, const char *extend)
{
    ifl_resv_args a = {.resv = call_text(resvid), .extend = call_text(extend)};
    int rc = pbs_resv_check_id(c, resvid);

    return rc ? rc : call_simple(c, IFL_DELETE_RESV, (xdrproc_t)xdr_ifl_resv_args, &a);
}

static int confirm_request(int (*call)(int, uint32_t, xdrproc_t, const void *), int c, const char *resvid,
                           const char *location, unsigned long start, const char *extend, int *rc)
{
    ifl_confirm_resv_args a = {.resv = call_text(resvid),
                               .location = call_text(location),
                               .start_s = (int64_t)start,
                               .extend = call_text(extend)};

    *rc = pbs_resv_check_id(c, resvid);
    if (!*rc && call_check_value(c, "the location of a reservation", location) < 0)
        *rc = pbs_errno;
    return *rc ? -1 : call(c, IFL_CONFIRM_RESV, (xdrproc_t)xdr_ifl_confirm_resv_args, &a);
}

int pbs_confirmresv(int c, const char *resvid, const char *location, unsigned long start, const char *extend)
{
    int rc, answer = confirm_request(call_simple, c, resvid, location, start, extend, &rc);

    return rc ? rc : answer;
}

int pbs_confirmresv_send(int c, const char *resvid, const char *location, unsigned long start,
                         const char *extend)
{
    int rc;

    return confirm_request(call_simple_send, c, resvid, location, start, extend, &rc);
}
