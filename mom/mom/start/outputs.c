/* The same questions are asked twice, when the order is made and when the job has ended, and must have the
 * same answers: written_at() decides both times. Nothing is remembered in between: an attribute or a $usecp
 * that changes while the job runs changes the second answer.
 *
 * A file that is written at its final place is created again; one in the spool is appended to, since an earlier run
 * of the job may have left some. A sister writes nothing and delivers nothing. */
#include "outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shep.h>

#include "conf.h"
#include "mom_config.h"
#include "mom_home.h"
#include "images.h"
#include "log.h"
#include "mom_run.h"
#include "staging.h"
#include "strbuf.h"
#include "mom_terminal.h"
#include "usecp.h"

enum { PATH_LEN_MAX = 65536, JOIN_NOT = 0, JOIN_TO_OUT = 1, JOIN_TO_ERR = 2, N_FILES = 2 };

struct kind {
    char letter;
    const char *attr, *suffix;
};

static const struct kind kinds[N_FILES] = {{'o', "Output_Path", "OU"}, {'e', "Error_Path", "ER"}};

static bool attr_has(const struct run *r, const char *attr, char letter)
{
    const char *v = run_attr(r, attr, "");

    return v && strcmp(v, "n") != 0 && strchr(v, letter);
}

static int join_of(const struct run *r)
{
    const char *v = run_attr(r, "Join_Path", "");

    if (!v || !v[0] || strcmp(v, "n") == 0)
        return JOIN_NOT;
    return v[0] == 'o' ? JOIN_TO_OUT : JOIN_TO_ERR;
}

/* Relative names are below the owner's home; ^array_index^ becomes the index. */
static void add_path(struct strbuf *out, const struct run *r, const char *owner_home, const char *path)
{
    static const char mark[] = "^array_index^";
    const char *at = strstr(path, mark);

    if (path[0] != '/')
        strbuf_addf(out, "%s/", owner_home);
    if (!at) {
        strbuf_add(out, path);
        return;
    }
    strbuf_addf(out, "%.*s%d%s", (int)(at - path), path, r->key.index, at + sizeof mark - 1);
}

/* "n2:/dev/null", as "qsub -o /dev/null" on n2 makes of it: the same on every host. */
static bool is_dev_null(const char *to)
{
    const char *colon = strchr(to, ':');

    return colon && !memchr(to, '/', (size_t)(colon - to)) && strcmp(colon + 1, "/dev/null") == 0;
}

/* The destination into `out`: a local path (true), or host:path. False as well when there is none. */
static bool destination(const struct home *h, const struct run *r, const struct kind *k,
                        const char *owner_home, struct strbuf *out)
{
    const char *to = run_attr(r, k->attr, "");
    struct strbuf found;
    bool local;

    if (!to)
        return false;
    if (is_dev_null(to)) {
        strbuf_add(out, "/dev/null");
        return true;
    }
    strbuf_init(&found, PATH_LEN_MAX);
    local = usecp_find(h->config, h->our_names, to, &found);
    if (local)
        add_path(out, r, owner_home, found.s);
    else
        strbuf_add(out, found.s);
    strbuf_fini(&found);
    return local;
}

static void spool_path(struct strbuf *out, const struct home *h, const struct run *r, const struct kind *k)
{
    strbuf_addf(out, "%s/%s.%s", h->spool, r->id, k->suffix);
}

static void kept_path(struct strbuf *out, const struct run *r, const struct kind *k, const char *owner_home)
{
    const char *name = run_attr(r, "Job_Name", "");

    strbuf_addf(out, "%s/%s.%c%lld", owner_home, name ? name : "job", k->letter, (long long)r->key.seq);
    if (r->key.index >= 0)
        strbuf_addf(out, ".%d", r->key.index);
}

/* Where the job writes; true: that is also where it stays. */
static bool written_at(const struct home *h, const struct run *r, const struct kind *k,
                       const char *owner_home, struct strbuf *out)
{
    if (attr_has(r, "Keep_Files", k->letter)) {
        if (!attr_has(r, "Keep_Files", 'd')) {
            kept_path(out, r, k, owner_home);
            return true;
        }
        if (destination(h, r, k, owner_home, out))
            return true;
        strbuf_reset(out);
    }
    if (destination(h, r, k, owner_home, out) && strcmp(out->s, "/dev/null") == 0)
        return true;
    strbuf_reset(out);
    spool_path(out, h, r, k);
    return false;
}

