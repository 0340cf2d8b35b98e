/* The text is the server's; where it sent none, the number of the error is shown. See api_error.h. */
#include "api_error.h"

#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

/* Print "TEXT WHAT" with WHAT once: the server may have named it already, and without its own name ("41" of
 * "41.svr1"). */
static void api_error_print(const struct cmd_args *a, const char *text, const char *what)
{
    const char *blank = strrchr(text, ' '), *last = blank ? blank + 1 : text;
    size_t n = strlen(last);

    if (n && !strncmp(what, last, n) && (!what[n] || strchr(".@", what[n])))
        cmd_error(a, "%.*s%s", (int)(last - text), text, what);
    else if (!*what || strstr(text, what))
        cmd_error(a, "%s", text);
    else
        cmd_error(a, "%s %s", text, what);
}

void api_error_report_attribs(const struct cmd_args *a, int c, const char *what)
{
    const struct ecl_attribute_errors *wrong = pbs_get_attributes_in_error(c);

    for (int i = 1; wrong && i < wrong->ecl_numerrors; i++) /* the first one has the text of the call */
        if (wrong->ecl_attrerr[i].ecl_errmsg)
            api_error_print(a, wrong->ecl_attrerr[i].ecl_errmsg, what);
}

int api_error_report(const struct cmd_args *a, int c, const char *what)
{
    int code = api_error_report_text(a, pbs_geterrmsg(c), what);

    api_error_report_attribs(a, c, what);
    return code;
}

int api_error_report_text(const struct cmd_args *a, const char *text, const char *what)
{
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;

    if (text && *text)
        api_error_print(a, text, what);
    else if (*what)
        cmd_error(a, "Server returned error %d for job %s", code, what);
    else
        cmd_error(a, "Error (%d) returned from server", code);
    return code;
}
