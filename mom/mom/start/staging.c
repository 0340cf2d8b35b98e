/* Files of a job: where they lie, and the errand that brings them in. See staging.h.
 *
 * staging_begin starts the errand as a child; its end (staging_on_end) is the one answer. It writes into a file in memory, not into
 * a pipe, so it never waits for this MOM to read. r->staging is NULL before `fn` is called: `fn` may begin another one, or
 * end the run. An errand that was killed, or whose answer cannot be read, counts as one file that is missing.
 *
 * The errand `pbs_shepherd stage` gets its list on standard input and answers on standard output, both XDR. It has no
 * time limit of its own: a job that is deleted ends it, and a MOM that dies does. */
#include "staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <shep.h>

#include "conf.h"
#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "rpc_buf.h"
#include "mom_run.h"
#include "spawn.h"
#include "strbuf.h"
#include "units.h"
#include "usecp.h"

enum { PATH_LEN_MAX = 65536, RESULT_MAX = 1 << 20, MS_PER_S = 1000 };

struct staging {
    struct run *run;
    struct spawn *process;
    int out;
    staging_fn *fn;
    void *arg;
};

/* ---- the list */
/* Where the other end of a file is, as the errand is told: a path if it is on this host (relative ones begin at the owner's home), else
 * host:path. */
static char *there_of(const struct home *h, const char *owner_home, const char *text, bool *local)
{
    struct strbuf found, path;

    strbuf_init(&found, PATH_LEN_MAX);
    strbuf_init(&path, PATH_LEN_MAX);
    *local = usecp_find(h->config, h->our_names, text, &found);
    if (*local && strbuf_str(&found)[0] != '/')
        strbuf_addf(&path, "%s/", owner_home);
    strbuf_add(&path, strbuf_str(&found));
    strbuf_fini(&found);
    return strbuf_take(&path);
}

/* "local@host:remote"; the local name is cut off in place. */
static int add_file(const struct home *h, const char *owner_home, char *word, struct shep_stage *out,
                    struct err *e)
{
    struct shep_stage_file *f = &out->files.files_val[out->files.files_len];
    char *at = strchr(word, '@');
    bool local = false;

    if (!at || at == word || !strchr(at, ':'))
        return err_set(e, EINVAL, "\"%s\" is not a file to stage: local_path@host:remote_path", word);
    *at = '\0';
    f->here = strdup(word);
    f->there = there_of(h, owner_home, at + 1, &local);
    f->local = local;
    if (!f->here || !f->there)
        return err_set(e, ENOMEM, "no memory for the files of a job");
    out->files.files_len++;
    return 0;
}

static int fill_programs(const struct home *h, struct shep_stage *out, struct err *e)
{
    const char *scp = conf_text(h->conf, CONF_PBS_SCP), *args = conf_text(h->conf, CONF_PBS_SCP_ARGS);
    const char *cp = conf_text(h->conf, CONF_PBS_CP);

    out->cp = strdup(cp ? cp : "/bin/cp");
    out->scp = strdup(scp ? scp : "");
    out->scp_args = strdup(args ? args : "");
    return out->cp && out->scp && out->scp_args ? 0 : err_set(e, ENOMEM, "no memory for the files of a job");
}

int staging_list(const struct home *h, const struct run *r, const char *attr, const char *owner_home,
                 struct shep_stage *out, struct err *e)
{
    const char *list = run_attr(r, attr, "");
    struct words w;
    int rc = fill_programs(h, out, e);

    words_init(&w);
    if (rc == 0 && list && list[0])
        rc = words_parse_commas(list, &w, e);
    out->files.files_val = calloc(w.n ? w.n : 1, sizeof(struct shep_stage_file));
    if (!out->files.files_val)
        rc = err_set(e, ENOMEM, "no memory for the files of a job");
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        rc = add_file(h, owner_home, w.w[i], out, e);
    words_fini(&w);
    return rc;
}

