/* The nodes of TM, and the host that each is on. See job_nodes.h.
 *
 * START names the hosts, the nodefile the nodes; they are brought together by name. Read once, when the first task is asked for.
 * The text is that of the order, which is never written again, so nodes that the job gives back keep their numbers: a program may
 * have them already. A line whose name is not in START counts as a node of this host; a job without a nodefile has one node, here. */
#include "job_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "rpc_buf.h"
#include "strbuf.h"

enum { RESOURCES_MAX = 65000 };

/* Lines of one host are mostly together: looked for where the last was found. */
static unsigned job_nodes_host_of(const struct exec_start_args *a, const char *name, size_t n, unsigned last)
{
    u_int hosts = a->hosts.hosts_len;

    for (u_int i = 0; i < hosts; i++) {
        u_int at = (last + i) % hosts;
        const char *host = a->hosts.hosts_val[at].name;

        if (strlen(host) == n && strncmp(host, name, n) == 0)
            return at;
    }
    return a->my_host;
}

static unsigned count_lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void place_lines(const struct exec_start_args *a, const char *text, struct job_nodes *out)
{
    unsigned last = a->my_host;

    for (unsigned i = 0; i < out->n; i++) {
        size_t n = strcspn(text, "\n");

        out->host[i] = last = n ? job_nodes_host_of(a, text, n, last) : a->my_host;
        text += n + (text[n] == '\n');
    }
}

static char *resources_of(const struct exec_job_host *h)
{
    struct strbuf b;

    strbuf_init(&b, RESOURCES_MAX);
    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        for (u_int k = 0; k < h->chunks.chunks_val[i].resources.resources_len; k++) {
            const struct exec_amount *r = &h->chunks.chunks_val[i].resources.resources_val[k];

            strbuf_add_sep(&b, ",");
            strbuf_addf(&b, "%s=%s", r->name, r->value);
        }
    strbuf_add(&b, "");
    return b.len ? strbuf_take(&b) : strdup("");
}

static int job_nodes_read(const struct shep_order *o, const struct exec_start_args *a, struct job_nodes *out)
{
    unsigned lines = count_lines(o->nodefile_text);

    *out = (struct job_nodes){.n = lines ? lines : 1, .n_hosts = a->hosts.hosts_len, .mine = a->my_host};
    out->host = calloc(out->n, sizeof *out->host);
    out->resources = resources_of(&a->hosts.hosts_val[a->my_host]);
    if (!out->host || !out->resources) {
        job_nodes_fini(out);
        return -1;
    }
    place_lines(a, o->nodefile_text, out);
    return 0;
}

int job_nodes_make(const struct shep_order *o, struct job_nodes *out, struct err *e)
{
    struct exec_start_args a = {0};
    int rc = 0;

    if (rpc_buf_decode(o->start.start_val, o->start.start_len, (xdrproc_t)xdr_exec_start_args, &a) < 0 ||
        a.my_host >= a.hosts.hosts_len)
        rc = err_set(e, EBADMSG, "the hosts of job %s cannot be read", o->id);
    else if (job_nodes_read(o, &a, out) < 0)
        rc = err_set(e, ENOMEM, "no memory for the nodes of job %s", o->id);
    xdr_free((xdrproc_t)xdr_exec_start_args, &a);
    return rc;
}

void job_nodes_fini(struct job_nodes *n)
{
    free(n->host);
    free(n->resources);
    *n = (struct job_nodes){0};
}
