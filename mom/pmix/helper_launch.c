/* What the library must know of a namespace, in the order in which it wants to hear it: the map of all ranks, then each client here,
 * then the environment of each.
 *
 * The library reads what is registered from memory of ours during the call only, since every call here waits for it: its own thread
 * does the work, and we are not on that. */
#include "helper_launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "helper.h"
#include "helper_bind.h"
#include "helper_fence.h"
#include "helper_link.h"
#include "strbuf.h"

enum { TEXT_MAX = 1 << 20, JOB_INFO = 15, RANK_INFO = 8, BASE_ENV = 1 };

/* Open MPI 4.1 asks which environment it is in; without this each rank takes itself for a program of one rank. */
static const char open_mpi_4[] = "OMPI_MCA_schizo=ompi";

struct facts { /* of one namespace, while it is registered */
    const struct helper *h;
    struct helper_launch *l;
    const char *const *host_names;
    unsigned n_local;
    unsigned *local;                 /* ranks */
    struct helper_bind_place *place; /* of each of them */
};

static void helper_launch_free(struct helper_launch *l)
{
    if (!l)
        return;
    helper_fence_forget(l);
    free(l->nspace);
    free(l->at);
    free(l->node);
    free(l);
}

static bool is_done(pmix_status_t rc)
{
    return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED;
}

static int helper_launch_fail(struct err *e, const char *what, pmix_status_t rc)
{
    return err_set(e, rc, "%s: %s", what, PMIx_Error_string(rc));
}

/* ---- the map: "n1,n2", "0,1;2,3", "0,1" */
static int add_maps(const struct facts *f, struct strbuf *hosts, struct strbuf *ranks, struct strbuf *peers)
{
    const struct helper_launch *l = f->l;
    unsigned *first = calloc(l->n_hosts + 1, sizeof *first), *list = calloc(l->n_ranks + 1, sizeof *list);

    if (!first || !list) {
        free(first);
        free(list);
        return -1;
    }
    for (unsigned r = 0; r < l->n_ranks; r++) /* ranks by host, by counting */
        first[l->at[r] + 1 <= l->n_hosts ? l->at[r] : 0]++;
    for (unsigned i = 0, sum = 0; i <= l->n_hosts; i++) {
        unsigned n = first[i];

        first[i] = sum;
        sum += n;
    }
    for (unsigned r = 0; r < l->n_ranks; r++)
        list[first[l->at[r]]++] = r;
    for (unsigned i = 0, at = 0; i < l->n_hosts; i++) {
        strbuf_addf(hosts, "%s%s", i ? "," : "", f->host_names[i]);
        strbuf_add(ranks, i ? ";" : "");
        for (unsigned k = at; k < first[i]; k++)
            strbuf_addf(ranks, "%s%u", k > at ? "," : "", list[k]);
        at = first[i];
    }
    for (unsigned i = 0; i < f->n_local; i++)
        strbuf_addf(peers, "%s%u", i ? "," : "", f->local[i]);
    free(first);
    free(list);
    return 0;
}

static void load_u32(pmix_info_t *i, const char *key, uint32_t v)
{
    PMIX_INFO_LOAD(i, key, &v, PMIX_UINT32);
}

static void load_text(pmix_info_t *i, const char *key, const char *v)
{
    PMIX_INFO_LOAD(i, key, v, PMIX_STRING);
}

/* ---- one rank */
static void load_rank(const struct facts *f, pmix_info_t *out, unsigned rank, unsigned local_rank,
                      const struct helper_bind_place *place)
{
    pmix_data_array_t array = {.type = PMIX_INFO};
    pmix_info_t *i;
    pmix_rank_t r = rank;
    uint16_t among = (uint16_t)local_rank;
    size_t n = 0;

    PMIX_INFO_CREATE(i, RANK_INFO);
    PMIX_INFO_LOAD(&i[n], PMIX_RANK, &r, PMIX_PROC_RANK);
    n++;
    PMIX_INFO_LOAD(&i[n], PMIX_LOCAL_RANK, &among, PMIX_UINT16);
    n++;
    PMIX_INFO_LOAD(&i[n], PMIX_NODE_RANK, &among, PMIX_UINT16);
    n++;
    load_u32(&i[n++], PMIX_NODEID, f->l->at[rank]);
    load_u32(&i[n++], PMIX_APPNUM, 0);
    load_text(&i[n++], PMIX_HOSTNAME, f->host_names[f->l->at[rank]]);
    if (place && place->cpuset)
        load_text(&i[n++], PMIX_CPUSET, place->cpuset);
    if (place && place->locality)
        load_text(&i[n++], PMIX_LOCALITY_STRING, place->locality);
    array.array = i;
    array.size = n;
    PMIX_INFO_LOAD(out, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY); /* a copy */
    PMIX_INFO_FREE(i, RANK_INFO);
}

