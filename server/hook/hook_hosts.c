/* Distribution of hooks. See hook_hosts.h.
 *
 * The list and the bytes of all files are made when hooks change, and kept until the next change: a MOM that asks for a piece
 * of what is there no more is refused, and gets the new list anyway. A change is sent at once, also while another list is under
 * way, whose answer then says nothing: a job that is sent after a change must find it. A MOM that has refused is told again soon,
 * one that has not answered after sync_mom_hookfiles_timeout.
 *
 * MOMs are told in pieces in the background: a large complex has thousands. A MOM that gets a job meanwhile is told first
 * (hook_hosts_precede), on the same connection. */
#include "hook_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commit.h"
#include "exec_vnode.h"
#include "hook_attrs.h"
#include "hook_event.h"
#include "hook_files.h"
#include "hook_objects.h"
#include "job_run.h"
#include "jobs.h"
#include "json_read.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "rpc_request.h"
#include "services.h"
#include "strbuf.h"
#include "uthash.h"

/* LOOK_MS: how late it may be noticed that a MOM has not answered. AGAIN_MS: after a refusal. ANSWER_S: where the server has no default. */
enum { ANSWER_S = 120, LOOK_MS = 10000, AGAIN_MS = 5000, PIECE = 100, TEXT_MAX = 1 << 20 };

struct hook_host { /* a MOM that can run hooks */
    struct hook_hosts *all;
    const char *service; /* interned, lives as long as the service */
    UT_hash_handle hh;
    bool sending; /* HOOKS is under way */
    bool behind;  /* it has not got what we have, and is to be told again */
    int64_t sent_mono_ms;
    unsigned turn; /* of the last HOOKS; the answer to another one says nothing any more */
    unsigned told; /* the list that it has been told, or has */
};

struct hook_host_call { /* a HOOKS under way */
    struct hook_host *host;
    unsigned turn;
};

struct hook_hosts {
    struct hook_server *s;
    struct services *services;
    exec_hook_file *files; /* names and, beside them, bytes: owned */
    char **bytes;
    size_t n, cap;
    char digest[EXEC_HOOK_DIGEST];
    unsigned list;      /* number of the list: another one with each change */
    unsigned resources; /* generation in resourcedef */
    struct hook_host *hosts;
    const char *last; /* the service told last, by the background */
    bool begun;       /* hooks were restored */
    bool pending;     /* a review waits for its batch */
    struct loop_timer *look;
};

static void hook_host_send(struct hook_host *h, struct service *s);

/* ---- the list ---------------------------------------------------------------------------------------- */

static void hook_hosts_clear(struct hook_hosts *x)
{
    for (size_t i = 0; i < x->n; i++) {
        free(x->files[i].name);
        free(x->bytes[i]);
    }
    free(x->files);
    free(x->bytes);
    x->files = NULL;
    x->bytes = NULL;
    x->n = x->cap = 0;
}

/* Hooks are policy: a list without one of them would be a rule that is not kept, so the server ends without memory. */
static void hook_hosts_add(struct hook_hosts *x, const char *name, const char *suffix, const char *bytes,
                           size_t n)
{
    char file[HOOK_NAME_LONGEST + 8];
    exec_hook_file *f;

    if (x->n == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 16;
        x->files = realloc(x->files, x->cap * sizeof *x->files);
        x->bytes = realloc(x->bytes, x->cap * sizeof *x->bytes);
        if (!x->files || !x->bytes)
            abort();
    }
    snprintf(file, sizeof file, "%s%s", name, suffix);
    f = &x->files[x->n];
    *f = (exec_hook_file){.name = strdup(file), .size = n};
    x->bytes[x->n] = malloc(n ? n : 1);
    if (!f->name || !x->bytes[x->n])
        abort();
    memcpy(x->bytes[x->n], bytes, n);
    hook_file_digest(bytes, n, f->digest);
    x->n++;
}

