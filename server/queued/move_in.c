/* Jobs of other servers. See move_in.h.
 *
 * submit.c serves ARRIVE by the steps of a submission and asks here what is different for a job that moves. ARRIVE may come twice, also after
 * a restart of either server: the sender repeats it until it has an answer. It is recognised by its token as long as the job is here
 * (jobs_find_token), and by a note of the store after that; so it is never made a second time. */
#include "move_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "admit.h"
#include "commit.h"
#include "job_identity.h"
#include "log.h"
#include "store_notes.h"
#include "pbs_error.h"
#include "request.h"
#include "rpc_request.h"
#include "server_ctx.h"

enum { TOKEN_TEXT = 2 * IFL_TOKEN_SIZE + 1 };

static const char origin_is[] = "origin=";

int move_in_check(const struct server_ctx *s, struct commit *c, const ifl_arrive_args *a, struct err *e)
{
    if (s->server->terminating)
        return err_set(e, PBSE_SVRDOWN, "Request not allowed: Server shutting down");
    if (commit_check(c, e) < 0)
        return -1;
    if (!strchr(a->owner, '@') || *a->owner == '@')
        return err_set(e, PBSE_IVALREQ, "Invalid request: \"%s\" is not an owner (user@host)", a->owner);
    if (!attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_flatuid, false))
        return err_set(
            e, PBSE_BADUSER,
            "Bad UID for job execution: %s is not known here by the same name (flatuid is not set)",
            a->owner);
    if (a->hops > MOVE_IN_HOPS_MAX)
        return err_set(e, PBSE_HOPCOUNT, "Job routing over too many hops");
    if (admit_check_open(s, LEVEL_USER, e) < 0)
        return -1;
    return admit_check_server(s, a->owner, strchr(a->owner, '@') + 1, e);
}

struct client *move_in_owner(const struct server_ctx *s, struct request *r, const ifl_arrive_args *a)
{
    size_t n = strcspn(a->owner, "@");
    char user[JOB_IDENTITY_NAME_MAX];
    struct client *c;

    snprintf(user, sizeof user, "%.*s", (int)n, a->owner);
    c = client_create(s, rpc_request_peer(request_rpc(r)), user, a->owner + n + 1);
    if (c)
        client_set_level(c, LEVEL_MANAGER); /* what operators had done to the job comes with it */
    return c;
}

void move_in_take_script(ifl_arrive_args *a)
{
    if (!a->long_script.long_script_len || a->job.script.script_len)
        return;
    free(a->job.script.script_val);
    a->job.script.script_val = a->long_script.long_script_val;
    a->job.script.script_len = a->long_script.long_script_len;
    a->long_script.long_script_val = NULL;
    a->long_script.long_script_len = 0;
}

static const char *token_text(const char *token, char out[static TOKEN_TEXT])
{
    for (int i = 0; i < IFL_TOKEN_SIZE; i++)
        snprintf(out + 2 * (size_t)i, 3, "%02x", (unsigned char)token[i]);
    return out;
}

/* A token belongs to one user's submission. */
static bool move_in_is_of(const struct job *j, const ifl_arrive_args *a)
{
    size_t n = strcspn(a->owner, "@");

    return j && strncmp(j->user, a->owner, n) == 0 && !j->user[n];
}

const char *move_in_find(const struct server_ctx *s, struct store_notes *n, const ifl_arrive_args *a)
{
    const struct job *j = jobs_find_token(s->jobs, (const unsigned char *)a->job.token);
    char token[TOKEN_TEXT];

    return move_in_is_of(j, a) ? j->obj.name : store_notes_find(n, "token", token_text(a->job.token, token));
}

/* Read the origin from what the sending server says; without it, the origin is the name of the job there. */
static void read_origin(const ifl_arrive_args *a, char out[static MOVE_IN_ORIGIN_MAX])
{
    size_t n = a->ext.wire_ext_len, skip = sizeof origin_is - 1;
    const char *text = a->ext.wire_ext_val;

    if (n > skip && n - skip < MOVE_IN_ORIGIN_MAX && memcmp(text, origin_is, skip) == 0)
        snprintf(out, MOVE_IN_ORIGIN_MAX, "%.*s", (int)(n - skip), text + skip);
    else
        snprintf(out, MOVE_IN_ORIGIN_MAX, "%s", a->from);
}

/* The job was made here, had moved away, and comes back. */
static void come_home(struct store_notes *n, struct commit *c, const char *origin, const struct jobid *id)
{
    if (!store_notes_find(n, "gone", origin))
        return;
    store_notes_drop(n, "gone", origin);
    commit_remove_history(c, id->key);
}

void move_in_note(const struct server_ctx *s, struct store_notes *n, struct commit *c,
                  const ifl_arrive_args *a, struct job *j)
{
    char token[TOKEN_TEXT], origin[MOVE_IN_ORIGIN_MAX];
    struct jobid id;

    store_notes_put(n, "token", token_text(a->job.token, token), j->obj.name);
    store_notes_put(n, "was", a->from, j->obj.name);
    read_origin(a, origin);
    if (strcmp(origin, a->from) != 0)
        store_notes_put(n, "was", origin, j->obj.name);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_origin, origin, NULL);
    if (jobid_parse(origin, &id, NULL) == 0 && *id.server && server_ctx_is_named(s, id.server))
        come_home(n, c, origin, &id);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "was job %s of another server", a->from);
}

void move_in_origin(const struct job *j, char out[static MOVE_IN_ORIGIN_MAX])
{
    const char *origin = attr_list_text(&j->obj.attrs, JOB_ATTR_origin);

    snprintf(out, MOVE_IN_ORIGIN_MAX, "%s%s", origin_is, origin ? origin : j->obj.name);
}