/* -kd to where this host cannot write is delivered as usual, and said. */
static void add_warning(const struct home *h, const struct run *r, const struct kind *k,
                        const char *owner_home, struct strbuf *say)
{
    struct strbuf to;

    strbuf_init(&to, PATH_LEN_MAX);
    if (attr_has(r, "Keep_Files", k->letter) && attr_has(r, "Keep_Files", 'd') &&
        !destination(h, r, k, owner_home, &to) && !say->len)
        strbuf_addf(say,
                    "Direct write is requested for job: %s, but the destination is not usecp-able from %s",
                    r->id, h->host);
    strbuf_fini(&to);
}

int outputs_plan(const struct home *h, const struct run *r, const char *owner_home, struct shep_order *o,
                 struct err *e)
{
    struct shep_output *const files[N_FILES] = {&o->out, &o->err};
    struct strbuf say;

    strbuf_init(&say, PATH_LEN_MAX);
    for (int i = 0; i < N_FILES; i++)
        add_warning(h, r, &kinds[i], owner_home, &say);
    if (images_missing(r) && !run_is_sister(r))
        strbuf_addf(&say, "%sthe job begins from the start: %s", say.len ? "; " : "", images_missing(r));
    o->say = strdup(strbuf_str(&say));
    strbuf_fini(&say);
    if (!o->say)
        return err_set(e, ENOMEM, "no memory for the output of job %s", r->id);
    if (run_is_sister(r)) {
        o->out.path = strdup("/dev/null");
        o->err.path = strdup("/dev/null");
        return o->out.path && o->err.path ? 0
                                          : err_set(e, ENOMEM, "no memory for the output of job %s", r->id);
    }
    o->join = join_of(r);
    for (int i = 0; i < N_FILES; i++) {
        struct strbuf b;

        strbuf_init(&b, PATH_LEN_MAX);
        files[i]->append =
            !written_at(h, r, &kinds[i], owner_home, &b); /* an earlier run may have left some */
        files[i]->path = strbuf_take(&b);
        if (!files[i]->path)
            return err_set(e, ENOMEM, "no memory for the output of job %s", r->id);
    }
    return 0;
}

static bool is_written(int join, int file)
{
    return join == JOIN_NOT || (join == JOIN_TO_OUT) == (file == 0);
}

static bool is_removed(const struct run *r, const struct kind *k, int status)
{
    return status == 0 && attr_has(r, "Remove_Files", k->letter);
}

/* The job has written this file where it stays (-k), and it goes after all. */
static int fill_written(const struct run *r, const struct kind *k, const char *at, struct shep_delivery *d)
{
    struct strbuf name;

    strbuf_init(&name, PATH_LEN_MAX);
    strbuf_addf(&name, "%s.%s", r->id, k->suffix);
    d->local = d->remove = true;
    d->from = strbuf_take(&name);
    d->to = strdup(at);
    return d->from && d->to ? 0 : -1;
}

static int fill_item(const struct home *h, const struct run *r, const struct kind *k, const char *owner_home,
                     int status, struct shep_delivery *d)
{
    struct strbuf from, to;

    strbuf_init(&from, PATH_LEN_MAX);
    strbuf_init(&to, PATH_LEN_MAX);
    spool_path(&from, h, r, k);
    d->local = destination(h, r, k, owner_home, &to);
    d->remove =
        is_removed(r, k, status) || !run_attr(r, k->attr, "") || (d->local && strcmp(to.s, "/dev/null") == 0);
    strbuf_add(&to, "");
    d->from = strbuf_take(&from);
    d->to = strbuf_take(&to);
    if (!d->to)
        d->to = strdup("");
    return d->from && d->to ? 0 : -1;
}

/* Private directories of another host may be the same as ours, by the same names. */
static bool is_perhaps_shared(const struct home *h)
{
    return !h->config->jobdir_root || h->config->jobdir_shared;
}

/* A job that comes back finds its files, as does another run of it elsewhere: one that was checkpointed all of them, one that is run again from its beginning
 * brings them again. */