static bool hook_hosts_wants(const struct hook *h)
{
    for (size_t i = 0; i < hook_events_count; i++)
        if (hook_events[i].where == HOOK_AT_HOST && h->set.events & hook_events[i].bit)
            return true;
    return false;
}

static void hook_hosts_add_hook(struct hook_hosts *x, const struct hook *h)
{
    struct strbuf control;

    strbuf_init(&control, TEXT_MAX);
    hook_attrs_format_control(h, &control);
    strbuf_addf(&control, "ordered=%llu\n", (unsigned long long)h->ordered);
    hook_hosts_add(x, h->name, ".HK", strbuf_str(&control), control.len);
    strbuf_fini(&control);
    if (h->script.bytes)
        hook_hosts_add(x, h->name, ".PY", h->script.bytes, h->script.n);
    if (h->config.bytes)
        hook_hosts_add(x, h->name, ".CF", h->config.bytes, h->config.n);
}

/* Custom resources, a line each: "NAME type=TYPE flag=LETTERS". */
static void hook_hosts_add_resources(struct hook_hosts *x)
{
    const struct resource_table *t = x->s->o.ctx->resources;
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (const struct resource *r = resource_next(t, NULL); r; r = resource_next(t, r)) {
        if (r->builtin)
            continue;
        strbuf_addf(&text, "%s type=%s", r->name, r->type->name);
        if (r->flags) {
            strbuf_add(&text, " flag=");
            resource_flags_format(r->flags, &text);
        }
        strbuf_add_char(&text, '\n');
    }
    hook_hosts_add(x, HOOK_FILE_RESOURCES, "", strbuf_str(&text), text.len);
    strbuf_fini(&text);
}

static int hook_hosts_order(const void *a, const void *b)
{
    const struct {
        exec_hook_file file;
        char *bytes;
    } *x = a, *y = b;

    return strcmp(x->file.name, y->file.name);
}

/* Files and their bytes in order of names. */
static void hook_hosts_sort(struct hook_hosts *x)
{
    struct {
        exec_hook_file file;
        char *bytes;
    } *both = calloc(x->n ? x->n : 1, sizeof *both);

    if (!both)
        abort();
    for (size_t i = 0; i < x->n; i++) {
        both[i].file = x->files[i];
        both[i].bytes = x->bytes[i];
    }
    qsort(both, x->n, sizeof *both, hook_hosts_order);
    for (size_t i = 0; i < x->n; i++) {
        x->files[i] = both[i].file;
        x->bytes[i] = both[i].bytes;
    }
    free(both);
}

static void hook_hosts_make(struct hook_hosts *x)
{
    hook_hosts_clear(x);
    for (const struct hook *h = hooks_first(x->s->hooks); h; h = h->next)
        if (hook_hosts_wants(h) && x->n + 4 < EXEC_HOOK_FILES_MAX)
            hook_hosts_add_hook(x, h);
    x->resources = resource_generation(x->s->o.ctx->resources);
    if (x->n)
        hook_hosts_add_resources(x);
    hook_hosts_sort(x);
    hook_files_digest(x->files, x->n, x->digest);
}

/* ---- one MOM ----------------------------------------------------------------------------------------- */

static struct hook_host *hook_host_get(struct hook_hosts *x, const struct service *s)
{
    struct hook_host *h;

    HASH_FIND_STR(x->hosts, s->name, h);
    if (h)
        return h;
    h = calloc(1, sizeof *h);
    if (!h)
        abort(); /* as above */
    h->all = x;
    h->service = s->name;
    HASH_ADD_KEYPTR(hh, x->hosts, h->service, strlen(h->service), h);
    return h;
}

