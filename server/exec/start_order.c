/* The START order. See start_order.h.
 *
 * The order is made again each time it is sent, from the job as it is then, and must come out the same for
 * every host of a run: hosts tell each other apart by their place in its list, and know each other by its
 * cookie. So the cookie is not drawn for each order but computed, from a secret of the store and the
 * run. The nodefile's lines come from schedselect, whose chunks exec_vnode follows in order; a host counts
 * a chunk once, though it may lie on several of its vnodes.
 *
 * To send one more attribute of a job to its hosts, add it to `wanted`; one that may change while the job runs, to
 * start_order_changes() too. What is not an attribute of the job's list is added by a function of its own (add_pmix ...). */
#include "start_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/hmac.h>

#include "attr_walk.h"
#include "exec_vnode.h"
#include "job_image.h"
#include "job_run.h"
#include "pbs_error.h"
#include "ranks.h"
#include "select.h"
#include "services.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "run_demand.h"

static_assert(RUN_DEMAND_CHUNKS_MAX == EXEC_CHUNKS_MAX, "what a claim allows, START holds");

/* COOKIE_SIZE: 32 hexadecimal digits, 128 bits, and a NUL. ALL_RUNS: the key of the job itself, with which hosts fetch its images from
 * one another. ADDRESS_MAX: the name and the address of a service. */
enum { COOKIE_SIZE = 33, ALL_RUNS = -1, ADDRESS_MAX = 1024 };

/* What a host needs of a job beside what START says in fields of its own. */
static const int wanted[] = {
    JOB_ATTR_Job_Name,        JOB_ATTR_Output_Path,     JOB_ATTR_Error_Path,    JOB_ATTR_Join_Path,
    JOB_ATTR_Keep_Files,      JOB_ATTR_Remove_Files,    JOB_ATTR_Variable_List, JOB_ATTR_Account_Name,
    JOB_ATTR_Shell_Path_List, JOB_ATTR_umask,           JOB_ATTR_Resource_List, JOB_ATTR_project,
    JOB_ATTR_sandbox,         JOB_ATTR_executable,      JOB_ATTR_argument_list, JOB_ATTR_interactive,
    JOB_ATTR_stagein,         JOB_ATTR_stageout,        JOB_ATTR_Checkpoint,    JOB_ATTR_Rerunable,
    JOB_ATTR_schedselect,     JOB_ATTR_interactive_key,
};

struct start_order_triples {
    wire_attr *v;
    u_int n, cap;
};

static int start_order_add_triple(void *arg, const char *name, const char *resource, const char *value)
{
    struct start_order_triples *t = arg;
    wire_attr a = {strdup(name), strdup(resource ? resource : ""), strdup(value)};

    if (t->n == t->cap) {
        u_int cap = t->cap ? 2 * t->cap : 32;
        wire_attr *v = realloc(t->v, cap * sizeof *v);

        if (!v)
            goto fail;
        t->v = v;
        t->cap = cap;
    }
    if (!a.name || !a.resource || !a.value)
        goto fail;
    t->v[t->n++] = a;
    return 0;
fail:
    free(a.name);
    free(a.resource);
    free(a.value);
    return 1;
}

/* The queue's least time between checkpoints, for -c c and -c w. */
static int add_checkpoint_min(struct start_order_triples *t, const struct queue *q)
{
    char digits[24];
    int64_t minutes = attr_list_number(&q->obj.attrs, QUEUE_ATTR_checkpoint_min, 0);

    if (minutes <= 0)
        return 0;
    snprintf(digits, sizeof digits, "%lld", (long long)minutes);
    return start_order_add_triple(t, "checkpoint_min", NULL, digits);
}

/* Shall its script be a PMIx client? The job's own word before that of its queue, that before the server's. */
static int add_pmix(struct start_order_triples *t, const struct server_ctx *s, const struct job *j)
{
    bool wanted_by_all = attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_default_pmix, false);
    bool wanted_by_queue = j->queue
                               ? attr_list_bool(&j->queue->obj.attrs, QUEUE_ATTR_default_pmix, wanted_by_all)
                               : wanted_by_all;

    return attr_list_bool(&j->obj.attrs, JOB_ATTR_pmix, wanted_by_queue)
               ? start_order_add_triple(t, "pmix", NULL, "True")
               : 0;
}

