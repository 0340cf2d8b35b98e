/* What a name or an identifier means to this server. See server_ctx.h; server_ctx_life.c makes the tables. */
#include "server_ctx.h"

#include <string.h>
#include <strings.h>

/* "svr1" of "svr1.example.org" */
static bool is_short_of(const char *shorter, const char *longer)
{
    size_t n = strlen(shorter);

    return strncasecmp(shorter, longer, n) == 0 && (!longer[n] || longer[n] == '.');
}

bool server_ctx_is_named(const struct server_ctx *s, const char *server)
{
    return !*server || strcmp(server, "default") == 0 || is_short_of(server, s->name) ||
           is_short_of(s->name, server);
}

bool server_ctx_is_asked(const struct server_ctx *s, const struct jobid *id)
{
    char ask[sizeof id->ask];

    (void)snprintf(ask, sizeof ask, "%.*s", (int)strcspn(id->ask, ":"), id->ask);
    return server_ctx_is_named(s, id->server) && server_ctx_is_named(s, ask);
}

/* "7.svr1" as its server writes it, which is how it was noted. */
static struct job *find_by_alias(const struct server_ctx *s, const struct jobid *id)
{
    char was[JOBID_TEXT_MAX], server[sizeof id->server];
    struct jobid now;
    const char *name;

    if (server_ctx_is_asked(s, id))
        snprintf(server, sizeof server, "%s", s->name); /* it has been away, and has come back */
    else
        snprintf(server, sizeof server, "%.*s", (int)strcspn(id->server, "."), id->server);
    jobid_format(was, id->key, id->form == JOBID_ARRAY, server);
    name = s->alias ? s->alias(s->alias_arg, was) : NULL;
    return name && jobid_parse(name, &now, NULL) == 0 ? jobs_find_named(s->jobs, &now) : NULL;
}

struct job *server_ctx_find_job(const struct server_ctx *s, const struct jobid *id)
{
    struct job *j = server_ctx_is_asked(s, id) ? jobs_find_named(s->jobs, id) : NULL;

    if (j)
        return j;
    return (*id->server || server_ctx_is_asked(s, id)) && id->form != JOBID_RANGE ? find_by_alias(s, id)
                                                                                  : NULL;
}

const char *server_ctx_pbs_version(const struct server_ctx *s)
{
    const char *said = attr_list_text(&s->server->obj.attrs, SERVER_ATTR_reported_version);

    return said ? said : s->pbs_version;
}