/* ---- the errand */
bool staging_is_wanted(const struct run *r)
{
    const char *list = run_attr(r, "stagein", "");

    return list && list[0] && !r->staged_in && !run_is_sister(r);
}

static void staging_drop(struct staging *s)
{
    s->run->staging = NULL;
    spawn_destroy(s->process);
    if (s->out >= 0)
        close(s->out);
    free(s);
}

void staging_stop(struct run *r)
{
    if (!r->staging)
        return;
    if (r->staging->process)
        spawn_signal_group(r->staging->process, SIGKILL);
    staging_drop(r->staging);
}

void staging_log(const struct run *r, const struct shep_close_result *res, const char *way)
{
    struct shep_copied c = {0};
    char took[UNITS_TEXT_MAX];

    if (res->ext.wire_ext_len &&
        rpc_buf_decode(res->ext.wire_ext_val, res->ext.wire_ext_len, (xdrproc_t)xdr_shep_copied, &c) == 0) {
        for (u_int i = 0; i < c.commands.commands_len; i++)
            log_event(LOGC_FIL, LOGE_DEBUG, r->id, "%s", c.commands.commands_val[i]);
        units_format_duration(took, (int64_t)c.took_ms / MS_PER_S);
        if (c.of)
            log_event(LOGC_FIL, LOGE_JOB, r->id, "Staged %u/%u items %s over %s", c.copied, c.of, way,
                      took[0] == '0' ? took + 1 : took); /* H:MM:SS */
    }
    xdr_free((xdrproc_t)xdr_shep_copied, &c);
}

static void staging_on_end(void *arg, int status)
{
    struct staging *s = arg;
    struct run *r = s->run;
    struct shep_close_result res = {0};
    char *bytes = NULL, unknown[] = "the errand did not say how it went";
    size_t n = 0;
    staging_fn *fn = s->fn;
    void *fn_arg = s->arg;
    bool good;

    lseek(s->out, 0, SEEK_SET);
    good = status == 0 && file_read_fd(s->out, RESULT_MAX, &bytes, &n, NULL) == 0 &&
           rpc_buf_decode(bytes, n, (xdrproc_t)xdr_shep_close_result, &res) == 0;
    staging_drop(s);
    staging_log(r, &res, "in");
    fn(fn_arg, r, good ? res.failed : 1, good ? res.text : unknown);
    xdr_free((xdrproc_t)xdr_shep_close_result, &res);
    free(bytes);
}

static int staging_start(struct staging *s, struct loop *l, const struct home *h, const struct byte_buf *in,
                         struct err *e)
{
    char verb[] = "stage";
    char *argv[] = {h->shepherd, verb, s->run->path, NULL};
    const int fds[] = {-1, s->out, -1};
    struct spawn_options o = spawn_own(argv, fds, 3);

    o.input = in->bytes;
    o.input_len = in->len;
    s->process = spawn_start(l, &o, staging_on_end, s, e);
    return s->process ? 0 : -1;
}

int staging_begin(struct loop *l, const struct home *h, struct run *r, staging_fn *fn, void *arg,
                  struct err *e)
{
    struct shep_stage list = {0};
    struct byte_buf in;
    struct staging *s = calloc(1, sizeof *s);
    int rc = -1;

    byte_buf_init(&in);
    if (s) {
        *s = (struct staging){.run = r, .fn = fn, .arg = arg, .out = memfd_create("stage", MFD_CLOEXEC)};
        r->staging = s;
        if (staging_list(h, r, "stagein", r->owner_home, &list, e) == 0 && s->out >= 0 &&
            rpc_buf_encode(&in, (xdrproc_t)xdr_shep_stage, &list) == 0)
            rc = staging_start(s, l, h, &in, e);
        if (rc < 0)
            staging_drop(s);
        else
            log_event(LOGC_FIL, LOGE_JOB, r->id, "copy file request received");
    }
    byte_buf_fini(&in);
    xdr_free((xdrproc_t)xdr_shep_stage, &list);
    return rc;
}