/* "+h.HK -g.PY": what the MOM has taken and removed, as it tells it. */
static void hook_host_log_done(const struct service *s, const char *text)
{
    char *copy = strdup(text), *save = NULL;

    for (char *w = copy ? strtok_r(copy, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save)) {
        bool rescdef = strcmp(w + 1, HOOK_FILE_RESOURCES) == 0;

        if (*w == '+')
            log_event(LOGC_HOOK, LOGE_DEBUG2, s->name, "successfully sent %s file %s to %s",
                      rescdef ? "rescdef" : "hook", w + 1, s->address ? s->address : s->name);
        else if (*w == '-')
            log_event(LOGC_HOOK, LOGE_DEBUG2, s->name, "successfully deleted %s file %s from %s",
                      rescdef ? "rescdef" : "hook", w + 1, s->address ? s->address : s->name);
    }
    free(copy);
}

static void hook_host_log_refused(const struct hook_hosts *x, const struct service *s, const exec_taken *t)
{
    for (size_t i = 0; i < x->n; i++)
        if (t->code == PBSE_MOMREJECT)
            log_event(LOGC_HOOK, LOGE_ADMIN, s->name,
                      "warning: sending hook file %s to %s got rejected (mom's reject_root_scripts=1)",
                      x->files[i].name, s->address ? s->address : s->name);
        else
            log_event(LOGC_HOOK, LOGE_ERROR, s->name, "errno %d: failed to copy hook file %s to %s: %s",
                      t->code, x->files[i].name, s->address ? s->address : s->name, t->text);
}

static void hook_host_answered(void *arg, const struct rpc_outcome *out)
{
    struct hook_host_call c = *(struct hook_host_call *)arg;
    struct hook_host *h = c.host;
    struct service *s = services_find(h->all->services, h->service);
    const exec_taken *t = out->status == RPC_ST_OK ? out->result : NULL;

    free(arg);
    if (c.turn != h->turn)
        return;
    h->sending = false;
    if (!s || out->status == RPC_ST_LOST)
        return; /* its HELLO will say what it has */
    if (t && t->code == 0)
        hook_host_log_done(s, t->text);
    else if (t)
        hook_host_log_refused(h->all, s, t);
    h->behind =
        !t ||
        (t->code && t->code != PBSE_MOMREJECT); /* its configuration decides: asked again at its next HELLO */
    if (h->behind)
        loop_timer_set(h->all->look, AGAIN_MS);
}

static int64_t hook_hosts_answer_ms(const struct hook_hosts *x)
{
    return 1000 * attr_list_number(&x->s->o.ctx->server->obj.attrs, SERVER_ATTR_sync_mom_hookfiles_timeout,
                                   ANSWER_S);
}

static void hook_hosts_look_later(const struct hook_hosts *x)
{
    int64_t answer_ms = hook_hosts_answer_ms(x);

    loop_timer_set(x->look, answer_ms < LOOK_MS ? answer_ms : LOOK_MS);
}

static void hook_host_send(struct hook_host *h, struct service *s)
{
    struct hook_hosts *x = h->all;
    const exec_hooks_args a = {.epoch = x->s->o.ctx->epoch,
                               .store = (char *)(uintptr_t)x->s->o.ctx->store_id,
                               .files = {(u_int)x->n, x->files}};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_HOOKS},
                                       .xargs = (xdrproc_t)xdr_exec_hooks_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    struct hook_host_call *call;
    struct err e;

    if (!service_is_here(s) || !s->accepted || !(s->capabilities & EXEC_CAN_HOOKS))
        return;
    h->behind = true;
    h->told = x->list;
    h->sent_mono_ms = clock_mono_ms(clock_real());
    if (!loop_timer_is_set(x->look))
        hook_hosts_look_later(x);
    call = malloc(sizeof *call);
    if (call)
        *call = (struct hook_host_call){h, ++h->turn};
    else
        err_no_memory(&e);
    h->sending = call && rpc_conn_call(s->conn, &spec, hook_host_answered, call, &e) == 0;
    if (h->sending)
        return;
    free(call);
    log_err(LOGC_HOOK, s->name, &e, "hooks cannot be sent");
}

