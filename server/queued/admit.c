/* May this job enter this queue? See admit.h.
 *
 * The first refusal is the one that is told, so the order shows. Routing takes some of them (closed, full,
 * over a limit) as true for the moment only, and tries again later: route.c. An ACL of users or groups that is
 * on and empty allows every user, one of hosts allows no host.
 *
 * Asked when a job is submitted, moved, routed and comes from another server; an alteration asks for the bounds only. Changes nothing; the
 * caller enters the queue in the same turn, so what was checked still holds. */
#include "admit.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "access.h"
#include "pbs_error.h"
#include "place.h"
#include "queued_limits.h"
#include "resv.h"
#include "server_ctx.h"

static bool on(const struct queue *q, int index)
{
    return attr_list_bool(&q->obj.attrs, index, false);
}

enum { HOST_MAX = 600 }; /* two names of 255 bytes, host and domain, with room left */

/* The other name of a host of the server's own domain: "n2" of "n2.site.example", and the other way round. NULL: the domain is
 * another, or that of the server is not known. */
static const char *other_name(const struct server_ctx *s, const char *host, char out[static HOST_MAX])
{
    const char *domain = s->full_name ? strchr(s->full_name, '.') : strchr(s->name, '.');
    size_t n = strcspn(host, ".");

    if (!domain || n + strlen(domain) >= HOST_MAX || (host[n] && strcasecmp(host + n, domain) != 0))
        return NULL;
    snprintf(out, HOST_MAX, "%.*s%s", (int)n, host, host[n] ? "" : domain);
    return out;
}

/* An entry without a domain is in the domain of the server, as names are for its resolver. */
static bool lists_host(const struct server_ctx *s, const char *acl, const char *host)
{
    char other[HOST_MAX];

    return access_acl_allows_either(acl, ACL_HOST, host, other_name(s, host, other), false);
}

static int check_acls(const struct server_ctx *s, const struct queue *q, const struct admit_ask *ask,
                      struct err *e)
{
    const struct attr_list *a = &q->obj.attrs;

    if (on(q, QUEUE_ATTR_acl_host_enable) &&
        !lists_host(s, attr_list_text(a, QUEUE_ATTR_acl_hosts), ask->host))
        return err_set(e, PBSE_BADHOST, "Access from host not allowed, or unknown host");
    if (on(q, QUEUE_ATTR_acl_user_enable) &&
        !access_acl_allows(attr_list_text(a, QUEUE_ATTR_acl_users), ACL_USER, ask->owner, true))
        return err_set(e, PBSE_PERM, "Unauthorized Request : queue %s does not take jobs of %s", q->obj.name,
                       ask->owner);
    if (on(q, QUEUE_ATTR_acl_group_enable) &&
        !access_acl_allows(attr_list_text(a, QUEUE_ATTR_acl_groups), ACL_GROUP, ask->job->egroup, true))
        return err_set(
            e, PBSE_PERM,
            "Unauthorized Request : queue %s does not take jobs of group %s (see qsub -W group_list)",
            q->obj.name, ask->job->egroup);
    return 0;
}

/* The longest that a job which shrinks to fit may run: its scheduler gives it a walltime between min_ and max_walltime. */
static int64_t longest_s(const struct resc_list *want)
{
    const struct value *max = resc_find(want, RESC_max_walltime);
    int64_t least_s = value_number(resc_find(want, RESC_min_walltime));
    int64_t most_s = value_number(max ? max : resc_find(want, RESC_walltime));

    return most_s > least_s ? most_s : least_s;
}

static bool is_too_long(const struct resc_list *want, const struct resc_list *max,
                        const struct resc_list *otherwise)
{
    const struct value *bound = resc_find(max, RESC_walltime);

    if (!bound)
        bound = resc_find(otherwise, RESC_walltime);
    return bound && resc_find(want, RESC_min_walltime) && longest_s(want) > value_number(bound);
}

/* The amount that is compared with resources_min. */
static const struct value *least_of(const struct resc_list *want, int id)
{
    const struct value *min = id == RESC_walltime ? resc_find(want, RESC_min_walltime) : NULL;

    return min ? min : resc_find(want, id);
}

int admit_check_bounds(const struct server_ctx *s, const struct queue *q, const struct job *j, struct err *e)
{
    const struct resc_list *want = attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
    const struct resc_list *min = attr_list_amounts(&q->obj.attrs, QUEUE_ATTR_resources_min);
    const struct resc_list *max = attr_list_amounts(&q->obj.attrs, QUEUE_ATTR_resources_max);
    const struct resc_list *otherwise = attr_list_amounts(&s->server->obj.attrs, SERVER_ATTR_resources_max);
    int id =
        is_too_long(want, max, otherwise) ? RESC_walltime : resc_exceeds(want, max, otherwise, s->resources);

    if (id != RESC_NONE)
        return err_set(e, PBSE_EXCQRESC,
                       "Job violates queue and/or server resource limits: more %s than queue %s allows",
                       resource_get(s->resources, id)->name, q->obj.name);
    for (size_t i = 0; min && i < min->n; i++)
        if (value_number(least_of(want, min->v[i].tag)) < value_number(&min->v[i]))
            return err_set(e, PBSE_EXCQRESC,
                           "Job violates queue and/or server resource limits: less %s than queue %s asks for",
                           resource_get(s->resources, min->v[i].tag)->name, q->obj.name);
    return 0;
}

