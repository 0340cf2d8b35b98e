/* The server knows the caller by the kernel, so a connection has the rights of the user that runs this program and no others.
 * Threads share none: an answer that is slow to come holds up its own thread only. */
#include "web_pbs.h"

#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"
#include "web_call.h"

static __thread int connection = -1; /* of this thread, which serves one request after the other */

static const struct {
    int code;
    unsigned status;
} statuses[] = {
    {PBSE_UNKJOBID, 404},         {PBSE_UNKQUE, 404},        {PBSE_UNKNODE, 404},     {PBSE_UNKRESVID, 404},
    {PBSE_HISTJOBID, 404},        {PBSE_JOBHISTNOTSET, 404}, {PBSE_PERM, 403},        {PBSE_BADHOST, 403},
    {PBSE_BADCRED, 403},          {PBSE_BADUSER, 403},       {PBSE_QACESS, 403},      {PBSE_QUNOENB, 409},
    {PBSE_BADSTATE, 409},         {PBSE_MODATRRUN, 409},     {PBSE_ALRDYEXIT, 409},   {PBSE_OBJBUSY, 409},
    {PBSE_JOBEXIST, 409},         {PBSE_QUENOEN, 409},       {PBSE_NORERUN, 409},     {PBSE_MAXQUED, 429},
    {PBSE_TOOMANY, 429},          {PBSE_ENTLIMCT, 429},      {PBSE_ENTLIMRESC, 429},  {PBSE_NOSUP, 501},
    {PBSE_SYSTEM, 500},           {PBSE_INTERNAL, 500},      {PBSE_PROTOCOL, 503},    {PBSE_NOCONNECTS, 503},
    {PBSE_NOSERVER, 503},         {PBSE_CONNFULL, 503},      {PBSE_NOSCHEDULER, 503}, {PBSE_TRYAGAIN, 503},
    {PBSE_JOBSCRIPTMAXSIZE, 413},
};

/* The HTTP status that goes with PBS's number. */
static unsigned web_pbs_status(int code)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].code == code)
            return statuses[i].status;
    return code > PBSE_
               ? 422
               : 503; /* the request is well formed, but not what the server takes; or it is not there */
}

int web_pbs_connect(struct web_call *w)
{
    if (connection < 0)
        connection = pbs_connect(NULL);
    if (connection < 0)
        web_call_problem(w, 503, pbs_errno > PBSE_ ? pbs_errno : PBSE_NOSERVER,
                         "the server cannot be reached");
    return connection;
}

static void web_pbs_close(void)
{
    if (connection >= 0)
        pbs_disconnect(connection);
    connection = -1;
}

bool web_pbs_lost(void)
{
    if (pbs_errno != PBSE_PROTOCOL && pbs_errno != PBSE_NOCONNECTS && pbs_errno != PBSE_NOSERVER &&
        pbs_errno > PBSE_)
        return false;
    web_pbs_close();
    return true;
}

void web_pbs_failed(struct web_call *w, int c)
{
    int code = pbs_errno;
    const char *text = pbs_geterrmsg(c);
    struct ecl_attribute_errors *wrong = pbs_get_attributes_in_error(c);

    if ((!text || !*text) && wrong && wrong->ecl_numerrors && wrong->ecl_attrerr[0].ecl_errmsg)
        text = wrong->ecl_attrerr[0].ecl_errmsg;
    web_call_problem(w, web_pbs_status(code), code > 0 ? code : PBSE_INTERNAL, "%s",
                     text && *text ? text : "the server gave no reason");
    if (web_pbs_status(code) == 503)
        web_pbs_close();
}

bool web_pbs_ask(struct web_call *w, int (*ask)(struct web_call *w, int c, void *arg), void *arg)
{
    for (int tries = 0;; tries++) {
        int c = web_pbs_connect(w);

        if (c < 0)
            return false;
        if (ask(w, c, arg) == 0)
            return true;
        if (tries || !web_pbs_lost()) {
            web_pbs_failed(w, c);
            return false;
        }
    }
}