/* Behind the answer to HELLO, and before the orders that follow it on the same way. */
static void hook_host_greet(void *arg)
{
    struct hook_host *h = arg;
    struct service *s = services_find(h->all->services, h->service);

    if (s && h->behind && !h->sending)
        hook_host_send(h, s);
}

void hook_hosts_greeted(void *arg, struct service *s, const wire_ext *has)
{
    struct hook_hosts *x = ((struct hook_server *)arg)->hosts;
    struct hook_host *h;
    bool same = x->n ? has->wire_ext_len == EXEC_HOOK_DIGEST &&
                           memcmp(has->wire_ext_val, x->digest, EXEC_HOOK_DIGEST) == 0
                     : has->wire_ext_len == 0;

    if (!(s->capabilities & EXEC_CAN_HOOKS))
        return;
    h = hook_host_get(x, s);
    h->sending = h->behind = false; /* what was under way went with the old connection */
    h->turn++;
    h->told = x->list;
    if (same)
        return;
    log_event(LOGC_HOOK, LOGE_DEBUG3, s->name, "hook files of %s mismatched checksums...resending", s->name);
    h->behind = true;
    commit_then(x->s->o.commit, hook_host_greet, h);
}

/* ---- all of them ------------------------------------------------------------------------------------- */

/* The services behind the last one, in the order of their table. */
static struct service *hook_hosts_next(const struct hook_hosts *x)
{
    const struct service *s = x->last ? services_find(x->services, x->last) : NULL;

    return s ? services_next(s) : services_first(x->services);
}

/* Unless it has been told already. */
static void hook_host_tell(struct hook_hosts *x, struct service *s)
{
    struct hook_host *h = s->capabilities & EXEC_CAN_HOOKS ? hook_host_get(x, s) : NULL;

    if (h && h->told != x->list)
        hook_host_send(h, s);
}

/* The first vnode that the job has on this host; NULL: none that is known. */
static const struct node *hook_hosts_vnode(const struct hook_hosts *x, const struct job *j,
                                           const struct service *s)
{
    struct exec_vnode *ev = exec_vnode_parse(j->run->exec_vnode, NULL);
    const struct node *found = NULL;

    for (size_t i = 0; ev && !found && i < ev->n; i++) {
        const struct node *n = nodes_find(x->s->o.ctx->nodes, ev->part[i].vnode);

        found = n && n->service == s ? n : NULL;
    }
    exec_vnode_destroy(ev);
    return found;
}

/* The job is sent all the same: its host waits for the files. */
static void hook_hosts_say_pending(const struct hook_hosts *x, const struct service *s, const struct job *j)
{
    const struct node *n = hook_hosts_vnode(x, j, s);
    const char *address = service_address(s), *port = address ? strrchr(address, ':') : NULL;

    if (n)
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name,
                  "vnode %s's parent mom %s%s has a pending copy hook or delete hook request", n->obj.name,
                  job_run_host_name(s->name), port ? port : "");
}

void hook_hosts_precede(void *arg, struct service *s, struct job_key job)
{
    struct hook_hosts *x = ((struct hook_server *)arg)->hosts;
    const struct job *j = jobs_find(x->s->o.ctx->jobs, job);
    const struct hook_host *h;

    hook_host_tell(x, s);
    HASH_FIND_STR(x->hosts, s->name, h);
    if (h && h->behind && j && j->run)
        hook_hosts_say_pending(x, s, j);
}

static void hook_hosts_tell(void *arg)
{
    struct hook_hosts *x = arg;
    struct service *s = hook_hosts_next(x);

    for (int i = 0; s && i < PIECE; i++, s = services_next(s)) {
        x->last = s->name;
        hook_host_tell(x, s);
    }
    if (s && loop_background(x->s->o.loop, hook_hosts_tell, x) == 0)
        return;
    x->last = NULL;
}