/* Add what a preempted job is told when it begins again. `preempted` is only there when its last run ended so. */
static int add_preempted(struct start_order_triples *t, const struct job *j)
{
    char code[2] = {j->preempt_method, '\0'};
    const struct preempt_method_row *was =
        preempt_method_row(preempt_result_method(preempt_method_result_of_code(code)));
    char digits[24];

    if (!j->preempt_count)
        return 0;
    snprintf(digits, sizeof digits, "%u", j->preempt_count);
    if (start_order_add_triple(t, "preempt_count", NULL, digits) ||
        start_order_add_triple(t, "preempted_by", NULL, j->preempted_by ? j->preempted_by : ""))
        return 1;
    return j->ptime_s ? start_order_add_triple(t, "preempted", NULL,
                                               was->after == AFTER_QUEUED ? was->done : "requeued")
                      : 0;
}

/* Add what is not in the job's attributes, for an order to start. 1: no memory. */
static int add_beside(struct start_order_triples *t, const struct server_ctx *s, const struct job *j)
{
    if (start_order_add_triple(t, "queue", NULL, j->queue_name) ||
        start_order_add_triple(t, "Submit_Host", NULL, j->host ? j->host : "") || add_preempted(t, j) ||
        add_pmix(t, s, j))
        return 1;
    return j->queue ? add_checkpoint_min(t, j->queue) : 0;
}

static int walk_wanted(const struct server_ctx *s, const struct job *j, const int *indices, size_t n,
                       wire_attrs *out)
{
    static const struct attr_reader server = {.level = LEVEL_SERVER, .show_hidden = true};
    struct start_order_triples t = {0};
    struct attr_select select;
    struct strbuf scratch;
    struct err e;
    int rc = 0;

    attr_select_init(&select, OF_JOB);
    strbuf_init(&scratch, 1 << 20);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = attr_select_add(&select, s->resources, attr_def_get(OF_JOB, indices[i])->name, NULL, &e);
    if (rc == 0)
        rc = attr_walk(&j->obj.attrs, s->resources, &select, &server, &scratch, start_order_add_triple, &t);
    if (rc == 0 && indices == wanted)
        rc = add_beside(&t, s, j);
    attr_select_fini(&select);
    strbuf_fini(&scratch);
    out->wire_attrs_val = t.v;
    out->wire_attrs_len = t.n;
    return rc ? -1 : 0;
}

int start_order_changes(const struct server_ctx *s, const struct job *j, wire_attrs *out)
{
    static const int some[] = {JOB_ATTR_Resource_List, JOB_ATTR_Output_Path, JOB_ATTR_Error_Path};

    return walk_wanted(s, j, some, sizeof some / sizeof some[0], out);
}

void start_order_free_attrs(wire_attrs *attrs)
{
    xdr_free((xdrproc_t)xdr_wire_attrs, (char *)attrs);
}

/* --- hosts ---------------------------------------------------------------------------------------- */

static int fill_chunk(exec_chunk *c, const struct exec_vnode_part *p)
{
    c->vnode = strdup(p->vnode);
    c->resources.resources_val = calloc(p->res.n ? p->res.n : 1, sizeof(exec_amount));
    if (!c->vnode || !c->resources.resources_val)
        return -1;
    for (size_t i = 0; i < p->res.n; i++) {
        exec_amount *a = &c->resources.resources_val[i];

        c->resources.resources_len++;
        a->name = strdup(p->res.a[i].name);
        a->value = strdup(p->res.a[i].value);
        if (!a->name || !a->value)
            return -1;
    }
    return 0;
}

/* A walk over the chunks of schedselect: exec_vnode has them in its order. */
struct start_order_chunk_walk {
    const struct select *sel;
    size_t at, before; /* its entry, and how many chunks those before it are */
};

