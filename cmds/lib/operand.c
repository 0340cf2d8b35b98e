/* Two forms of one identifier, for the call and for messages: PBS's messages name a job with its server even where
 * the user did not. */
#include "operand.h"

#include <stdio.h>
#include <string.h>

#include "strbuf.h"

/* Get the default server without its port, as in job identifiers; "" if there is none. */
static void default_server(char *out, size_t size)
{
    const char *name = pbs_default();
    size_t n = name ? strcspn(name, ":") : 0;

    if (n >= size)
        n = 0;
    memcpy(out, name ? name : "", n);
    out[n] = '\0';
}

static void operand_complete(const struct jobid *id, const char *server, char *out, size_t size)
{
    struct strbuf b;

    strbuf_init(&b, size - 1);
    jobid_complete(id, server, &b);
    memcpy(out, b.s, b.len + 1);
    strbuf_fini(&b);
}

int operand_job(const struct cmd_args *a, const char *text, struct operand_job *out)
{
    char server[PBS_MAXSERVERNAME + 1];
    struct jobid id;
    struct err e;

    if (jobid_parse(text, &id, &e) < 0)
        return cmd_error(a, "%s", e.text);
    default_server(server, sizeof server);
    operand_complete(&id, "", out->id, sizeof out->id);
    operand_complete(&id, server, out->shown, sizeof out->shown);
    memcpy(out->server, id.ask, sizeof out->server);
    return 0;
}

int operand_resv(const struct cmd_args *a, const char *text, char out[static OPERAND_RESV_MAX])
{
    char server[PBS_MAXSERVERNAME + 1];
    size_t n = *text ? strspn(text + 1, "0123456789") : 0;
    const char *rest = text + 1 + n;

    if (!*text || !strchr("RSM", *text) || n == 0 || n > PBS_MAXSEQNUM || (*rest && !strchr(".@", *rest)) ||
        strlen(text) + PBS_MAXSERVERNAME >= OPERAND_RESV_MAX)
        return cmd_error(a, "illegally formed reservation identifier: %s", text);
    default_server(server, sizeof server);
    if (*rest == '.' || !*server)
        snprintf(out, OPERAND_RESV_MAX, "%s", text);
    else
        snprintf(out, OPERAND_RESV_MAX, "%.*s.%s%s", (int)(1 + n), text, server, rest);
    return 0;
}

int operand_destination(const struct cmd_args *a, const char *text, struct destination *out)
{
    struct err e;

    return jobid_parse_destination(text, out, &e) < 0 ? cmd_error(a, "%s", e.text) : 0;
}