static void hook_hosts_durable(void *arg)
{
    struct hook_hosts *x = arg;
    char was[EXEC_HOOK_DIGEST];

    x->pending = false;
    memcpy(was, x->digest, sizeof was);
    hook_hosts_make(x);
    if (memcmp(was, x->digest, sizeof was) == 0)
        return;
    x->list++;
    loop_forget(x->s->o.loop, hook_hosts_tell, x);
    x->last = NULL;
    hook_hosts_tell(x);
}

void hook_hosts_review(void *arg)
{
    struct hook_hosts *x = arg;

    if (x->pending || !x->begun)
        return;
    x->pending = true;
    commit_then(x->s->o.commit, hook_hosts_durable, x);
}

void hook_hosts_begin(struct hook_hosts *x)
{
    x->begun = true;
    hook_hosts_make(x);
}

/* MOMs that have not answered, and those that have refused. */
static void hook_hosts_look(void *arg)
{
    struct hook_hosts *x = arg;
    int64_t now = clock_mono_ms(clock_real()), answer_ms = hook_hosts_answer_ms(x);
    size_t expected = HASH_COUNT(x->hosts), late = 0;
    bool behind = false;

    for (struct hook_host *h = x->hosts; h; h = h->hh.next) {
        struct service *s = services_find(x->services, h->service);

        behind |= h->behind && service_is_here(s);
        if (!h->behind || !s || (h->sending && now - h->sent_mono_ms < answer_ms))
            continue;
        late += h->sending;
        h->sending = false;
        hook_host_send(h, s);
    }
    if (late)
        log_event(LOGC_HOOK, LOGE_ADMIN, x->s->o.ctx->name,
                  "Timing out previous send of mom hook updates (send replies expected=%zu received=%zu)",
                  expected, expected - late);
    if (behind)
        hook_hosts_look_later(x);
}

/* ---- what MOMs ask for ------------------------------------------------------------------------------- */

void hook_hosts_piece(void *arg, struct service *s, struct rpc_request *r)
{
    struct hook_hosts *x = ((struct hook_server *)arg)->hosts;
    const exec_hook_piece_args *a = rpc_request_args(r);
    const exec_hook_file *f = hook_files_find(x->files, x->n, a->file);
    char none[1] = "", changed[] = "there is another file of this name now";
    exec_hook_piece_result res = {.text = none};

    if (!f || memcmp(f->digest, a->digest, EXEC_HOOK_DIGEST) != 0 || a->offset > f->size) {
        res.code = PBSE_HOOKERROR;
        res.text = changed;
    } else {
        u_quad_t left = f->size - a->offset;

        res.data.data_val = x->bytes[f - x->files] + a->offset;
        res.data.data_len = left < EXEC_HOOK_PIECE ? (u_int)left : EXEC_HOOK_PIECE;
    }
    rpc_reply(r, (xdrproc_t)xdr_exec_hook_piece_result, &res);
}

void hook_hosts_query(void *arg, struct service *s, struct rpc_request *r)
{
    struct hook_hosts *x = ((struct hook_server *)arg)->hosts;
    const exec_hook_query_args *a = rpc_request_args(r);
    json_t *query = json_read(a->query.query_val, a->query.query_len, EXEC_HOOK_QUERY_MAX, NULL);
    json_t *page = json_is_object(query) ? hook_objects_page(x->s, query, true) : NULL;
    char *text = page ? json_dumps(page, JSON_COMPACT) : NULL, none[1] = "",
         fault[] = "the query cannot be answered";
    exec_hook_query_result res = {.text = none};

    if (text && strlen(text) <= EXEC_HOOK_PAGE_MAX) {
        res.page.page_val = text;
        res.page.page_len = (u_int)strlen(text);
    } else {
        res.code = PBSE_HOOKERROR;
        res.text = fault;
    }
    rpc_reply(r, (xdrproc_t)xdr_exec_hook_query_result, &res);
    free(text);
    json_decref(page);
    json_decref(query);
}