/* Lines of the nodefile: what that chunk of the select says. `chunk` rises from call to call. */
static unsigned mpiprocs_of(struct start_order_chunk_walk *w, size_t chunk)
{
    const char *said;

    while (w->sel && w->at < w->sel->n && chunk - w->before >= w->sel->chunk[w->at].count)
        w->before += w->sel->chunk[w->at++].count;
    if (!w->sel || w->at == w->sel->n)
        return 1;
    said = amounts_text_find(&w->sel->chunk[w->at].res, "mpiprocs");
    if (said)
        return (unsigned)strtoul(said, NULL, 10);
    said = amounts_text_find(&w->sel->chunk[w->at].res, "ncpus");
    return said && strtoul(said, NULL, 10) == 0 ? 0 : 1;
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* Where each part of exec_vnode lies. */
struct start_order_place {
    const struct node *node; /* NULL: it has gone */
    size_t host;             /* of the run; NO_HOST: none of them */
};

static const size_t NO_HOST = (size_t)-1;

/* NULL: no memory. */
static struct start_order_place *start_order_find_places(const struct server_ctx *s, const struct run *r,
                                                         const struct exec_vnode *ev)
{
    struct start_order_place *where = calloc(ev->n ? ev->n : 1, sizeof *where);
    struct ranks *hosts = ranks_create();

    for (size_t i = 0; hosts && i < r->n_hosts; i++)
        if (ranks_add(hosts, r->hosts[i].service) == RANKS_NONE)
            goto fail;
    if (!where || !hosts)
        goto fail;
    for (size_t i = 0; i < ev->n; i++) {
        int64_t host;

        where[i].node = nodes_find(s->nodes, ev->part[i].vnode);
        host = where[i].node ? ranks_find(hosts, where[i].node->service_name) : RANKS_NONE;
        where[i].host = host == RANKS_NONE ? NO_HOST : (size_t)host;
    }
    ranks_destroy(hosts);
    return where;
fail:
    ranks_destroy(hosts);
    free(where);
    return NULL;
}

static int name_host(const struct services *sv, const char *service, exec_job_host *h)
{
    const struct service *s = services_find(sv, service);

    h->service = strdup(service);
    h->address = strdup(s ? text_or_empty(s->address) : "");
    return h->service && h->address ? 0 : -1;
}

/* Allocate room for the chunks on each host; chunks_len counts them and is 0 at the end. */
static int open_chunks(const struct start_order_place *where, size_t n, exec_job_host *h, size_t n_hosts)
{
    for (size_t i = 0; i < n; i++)
        if (where[i].host != NO_HOST)
            h[where[i].host].chunks.chunks_len++;
    for (size_t i = 0; i < n_hosts; i++) {
        u_int count = h[i].chunks.chunks_len;

        h[i].chunks.chunks_len = 0;
        h[i].chunks.chunks_val = calloc(count ? count : 1, sizeof(exec_chunk));
        if (!h[i].chunks.chunks_val) {
            for (size_t k = i + 1; k < n_hosts; k++)
                h[k].chunks.chunks_len = 0;
            return -1;
        }
    }
    return 0;
}

/* All chunks, each to its host. One that starts on another vnode of the same host is not a new process. */
static int fill_chunks(const struct exec_vnode *ev, const struct start_order_place *where,
                       const struct select *sel, exec_job_host *hosts, size_t n_hosts)
{
    size_t *last = malloc(n_hosts * sizeof *last); /* chunk of each host */
    struct start_order_chunk_walk walk = {.sel = sel};
    int rc = last ? 0 : -1;

    for (size_t i = 0; last && i < n_hosts; i++)
        last[i] = (size_t)-1;
    for (size_t i = 0; rc == 0 && i < ev->n; i++) {
        size_t chunk = ev->part[i].chunk;
        exec_job_host *h = where[i].host == NO_HOST ? NULL : &hosts[where[i].host];

        if (!h)
            continue;
        if (!h->name && !(h->name = strdup(where[i].node->host)))
            rc = -1;
        else
            rc = fill_chunk(&h->chunks.chunks_val[h->chunks.chunks_len++], &ev->part[i]);
        if (chunk != last[where[i].host])
            h->mpiprocs += mpiprocs_of(&walk, chunk);
        last[where[i].host] = chunk;
    }
    free(last);
    return rc;
}

static int fill_all_hosts(const struct services *sv, const struct job *j, const struct exec_vnode *ev,
                          const struct start_order_place *where, const struct select *sel,
                          exec_start_args *out)
{
    size_t n = j->run->n_hosts;
    exec_job_host *h = calloc(n ? n : 1, sizeof *h);

    if (!h)
        return -1;
    out->hosts.hosts_val = h;
    out->hosts.hosts_len = (u_int)n;
    for (size_t i = 0; i < n; i++)
        if (name_host(sv, j->run->hosts[i].service, &h[i]) < 0)
            return -1;
    if (open_chunks(where, ev->n, h, n) < 0 || fill_chunks(ev, where, sel, h, n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!h[i].name && !(h[i].name = strdup(h[i].service)))
            return -1;
    return 0;
}

/* --- the order of the nodefile's lines, where hosts come again */

struct start_order_lines {
    struct strbuf text;
    size_t host; /* of those at the end, which are not written yet */
    unsigned n;
    bool again; /* a host has come before: the order of the hosts does not say it */
};

static void flush_lines(struct start_order_lines *l)
{
    if (l->n)
        strbuf_addf(&l->text, " %zu*%u", l->host, l->n);
    l->n = 0;
}

static void add_lines(struct start_order_lines *l, size_t host, unsigned n)
{
    if (!n)
        return;
    if (host != l->host)
        flush_lines(l);
    l->again |= host < l->host;
    l->host = host;
    l->n += n;
}

/* Into ext, where the key will precede it. An order too long to say is that of the hosts. */
static int fill_lines(const struct exec_vnode *ev, const struct start_order_place *where,
                      const struct select *sel, exec_start_args *out)
{
    struct start_order_chunk_walk walk = {.sel = sel};
    size_t last_chunk = (size_t)-1;
    struct start_order_lines l = {0};

    strbuf_init(&l.text, PBS_EXT_MAX - COOKIE_SIZE);
    for (size_t i = 0; i < ev->n; i++) {
        if (ev->part[i].chunk != last_chunk)
            add_lines(&l, where[i].host == NO_HOST ? 0 : where[i].host,
                      mpiprocs_of(&walk, ev->part[i].chunk));
        last_chunk = ev->part[i].chunk;
    }
    flush_lines(&l);
    out->ext.wire_ext_val = strdup(l.again && strbuf_ok(&l.text) ? strbuf_str(&l.text) : "");
    strbuf_fini(&l.text);
    return out->ext.wire_ext_val ? 0 : -1;
}

static int fill_hosts(struct server_ctx *s, struct services *sv, const struct job *j, const char *service,
                      exec_start_args *out, struct err *e)
{
    struct exec_vnode *ev = exec_vnode_parse(j->run->exec_vnode, e);
    const char *schedselect = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    struct select *sel = schedselect ? select_parse(schedselect, NULL, NULL, NULL) : NULL;
    struct start_order_place *where = ev ? start_order_find_places(s, j->run, ev) : NULL;
    int rc = -1;

    if (!ev) {
        select_destroy(sel);
        return -1;
    }
    if (where && fill_all_hosts(sv, j, ev, where, sel, out) == 0)
        rc = fill_lines(ev, where, sel, out);
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (strcmp(j->run->hosts[i].service, service) == 0)
            out->my_host = (u_int)i;
    free(where);
    exec_vnode_destroy(ev);
    select_destroy(sel);
    return rc < 0 ? err_set(e, PBSE_SYSTEM, "no memory for START of %s", j->obj.name) : 0;
}

/* --- what services take */

struct start_order_sizes {
    struct ranks *ranks; /* of services */
    const struct service **service;
    size_t *chunks; /* of each */
};

static int start_order_check_amounts(const struct exec_vnode_part *p, struct err *e)
{
    if (p->res.n > EXEC_AMOUNTS_MAX)
        return err_set(e, PBSE_IVALREQ, "%zu resources of a chunk on %s; %d at most", p->res.n, p->vnode,
                       EXEC_AMOUNTS_MAX);
    for (size_t i = 0; i < p->res.n; i++)
        if (strlen(p->res.a[i].value) > PBS_TEXT_MAX)
            return err_set(e, PBSE_IVALREQ, "%zu bytes of resource %s of a chunk on %s; %d at most",
                           strlen(p->res.a[i].value), p->res.a[i].name, p->vnode, PBS_TEXT_MAX);
    return 0;
}

static int count_chunks(const struct server_ctx *s, const struct exec_vnode *where,
                        struct start_order_sizes *z)
{
    for (size_t i = 0; i < where->n; i++) {
        const struct node *n = nodes_find(s->nodes, where->part[i].vnode);
        int64_t rank = n && n->service ? ranks_add(z->ranks, n->service) : RANKS_NONE;

        if (n && n->service && rank == RANKS_NONE)
            return -1;
        if (rank == RANKS_NONE)
            continue;
        z->service[rank] = n->service;
        z->chunks[rank]++;
    }
    return 0;
}

static int check_sizes(const struct start_order_sizes *z, struct err *e)
{
    size_t n = ranks_count(z->ranks), most = 0;

    for (size_t i = 0; i < n; i++)
        most = z->chunks[i] > z->chunks[most] ? i : most;
    if (n > EXEC_NODES_MAX)
        return err_set(e, PBSE_IVALREQ, "%zu hosts; a job has %d at most", n, EXEC_NODES_MAX);
    for (size_t i = 0; i < n; i++) {
        unsigned can = z->service[i]->capabilities;

        if (n > EXEC_NODES_OLD && !(can & EXEC_CAN_MANY_HOSTS))
            return err_set(e, PBSE_IVALREQ, "%zu hosts; %s is of an older version and takes %d", n,
                           z->service[i]->name, EXEC_NODES_OLD);
        if (z->chunks[most] > EXEC_CHUNKS_OLD && !(can & EXEC_CAN_MANY_CHUNKS))
            return err_set(e, PBSE_IVALREQ,
                           "%zu chunks on %s; %s is of an older version and takes %d on a host",
                           z->chunks[most], z->service[most]->name, z->service[i]->name, EXEC_CHUNKS_OLD);
    }
    return 0;
}

int start_order_check(const struct server_ctx *s, const struct exec_vnode *where, struct err *e)
{
    size_t room = where->n ? where->n : 1;
    struct start_order_sizes z = {ranks_create(), calloc(room, sizeof *z.service),
                                  calloc(room, sizeof *z.chunks)};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < where->n; i++)
        rc = start_order_check_amounts(&where->part[i], e);
    if (rc == 0 && z.ranks && z.service && z.chunks && count_chunks(s, where, &z) == 0)
        rc = check_sizes(&z, e);
    else if (rc == 0)
        rc = err_set(e, PBSE_SYSTEM, "no memory for a run on %zu vnodes", where->n);
    ranks_destroy(z.ranks);
    free(z.service);
    free(z.chunks);
    return rc;
}

/* --- the whole ------------------------------------------------------------------------------------ */

/* A secret of one run (or of all of the job's) that every host of it is given: it cannot be guessed, and it is the same in
 * each START. */
static void make_cookie(const struct server_ctx *s, const struct job *j, int64_t run, char out[COOKIE_SIZE])
{
    const int64_t what[] = {j->key.seq, j->key.index, run};
    unsigned char mac[EVP_MAX_MD_SIZE] = {0};

    HMAC(EVP_sha256(), s->secret, sizeof s->secret, (const unsigned char *)what, sizeof what, mac, NULL);
    for (size_t i = 0; i < COOKIE_SIZE / 2; i++)
        snprintf(out + 2 * i, 3, "%02X", mac[i]);
}

/* "SERVICE ADDRESS ID" of an image that is to be fetched. A host that is away may be back in a moment, so its address is
 * told as well. */
static char *image_from(struct services *sv, const struct job_image *m)
{
    char *name = strndup(m->service, m->service_len);
    const struct service *s = name ? services_find(sv, name) : NULL;
    struct strbuf b;

    strbuf_init(&b, PBS_TEXT_MAX);
    strbuf_addf(&b, "%.*s %s %.*s", (int)m->service_len, m->service,
                s && service_address(s) ? service_address(s) : "-", (int)m->path_len, m->path);
    free(name);
    return strbuf_take(&b);
}

/* The image from which this host of the run restarts, or "". */
static char *image_of(struct services *sv, const struct job *j, size_t host)
{
    const char *service = j->run->hosts[host].service;
    const struct service *s = services_find(sv, service);
    struct job_image m;

    if (!job_images_fit(j) || !job_image_at(j->restart_from, host, &m) || m.none)
        return strdup("");
    if (m.moves && !job_image_is_at(&m, service) && s && s->capabilities & EXEC_CAN_BRING_IMAGE)
        return image_from(sv, &m);
    return strndup(m.path, m.path_len);
}

/* "SERVICE ADDRESS" of where an earlier run has left output, or "". */
static char *last_host(struct services *sv, const struct job *j)
{
    const char *at = j->output_at;
    const struct service *s = at && at != j->run->hosts[0].service ? services_find(sv, at) : NULL;
    bool may_be_back;
    struct strbuf b;

    if (!at || at == j->run->hosts[0].service)
        return strdup("");
    strbuf_init(&b, ADDRESS_MAX);
    may_be_back = s && (service_is_here(s) || !s->address); /* before its first HELLO after our start */
    strbuf_addf(&b, "%s %s", at, may_be_back && service_address(s) ? service_address(s) : "-");
    return strbuf_take(&b);
}

static void put_key(const char *key, exec_start_args *out)
{
    char *lines = out->ext.wire_ext_val;
    struct strbuf b;

    strbuf_init(&b, PBS_EXT_MAX);
    strbuf_addf(&b, "%s%s", key, lines);
    free(lines);
    out->ext.wire_ext_len = (u_int)b.len;
    out->ext.wire_ext_val = strbuf_take(&b);
}

static int fill_texts(struct server_ctx *s, struct services *sv, const struct job *j, exec_start_args *out)
{
    char cookie[COOKIE_SIZE], key[COOKIE_SIZE];

    make_cookie(s, j, j->run->version, cookie);
    make_cookie(s, j, ALL_RUNS, key);
    out->id = strdup(j->obj.name);
    out->store = strdup(s->store_id);
    out->user = strdup(text_or_empty(j->euser));
    out->group = strdup(text_or_empty(j->egroup));
    out->cookie = strdup(cookie);
    out->restart_from = image_of(sv, j, out->my_host);
    out->last_host = out->my_host ? strdup("") : last_host(sv, j);
    put_key(key, out);
    return out->id && out->store && out->user && out->group && out->cookie && out->restart_from &&
                   out->last_host && out->ext.wire_ext_val
               ? 0
               : -1;
}

static int fill_script(const void *script, size_t n, exec_start_args *out)
{
    if (!script || !n)
        return 0;
    out->script.script_val = malloc(n);
    if (!out->script.script_val)
        return -1;
    memcpy(out->script.script_val, script, n);
    out->script.script_len = (u_int)n;
    return 0;
}

/* Only the first host runs it. */
static void drop_script(exec_start_args *out)
{
    out->script_length = 0;
    free(out->script.script_val);
    out->script.script_val = NULL;
    out->script.script_len = 0;
}

int start_order_make(struct server_ctx *s, struct services *sv, const struct job *j, const char *service,
                     const void *script, size_t n_script, exec_start_args *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->job = (wire_job){.seq = j->key.seq, .index = j->key.index};
    out->run = j->run->version;
    out->epoch = s->epoch;
    out->launch = j->run->n_hosts == 1;
    out->script_length = j->script_bytes;
    out->kill_delay_s = queue_kill_delay_s(j->queue, EXEC_GRACE_OF_HOST);
    if (fill_hosts(s, sv, j, service, out, e) < 0) {
        start_order_free(out);
        return -1;
    }
    if (fill_texts(s, sv, j, out) < 0 || fill_script(script, n_script, out) < 0 ||
        walk_wanted(s, j, wanted, sizeof wanted / sizeof wanted[0], &out->attrs) < 0) {
        start_order_free(out);
        return err_set(e, PBSE_SYSTEM, "no memory for START of %s", j->obj.name);
    }
    if (out->my_host != 0)
        drop_script(out);
    return 0;
}

void start_order_free(exec_start_args *args)
{
    xdr_free((xdrproc_t)xdr_exec_start_args, (char *)args);
}
