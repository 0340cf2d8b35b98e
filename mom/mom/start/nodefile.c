/* PBS_NODEFILE. See nodefile.h.
 *
 * START gives the order of lines in one of two ways: in its extension, as HOST*LINES one after the other, behind the key of
 * the job's files; else each host has its mpiprocs lines, in the order of the hosts. A host whose vnodes are all given
 * back has no line; one that keeps a vnode keeps all of its lines.
 *
 * The directory of nodefiles is ours alone, so the file may be replaced by its name. It is replaced where it is there: the shepherd
 * of a run that has not begun writes it from the order. */
#include "nodefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>
#include <shep.h>

#include "file.h"
#include "mom_home.h"
#include "mom_run.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192 };

bool nodefile_gives_up(const struct exec_update_args *a, const char *vnode)
{
    for (u_int i = 0; i < a->give_up.give_up_len; i++)
        if (strcmp(a->give_up.give_up_val[i], vnode) == 0)
            return true;
    return false;
}

/* Does the job give back every vnode that it has of this host? */
static bool is_left(const exec_job_host *h, const struct exec_update_args *a)
{
    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        if (!nodefile_gives_up(a, h->chunks.chunks_val[i].vnode))
            return false;
    return true;
}

static void add_lines(struct strbuf *b, const struct run *r, unsigned long host, unsigned long n,
                      const struct exec_update_args *without)
{
    const exec_job_host *h;

    if (host >= r->start.hosts.hosts_len)
        return;
    h = &r->start.hosts.hosts_val[host];
    for (unsigned long k = 0; k < n && !(without && is_left(h, without)); k++)
        strbuf_addf(b, "%s\n", h->name);
}

/* Parse " HOST*LINES" behind the key, as START has them. False: this job has none. */
static bool add_in_order(struct strbuf *b, const struct run *r, const struct exec_update_args *without)
{
    int n_key;
    const char *at = run_files_key(r, &n_key) + n_key;
    size_t n = r->start.ext.wire_ext_len - (size_t)n_key;
    char *text = n ? strndup(at, n) : NULL, *rest = text;

    while (rest && *rest == ' ') {
        unsigned long host = strtoul(rest, &rest, 10);

        add_lines(b, r, host, *rest == '*' ? strtoul(rest + 1, &rest, 10) : 0, without);
    }
    free(text);
    return n > 0;
}

char *nodefile_make(const struct run *r, const struct exec_update_args *without, struct err *e)
{
    struct strbuf b;
    char *text;

    strbuf_init(&b, SHEP_NODEFILE_MAX);
    if (!add_in_order(&b, r, without))
        for (u_int i = 0; i < r->start.hosts.hosts_len; i++)
            add_lines(&b, r, i, r->start.hosts.hosts_val[i].mpiprocs, without);
    text = b.len || b.failed ? strbuf_take(&b) : strdup("");
    if (!text)
        err_set(e, EOVERFLOW,
                "the nodefile of job %s cannot be made: it would be larger than %d MB, or there is no memory",
                r->id, SHEP_NODEFILE_MAX >> 20);
    strbuf_fini(&b);
    return text;
}

int nodefile_replace(const struct home *h, const struct run *r, const struct exec_update_args *without,
                     struct err *e)
{
    char *text = nodefile_make(r, without, e);
    struct strbuf path;
    int rc = 0;

    if (!text)
        return -1;
    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/%s", h->aux, r->id);
    if (access(strbuf_str(&path), F_OK) == 0)
        rc = file_write_atomic(AT_FDCWD, path.s, text, strlen(text), 0644, e);
    strbuf_fini(&path);
    free(text);
    return rc;
}