/* ---- what hooks see of a job ------------------------------------------------------------------------ */

struct hook_hosts_attrs {
    wire_attrs *out;
    size_t cap;
};

static bool hook_hosts_has(const wire_attrs *l, const char *name)
{
    for (u_int i = 0; i < l->wire_attrs_len; i++)
        if (strcmp(l->wire_attrs_val[i].name, name) == 0)
            return true;
    return false;
}

static int hook_hosts_add_attr(void *arg, const char *name, const char *resource, const char *value)
{
    struct hook_hosts_attrs *a = arg;
    wire_attrs *l = a->out;
    wire_attr *w;

    if (hook_hosts_has(l, name) || l->wire_attrs_len >= PBS_ATTRS_MAX)
        return 0;
    w = realloc(l->wire_attrs_val, (l->wire_attrs_len + 1) * sizeof *w);
    if (!w)
        return -1;
    l->wire_attrs_val = w;
    w[l->wire_attrs_len] = (wire_attr){strdup(name), strdup(resource ? resource : ""), strdup(value)};
    if (!w[l->wire_attrs_len].name || !w[l->wire_attrs_len].resource || !w[l->wire_attrs_len].value)
        abort(); /* START would lie about the job */
    l->wire_attrs_len++;
    return 0;
}

void hook_hosts_add_attrs(void *arg, const struct job *j, wire_attrs *out)
{
    static const int shown[] = {
        JOB_ATTR_Job_Owner,   JOB_ATTR_server,    JOB_ATTR_Priority,    JOB_ATTR_euser,
        JOB_ATTR_egroup,      JOB_ATTR_exec_host, JOB_ATTR_exec_vnode,  JOB_ATTR_ctime,
        JOB_ATTR_qtime,       JOB_ATTR_etime,     JOB_ATTR_Mail_Points, JOB_ATTR_Mail_Users,
        JOB_ATTR_group_list,  JOB_ATTR_User_List, JOB_ATTR_Hold_Types,  JOB_ATTR_run_count,
        JOB_ATTR_run_version, JOB_ATTR_array_id,  JOB_ATTR_array_index, JOB_ATTR_Submit_arguments,
        JOB_ATTR_job_state,   JOB_ATTR_substate,  JOB_ATTR_hashname,    JOB_ATTR_tolerate_node_failures};
    const struct hook_server *s = arg;
    const struct attr_reader reader = {.level = LEVEL_SERVER, .show_hidden = true};
    struct hook_hosts_attrs a = {out, 0};
    struct attr_select select;
    struct err e;

    if (!s->hosts->n)
        return;
    attr_select_init(&select, OF_JOB);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        (void)attr_select_add(&select, s->o.ctx->resources, attr_def_get(OF_JOB, shown[i])->name, NULL, &e);
    (void)attrib_render_walk(s->render, &j->obj, &select, &reader, hook_hosts_add_attr, &a);
    attr_select_fini(&select);
}

/* ---- life -------------------------------------------------------------------------------------------- */

struct hook_hosts *hook_hosts_create(struct hook_server *s, struct services *services)
{
    struct hook_hosts *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->s = s;
    x->services = services;
    hook_files_digest(NULL, 0, x->digest);
    x->look = loop_timer_create(s->o.loop, LOOP_REAL, hook_hosts_look, x);
    if (!x->look) {
        free(x);
        return NULL;
    }
    return x;
}

void hook_hosts_destroy(struct hook_hosts *x)
{
    struct hook_host *h, *next;

    if (!x)
        return;
    loop_forget(x->s->o.loop, hook_hosts_tell, x);
    loop_timer_destroy(x->look);
    HASH_ITER(hh, x->hosts, h, next)
    {
        HASH_DEL(x->hosts, h);
        free(h);
    }
    hook_hosts_clear(x);
    free(x);
}
