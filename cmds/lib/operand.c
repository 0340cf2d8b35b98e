/* Two forms of one identifier, for the call and for messages: PBS's messages name a job with its server even where
 * the user did not. */
#include "operand.h"

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

int operand_destination(const struct cmd_args *a, const char *text, struct destination *out)
{
    struct err e;

    return jobid_parse_destination(text, out, &e) < 0 ? cmd_error(a, "%s", e.text) : 0;
}
