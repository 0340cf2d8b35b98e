/* Clients and their rights. See access.h.
 *
 * dispatch.c makes a client once the names of its user and host are known, and asks for its level before each
 * request: managers and operators can change between two requests of one connection. Handlers compare levels and
 * owners; they never read ACLs of the server themselves.
 *
 * A client's uid is the kernel's word, or MUNGE's of an ordinary user. Root by MUNGE, and every daemon, has none:
 * a daemon's rights come from the role in its certificate. ACL texts are parsed at each check; they are short, and
 * may change at any time.
 *
 * Not here: who may connect (ifl/rpc), which lists let a client ask for anything at all (admit_check_client,
 * handed over as `serves`), and who owns a job (request_owns). */
#include "access.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "intern.h"
#include "server_ctx.h"
#include "strbuf.h"

struct client {
    unsigned refs;
    size_t n_requests;
    struct rpc_conn *conn;
    const char *user, *host, *who, *sched; /* interned */
    const char *other;                     /* user@host by the host's other name, interned, or NULL */
    uid_t uid;
    enum level level;
    bool daemon, foreign, distant;
};

/* Root of any host of the realm has MUNGE's key and can claim to be any user: on this host that must be neither
 * root nor the server's own account. A private complex admits its own user only, whom it trusts on all hosts. */
bool access_is_distant(const struct server_ctx *s, const struct auth_peer *p)
{
    return p->kind == AUTH_USER &&
           (p->uid == 0 || (s->serves_all && (p->uid == geteuid() || p->uid == s->daemon_uid)));
}

struct client *client_create(const struct server_ctx *s, const struct auth_peer *peer, const char *user,
                             const char *host)
{
    struct client *c = calloc(1, sizeof *c);
    struct strbuf who;

    if (!c)
        return NULL;
    strbuf_init(&who, 1024);
    strbuf_addf(&who, "%s@%s", user, host);
    c->refs = 1;
    c->user = intern_ref(user);
    c->host = intern_ref(host);
    c->who = intern_ref(strbuf_str(&who));
    strbuf_fini(&who);
    /* A MOM's host may be run by other administrators: its certificate gives no rights of a daemon here. */
    c->foreign = auth_peer_is_foreign(peer);
    c->daemon = peer->kind == AUTH_DAEMON && !c->foreign && strncmp(peer->role, "mom:", 4) != 0;
    c->distant = access_is_distant(s, peer);
    if (peer->kind == AUTH_LOCAL || (peer->kind == AUTH_USER && !c->distant))
        c->uid = peer->uid;
    else
        c->uid = (uid_t)-1;
    return c;
}

void client_set_other_host(struct client *c, const char *host)
{
    const char *old = c->other;
    struct strbuf other;

    strbuf_init(&other, 1024);
    strbuf_addf(&other, "%s@%s", c->user, host);
    c->other = intern_ref(strbuf_str(&other));
    strbuf_fini(&other);
    intern_unref(old);
}

struct client *client_ref(struct client *c)
{
    c->refs++;
    return c;
}

void client_unref(struct client *c)
{
    if (!c || --c->refs)
        return;
    intern_unref(c->user);
    intern_unref(c->host);
    intern_unref(c->who);
    intern_unref(c->other);
    intern_unref(c->sched);
    free(c);
}

const char *client_user(const struct client *c)
{
    return c->user;
}

const char *client_who(const struct client *c)
{
    return c->who;
}

const char *client_other(const struct client *c)
{
    return c->other;
}

const char *client_host(const struct client *c)
{
    return c->host;
}

uid_t client_uid(const struct client *c)
{
    return c->uid;
}

bool client_is_root(const struct client *c)
{
    return c->uid == 0;
}

bool client_is_distant(const struct client *c)
{
    return c->distant;
}

bool client_is_foreign_server(const struct client *c)
{
    return c->foreign;
}

enum level client_level(const struct client *c)
{
    return c->level;
}

void client_set_level(struct client *c, enum level level)
{
    c->level = level;
}

const char *client_sched(const struct client *c)
{
    return c->sched;
}

void client_set_sched(struct client *c, const char *name)
{
    const char *old = c->sched;

    c->sched = intern_ref(name);
    intern_unref(old);
}

/* "*.domain" and "*" in the host part, in any case as names of hosts are; user parts are compared as they are. */
static bool host_matches(const char *pattern, const char *host)
{
    return fnmatch(pattern, host, FNM_CASEFOLD) == 0;
}