static void load_ranks(const struct facts *f, pmix_info_t *out)
{
    unsigned *count = calloc(f->l->n_hosts + 1, sizeof *count);

    for (unsigned r = 0; r < f->l->n_ranks; r++) {
        unsigned host = f->l->at[r], among = count ? count[host]++ : 0;
        bool here = host == f->l->mine && f->place && among < f->n_local;

        load_rank(f, &out[r], r, among, here ? &f->place[among] : NULL);
    }
    free(count);
}

/* ---- the namespace */
static int register_nspace(const struct facts *f, struct err *e)
{
    const struct helper_launch *l = f->l;
    struct strbuf hosts, ranks, peers;
    char *node_map = NULL, *proc_map = NULL;
    pmix_rank_t leader = f->n_local ? f->local[0] : 0;
    size_t n = 0, total = JOB_INFO + l->n_ranks;
    pmix_info_t *i = NULL;
    pmix_nspace_t name;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    strbuf_init(&hosts, TEXT_MAX);
    strbuf_init(&ranks, TEXT_MAX);
    strbuf_init(&peers, TEXT_MAX);
    if (add_maps(f, &hosts, &ranks, &peers) < 0)
        goto out;
    rc = PMIx_generate_regex(strbuf_str(&hosts), &node_map);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn(strbuf_str(&ranks), &proc_map);
    if (rc != PMIX_SUCCESS)
        goto out;
    PMIX_INFO_CREATE(i, total);
    load_u32(&i[n++], PMIX_UNIV_SIZE, l->n_ranks);
    load_u32(&i[n++], PMIX_JOB_SIZE, l->n_ranks);
    load_u32(&i[n++], PMIX_MAX_PROCS, l->n_ranks);
    load_u32(&i[n++], PMIX_LOCAL_SIZE, f->n_local);
    load_u32(&i[n++], PMIX_NODE_SIZE, f->n_local);
    load_u32(&i[n++], PMIX_NUM_NODES, l->n_hosts);
    load_u32(&i[n++], PMIX_JOB_NUM_APPS, 1);
    PMIX_INFO_LOAD(&i[n], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    n++;
    PMIX_INFO_LOAD(&i[n], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    n++;
    load_text(&i[n++], PMIX_JOBID, f->h->job);
    load_text(&i[n++], PMIX_LOCAL_PEERS, strbuf_str(&peers));
    load_text(&i[n++], PMIX_HOSTNAME, f->host_names[l->mine]);
    load_text(&i[n++], PMIX_NSDIR, f->h->dir);
    load_text(&i[n++], PMIX_TMPDIR, f->h->dir);
    PMIX_INFO_LOAD(&i[n], PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
    n++;
    load_ranks(f, i + n);
    PMIX_LOAD_NSPACE(name, l->nspace);
    rc = PMIx_server_register_nspace(name, (int)f->n_local, i, n + l->n_ranks, NULL, NULL);
out:
    if (i)
        PMIX_INFO_FREE(i, total);
    free(node_map);
    free(proc_map);
    strbuf_fini(&hosts);
    strbuf_fini(&ranks);
    strbuf_fini(&peers);
    return is_done(rc) ? 0 : helper_launch_fail(e, "the ranks cannot be registered with PMIx", rc);
}

/* The environment of one client, which becomes known by it. */
static int register_rank(const struct facts *f, unsigned rank, struct words *env, struct err *e)
{
    pmix_proc_t proc;
    char **list = NULL;
    pmix_status_t rc;
    int done = 0;

    PMIX_LOAD_PROCID(&proc, f->l->nspace, rank);
    rc = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
    if (is_done(rc))
        rc = PMIx_server_setup_fork(&proc, &list);
    for (char **at = list; at && *at; at++) {
        if (done == 0)
            done = words_add(env, *at, e);
        free(*at);
    }
    free(list);
    return is_done(rc) ? done : helper_launch_fail(e, "a rank cannot be registered with PMIx", rc);
}

static bool helper_launch_has(const struct words *env, const char *entry)
{
    for (size_t i = 0; i < env->n; i++)
        if (strcmp(env->w[i], entry) == 0)
            return true;
    return false;
}

/* What all ranks have is said once; most of it is. */
static void helper_launch_divide(struct words *each, unsigned n, struct words *common)
{
    for (size_t k = 0; n && k < each[0].n; k++) {
        bool all = true;

        for (unsigned i = 1; i < n && all; i++)
            all = helper_launch_has(&each[i], each[0].w[k]);
        if (all)
            (void)words_add(common, each[0].w[k], NULL);
    }
}

static int helper_launch_fill(const struct facts *f, struct launch_answer *a, struct words *each,
                              struct words *common, struct err *e)
{
    (void)words_add(common, open_mpi_4, NULL);
    for (unsigned i = 0; i < f->n_local; i++)
        if (register_rank(f, f->local[i], &each[i], e) < 0)
            return -1;
    helper_launch_divide(each, f->n_local, common);
    a->env.env_val = common->w;
    a->env.env_len = (u_int)common->n;
    a->ranks.ranks_val = calloc(f->n_local + 1, sizeof *a->ranks.ranks_val);
    if (!a->ranks.ranks_val)
        return err_set(e, ENOMEM, "no memory for the ranks of a launch");
    a->ranks.ranks_len = f->n_local;
    for (unsigned i = 0; i < f->n_local; i++) {
        struct launch_rank *r = &a->ranks.ranks_val[i];

        r->rank = f->local[i];
        r->cpus = f->place[i].cpus ? f->place[i].cpus : (char *)"";
        r->env.env_val = calloc(each[i].n + 1, sizeof(char *));
        for (size_t k = 0; r->env.env_val && k < each[i].n; k++)
            if (!helper_launch_has(common, each[i].w[k]))
                r->env.env_val[r->env.env_len++] = each[i].w[k];
    }
    return 0;
}

static int helper_launch_find_local(struct facts *f, struct err *e)
{
    f->local = calloc(f->l->n_ranks + 1, sizeof *f->local);
    f->place = calloc(f->l->n_ranks + 1, sizeof *f->place);
    if (!f->local || !f->place)
        return err_set(e, ENOMEM, "no memory for the ranks of a launch");
    for (unsigned r = 0; r < f->l->n_ranks; r++)
        if (f->l->at[r] == f->l->mine)
            f->local[f->n_local++] = r;
    return 0;
}

static void facts_fini(struct facts *f)
{
    for (unsigned i = 0; f->place && i < f->n_local; i++) {
        free(f->place[i].cpus);
        free(f->place[i].cpuset);
        free(f->place[i].locality);
    }
    free(f->place);
    free(f->local);
}

/* ---- BEGIN */
static int helper_launch_check(const struct launch_begin_args *a, struct err *e)
{
    if (!a->nspace[0] || strlen(a->nspace) > PMIX_MAX_NSLEN || !a->at.at_len || a->mine >= a->hosts.hosts_len)
        return err_set(e, PMIX_ERR_BAD_PARAM, "a launch without name, ranks or host");
    for (u_int i = 0; i < a->at.at_len; i++)
        if (a->at.at_val[i] >= a->hosts.hosts_len)
            return err_set(e, PMIX_ERR_BAD_PARAM, "rank %u is on no host of the launch", i);
    return 0;
}

static struct helper_launch *helper_launch_create(const char *nspace, unsigned n_ranks, unsigned n_hosts,
                                                  unsigned mine)
{
    struct helper_launch *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->n_ranks = n_ranks;
    l->n_hosts = n_hosts;
    l->mine = mine;
    l->nspace = strdup(nspace);
    l->at = calloc(n_ranks, sizeof *l->at);
    l->node = calloc(n_hosts, sizeof *l->node);
    if (l->nspace && l->at && l->node)
        return l;
    helper_launch_free(l);
    return NULL;
}

static struct helper_launch *helper_launch_from(const struct launch_begin_args *a)
{
    struct helper_launch *l = helper_launch_create(a->nspace, a->at.at_len, a->hosts.hosts_len, a->mine);

    for (u_int i = 0; l && i < a->at.at_len; i++)
        l->at[i] = a->at.at_val[i];
    for (u_int i = 0; l && i < a->hosts.hosts_len; i++)
        l->node[i] = a->hosts.hosts_val[i].node;
    return l;
}

/* Registered, and answered. -1: nothing is. */
static int helper_launch_do(struct helper *h, uint32_t xid, const struct launch_begin_args *a,
                            struct facts *f, struct err *e)
{
    struct launch_answer out = {0};
    struct words common, *each;
    int rc = -1;

    if (helper_launch_find_local(f, e) < 0)
        return -1;
    helper_bind_deal(a->bind, f->n_local, f->place);
    each = calloc(f->n_local + 1, sizeof *each);
    for (unsigned i = 0; each && i < f->n_local; i++)
        words_init(&each[i]);
    words_init(&common);
    if (!each)
        err_set(e, ENOMEM, "no memory for the ranks of a launch");
    else if (register_nspace(f, e) == 0 && helper_launch_fill(f, &out, each, &common, e) == 0) {
        helper_link_answer(h->link, xid, &out);
        rc = 0;
    }
    for (u_int i = 0; i < out.ranks.ranks_len; i++)
        free(out.ranks.ranks_val[i].env.env_val);
    free(out.ranks.ranks_val);
    for (unsigned i = 0; each && i < f->n_local; i++)
        words_fini(&each[i]);
    free(each);
    words_fini(&common);
    return rc;
}

static void helper_launch_deregister(const char *nspace)
{
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, nspace);
    PMIx_server_deregister_nspace(name, NULL, NULL);
}

static void helper_launch_remove(struct helper *h, struct helper_launch *l)
{
    struct helper_launch **at = &h->launches;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    helper_launch_deregister(l->nspace);
    helper_launch_free(l);
}

/* The launch, in no list yet. The name of the hidden one, of the job's first process, is taken. */
static struct helper_launch *helper_launch_make(struct helper *h, const struct launch_begin_args *a,
                                                struct err *e)
{
    struct helper_launch *before = helper_launch_find(h, a->nspace), *l;

    if (before && before->hidden) {
        err_set(e, PMIX_ERR_EXISTS, "the launch cannot have that name");
        return NULL;
    }
    if (before)
        helper_launch_remove(h, before); /* said again by a MOM that has died on the way: no rank has begun */
    if (helper_launch_check(a, e) < 0)
        return NULL;
    l = helper_launch_from(a);
    if (!l)
        err_set(e, ENOMEM, "no memory for a launch");
    return l;
}

void helper_launch_begin(struct helper *h, uint32_t xid, const struct launch_begin_args *a)
{
    const char **names = calloc(a->hosts.hosts_len + 1, sizeof *names);
    struct facts f = {.h = h, .host_names = names};
    struct err e = {0};

    for (u_int i = 0; names && i < a->hosts.hosts_len; i++)
        names[i] = a->hosts.hosts_val[i].name;
    if (names)
        f.l = helper_launch_make(h, a, &e);
    else
        err_set(&e, ENOMEM, "no memory for a launch");
    if (f.l && helper_launch_do(h, xid, a, &f, &e) == 0) {
        f.l->next = h->launches;
        h->launches = f.l;
    } else {
        if (f.l)
            helper_launch_deregister(f.l->nspace);
        helper_link_refuse(h->link, xid, e.code ? e.code : PMIX_ERROR, e.text);
        helper_launch_free(f.l);
    }
    facts_fini(&f);
    free(names);
}

void helper_launch_end(struct helper *h, uint32_t xid, const struct launch_end_args *a)
{
    struct helper_launch *l = helper_launch_find(h, a->nspace);

    if (l && !l->hidden)
        helper_launch_remove(h, l);
    helper_link_refuse(h->link, xid, PMIX_SUCCESS, "");
}

int helper_launch_job(struct helper *h, struct words *env, struct err *e)
{
    const char *names[] = {h->host};
    struct facts f = {.h = h, .host_names = names};
    int rc = -1;

    f.l = helper_launch_create(h->job, 1, 1, 0);
    if (!f.l)
        return err_set(e, ENOMEM, "no memory for the job's namespace");
    f.l->hidden = true;
    if (helper_launch_find_local(&f, e) == 0 && register_nspace(&f, e) == 0 &&
        register_rank(&f, 0, env, e) == 0)
        rc = 0;
    facts_fini(&f);
    if (rc < 0) {
        helper_launch_free(f.l);
        return -1;
    }
    f.l->next = h->launches;
    h->launches = f.l;
    return 0;
}