static int plan_staging(const struct home *h, const struct run *r, const char *owner_home,
                        struct shep_close_args *out, struct err *e)
{
    bool goes_on = r->failure.reason == EXEC_END_CHECKPOINTED || r->unwanted,
         over = !r->keep_output && !r->unwanted && r->started;

    out->keep_jobdir = r->unwanted ? is_perhaps_shared(h) : goes_on;
    if (staging_list(h, r, over && !run_is_sister(r) ? "stageout" : "", owner_home, &out->out, e) < 0)
        return -1;
    return staging_list(h, r, r->staged_in && !goes_on ? "stagein" : "", owner_home, &out->brought, e);
}

/* Its path was altered to one that needs no delivery, and by then it wrote into the spool. */
static bool was_spooled(const struct home *h, const struct run *r, const struct kind *k)
{
    struct strbuf path;
    bool there;

    strbuf_init(&path, PATH_LEN_MAX);
    spool_path(&path, h, r, k);
    there = r->altered && access(path.s, F_OK) == 0;
    strbuf_fini(&path);
    return there;
}

/* Of a file that -kd has written where it belongs. */
static void tell_skipped(const struct home *h, const struct run *r, const struct kind *k)
{
    struct strbuf path;

    if (!log_is_on(LOGE_DEBUG2) || !attr_has(r, "Keep_Files", 'd') || !attr_has(r, "Keep_Files", k->letter))
        return;
    strbuf_init(&path, PATH_LEN_MAX);
    spool_path(&path, h, r, k);
    log_event(LOGC_FIL, LOGE_DEBUG2, "stage_file", "Skipping directly written/absent spool file %s", path.s);
    strbuf_fini(&path);
}

/* What becomes of a file that the job has written: nothing where it is in its place and stays there. */
static int add_item(const struct home *h, const struct run *r, const struct kind *k, const char *owner_home,
                    int status, struct shep_close_args *out)
{
    struct shep_delivery *d = &out->items.items_val[out->items.items_len];
    struct strbuf where;
    int rc = 0;

    strbuf_init(&where, PATH_LEN_MAX);
    if (!written_at(h, r, k, owner_home, &where) || was_spooled(h, r, k)) {
        out->items.items_len++;
        rc = fill_item(h, r, k, owner_home, status, d);
    } else {
        tell_skipped(h, r, k);
        if (is_removed(r, k, status)) {
            out->items.items_len++;
            rc = fill_written(r, k, strbuf_str(&where), d);
        }
    }
    strbuf_fini(&where);
    return rc;
}

/* Is there nothing that this host delivers at the end of this run? Then the files stay where they are. */
static bool is_kept(const struct run *r)
{
    return r->keep_output || r->unwanted || run_is_sister(r) || terminal_is_interactive(r);
}

int outputs_deliver(const struct home *h, const struct run *r, const char *owner_home, int status,
                    struct shep_close_args *out, struct err *e)
{
    const char *scp = conf_text(h->conf, CONF_PBS_SCP), *scp_args = conf_text(h->conf, CONF_PBS_SCP_ARGS);
    int join = join_of(r);

    *out = (struct shep_close_args){.scp = strdup(scp ? scp : ""),
                                    .scp_args = strdup(scp_args ? scp_args : ""),
                                    .undelivered = strdup(h->undelivered)};
    if (plan_staging(h, r, owner_home, out, e) < 0)
        return -1;
    out->items.items_val = calloc(N_FILES, sizeof(struct shep_delivery));
    if (!out->scp || !out->scp_args || !out->undelivered || !out->items.items_val)
        return err_set(e, ENOMEM, "no memory for the output of job %s", r->id);
    for (int i = 0; i < N_FILES && !is_kept(r); i++) {
        if (!is_written(join, i))
            tell_skipped(h, r, &kinds[i]);
        else if (add_item(h, r, &kinds[i], owner_home, status, out) < 0)
            return err_set(e, ENOMEM, "no memory for the output of job %s", r->id);
    }
    return 0;
}

const char *outputs_error_suffix(const struct run *r)
{
    return kinds[join_of(r) == JOIN_TO_OUT ? 0 : 1].suffix;
}