static bool user_matches(const char *entry, const char *who)
{
    const char *entry_at = strchr(entry, '@'), *who_at = strchr(who, '@');
    size_t entry_len = entry_at ? (size_t)(entry_at - entry) : strlen(entry);
    size_t who_len = who_at ? (size_t)(who_at - who) : strlen(who);

    if (strcmp(entry, "*") != 0 && (entry_len != who_len || strncmp(entry, who, who_len) != 0) &&
        !(entry_len == 1 && entry[0] == '*'))
        return false;
    return !entry_at || !who_at || host_matches(entry_at + 1, who_at + 1);
}

static bool entry_matches(enum acl_form form, const char *entry, const char *who)
{
    switch (form) {
    case ACL_USER_OF_HOST:
        return strchr(entry, '@') && user_matches(entry, who);
    case ACL_USER:
        return user_matches(entry, who);
    case ACL_HOST:
        return host_matches(entry, who);
    case ACL_GROUP:
        return strcmp(entry, who) == 0;
    }
    return false;
}

bool access_acl_allows(const char *acl, enum acl_form form, const char *who, bool empty_allows)
{
    return access_acl_allows_either(acl, form, who, NULL, empty_allows);
}

bool access_acl_allows_either(const char *acl, enum acl_form form, const char *who, const char *other,
                              bool empty_allows)
{
    bool fallback = false;

    if (!acl || !*acl)
        return empty_allows;
    for (const char *p = acl; *p;) {
        char entry[600]; /* a user and a host of 255 bytes each, with room left */
        size_t n = strcspn(p, ",");
        bool deny = *p == '-', sign = *p == '+' || deny;
        size_t skip = sign ? 1 : 0, len = n - skip < sizeof entry ? n - skip : sizeof entry - 1;

        memcpy(entry, p + skip, len);
        entry[len] = '\0';
        p += n + (p[n] == ',');
        if (!len && sign)
            fallback = !deny;
        else if (entry_matches(form, entry, who) || (other && entry_matches(form, entry, other)))
            return !deny;
    }
    return fallback;
}

void client_set_conn(struct client *c, struct rpc_conn *conn)
{
    c->conn = conn;
}

struct rpc_conn *client_conn(const struct client *c)
{
    return c->conn;
}

void client_count_request(struct client *c, int change)
{
    c->n_requests += (size_t)change;
}

bool client_is_waiting(const void *client)
{
    const struct client *c = client;

    return c->n_requests > 0;
}

/* A list may name this host in short or in full. Clients of this host have its short name only, so the full one is
 * their other name here; those of other hosts have brought theirs (client_set_other_host). */
static bool lists(const struct server_ctx *s, int attr, enum acl_form form, const struct client *c)
{
    const char *other = c->other;
    struct strbuf room;
    bool found;

    strbuf_init(&room, 1024);
    if (!other && s->full_name && strcmp(c->host, s->name) == 0) {
        strbuf_addf(&room, "%s@%s", c->user, s->full_name);
        other = strbuf_str(&room);
    }
    found = access_acl_allows_either(attr_list_text(&s->server->obj.attrs, attr), form, c->who, other, false);
    strbuf_fini(&room);
    return found;
}

enum level access_level_of(const struct server_ctx *s, const struct client *c)
{
    enum acl_form form = c->distant ? ACL_USER_OF_HOST : ACL_USER;

    if (c->uid == 0 || (c->uid != (uid_t)-1 && (c->uid == geteuid() || c->uid == s->daemon_uid)) || c->daemon)
        return LEVEL_MANAGER;
    if (server_obj_is_closed(s->server))
        return LEVEL_USER; /* the lists that are left may lack entries that kept users out */
    if (lists(s, SERVER_ATTR_managers, form, c))
        return LEVEL_MANAGER;
    if (lists(s, SERVER_ATTR_operators, form, c))
        return LEVEL_OPERATOR;
    return LEVEL_USER;
}

enum level access_level_of_name(const struct server_ctx *s, const char *who)
{
    const struct attr_list *attrs = &s->server->obj.attrs;

    if (server_obj_is_closed(s->server))
        return LEVEL_USER;
    if (access_acl_allows_either(attr_list_text(attrs, SERVER_ATTR_managers), ACL_USER_OF_HOST, who, NULL,
                                 false))
        return LEVEL_MANAGER;
    return access_acl_allows_either(attr_list_text(attrs, SERVER_ATTR_operators), ACL_USER_OF_HOST, who, NULL,
                                    false)
               ? LEVEL_OPERATOR
               : LEVEL_USER;
}