/* A reservation that shares its vnodes has none for a job that wants them alone. */
static int check_place(const struct queue *q, const struct job *j, struct err *e)
{
    const char *of_job = value_text(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_place));
    const char *of_resv = q->resv ? resv_place(q->resv) : NULL;
    struct place want, has = {.sharing = PLACE_UNSAID};

    if (!q->resv || !of_job || place_parse(of_job, &want, NULL) < 0)
        return 0;
    if (of_resv && place_parse(of_resv, &has, NULL) < 0)
        has.sharing = PLACE_UNSAID;
    if ((want.sharing != PLACE_EXCL && want.sharing != PLACE_EXCLHOST) || has.sharing == PLACE_EXCLHOST ||
        (want.sharing == PLACE_EXCL && has.sharing == PLACE_EXCL))
        return 0;
    return err_set(e, PBSE_JOBINRESV_CONFLICT,
                   "job and reservation have conflicting specification Resource_List.place");
}

static int check_count(const struct queue *q, const struct job *j, struct err *e)
{
    int64_t most = attr_list_number(&q->obj.attrs, QUEUE_ATTR_max_queuable, -1);

    if (most >= 0 && q->n_jobs - (j->queue == q) >= (size_t)most)
        return err_set(e, PBSE_MAXQUED, "Maximum number of jobs already in queue %s", q->obj.name);
    return 0;
}

int admit_check_room(const struct server_ctx *s, const struct queue *q, const struct job *j, bool new_job,
                     struct err *e)
{
    return check_count(q, j, e) < 0 ? -1 : queued_limits_check(s, q, j, new_job, e);
}

static int admit_refuse_closed(const struct queue *q, struct err *e)
{
    return err_set(e, PBSE_QUNOENB, "Queue is not enabled: %s", q->obj.name);
}

/* The jobs of such a reservation have been deleted: it would wait for this one for good. */
int admit_check_lasts(const struct queue *q, struct err *e)
{
    return q->resv && resv_state(q->resv) == RESV_BEING_DELETED ? admit_refuse_closed(q, e) : 0;
}

int admit_check(const struct server_ctx *s, const struct queue *q, const struct admit_ask *ask, struct err *e)
{
    if (!queue_is_enabled(q))
        return admit_refuse_closed(q, e);
    if (admit_check_lasts(q, e) < 0 || check_count(q, ask->job, e) < 0)
        return -1;
    if (!ask->routed && on(q, QUEUE_ATTR_from_route_only))
        return err_set(e, PBSE_QACESS, "queue %s takes routed jobs only", q->obj.name);
    if (check_acls(s, q, ask, e) < 0 || queued_limits_check(s, q, ask->job, ask->new_job, e) < 0)
        return -1;
    return check_place(q, ask->job, e) < 0 ? -1 : admit_check_bounds(s, q, ask->job, e);
}

/* Names of one host, with a domain or without. */
static bool same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return a[n] && b[m] ? strcasecmp(a, b) == 0 : n == m && strncasecmp(a, b, n) == 0;
}

/* acl_host_moms_enable: a host that runs jobs may also submit them, whatever acl_hosts says. */
static bool is_host_of_mom(const struct server_ctx *s, const char *host)
{
    for (const struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        const char *mom = attr_list_text(&n->obj.attrs, NODE_ATTR_Mom);

        if (same_host(mom ? mom : n->host ? n->host : n->obj.name, host))
            return true;
    }
    return false;
}

static bool serves_host(const struct server_ctx *s, const char *host)
{
    const struct attr_list *a = &s->server->obj.attrs;

    return !attr_list_bool(a, SERVER_ATTR_acl_host_enable, false) ||
           lists_host(s, attr_list_text(a, SERVER_ATTR_acl_hosts), host) ||
           (attr_list_bool(a, SERVER_ATTR_acl_host_moms_enable, false) && is_host_of_mom(s, host));
}

int admit_check_open(const struct server_ctx *s, enum level level, struct err *e)
{
    if (level >= LEVEL_MANAGER || !server_obj_is_closed(s->server))
        return 0;
    return err_set(
        e, PBSE_PERM,
        "Unauthorized Request : the server takes jobs of its administrators only until one of them has opened it: "
        "%s (closed)",
        attr_list_text(&s->server->obj.attrs, SERVER_ATTR_closed));
}

int admit_check_client(const struct server_ctx *s, const struct client *c, struct err *e)
{
    if (client_is_foreign_server(c) || client_sched(c) || client_level(c) >= LEVEL_MANAGER)
        return 0;
    return admit_check_server(s, client_who(c), client_host(c), e);
}

int admit_check_server(const struct server_ctx *s, const char *who, const char *host, struct err *e)
{
    const struct attr_list *a = &s->server->obj.attrs;

    if (!serves_host(s, host))
        return err_set(e, PBSE_BADHOST, "the server does not serve host %s (acl_hosts)", host);
    if (attr_list_bool(a, SERVER_ATTR_acl_user_enable, false) &&
        !access_acl_allows(attr_list_text(a, SERVER_ATTR_acl_users), ACL_USER, who, true))
        return err_set(e, PBSE_PERM, "Unauthorized Request : the server does not serve %s (acl_users)", who);
    return 0;
}
