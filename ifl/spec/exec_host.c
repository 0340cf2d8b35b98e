/* The hosts of a job. See exec_host.h. When the parser fails it points at the faulty character, which the error
 * names. */
#include "exec_host.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "strbuf.h"

/* A choice, far above what a select can ask for in practice: a faulty text from another server ends in an error here. */
enum { EXEC_HOST_PARTS_MAX = 1000000 };

static int exec_host_no_memory(struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "no memory for the list of a job's hosts");
}

/* Room for one more part: the array doubles at powers of two, so no capacity is kept. */
static int exec_host_make_room(struct exec_host *h)
{
    struct exec_host_part *more;

    if (h->n & (h->n - 1))
        return 0;
    more = realloc(h->part, (h->n ? 2 * h->n : 1) * sizeof *more);
    if (!more)
        return -1;
    h->part = more;
    return 0;
}

struct exec_host *exec_host_create(struct err *e)
{
    struct exec_host *h = calloc(1, sizeof *h);

    if (!h)
        exec_host_no_memory(e);
    return h;
}

void exec_host_destroy(struct exec_host *h)
{
    size_t i;

    if (!h)
        return;
    for (i = 0; i < h->n; i++)
        free(h->part[i].host);
    free(h->part);
    free(h);
}

static int add_host(struct exec_host *h, char *host, uint32_t slot, uint32_t ncpus, struct err *e)
{
    if (!host || h->n >= EXEC_HOST_PARTS_MAX || exec_host_make_room(h) < 0) {
        free(host);
        return exec_host_no_memory(e);
    }
    h->part[h->n++] = (struct exec_host_part){host, slot, ncpus};
    return 0;
}

int exec_host_add(struct exec_host *h, const char *host, uint32_t slot, uint32_t ncpus, struct err *e)
{
    return add_host(h, strdup(host), slot, ncpus, e);
}

static bool parse_u32(const char **at, uint32_t *out)
{
    unsigned long v;
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    v = strtoul(*at, &end, 10);
    *at = end;
    *out = (uint32_t)v;
    return !errno && v <= UINT32_MAX;
}

/* "host/slot" or "host/slot*ncpus" */
static int parse_host(const char **at, struct exec_host *h, struct err *e)
{
    const char *name = *at, *end = name + strcspn(name, "/+*");
    uint32_t slot, ncpus = 1;

    *at = end + 1;
    if (end == name || *end != '/' || !parse_u32(at, &slot))
        return err_set(e, PBSE_BADATVAL, "exec_host: \"host/number\" is expected at \"%.40s\"", name);
    if (**at == '*') {
        (*at)++;
        if (!parse_u32(at, &ncpus))
            return err_set(e, PBSE_BADATVAL, "exec_host: a number is expected behind * at \"%.40s\"", name);
    }
    return add_host(h, strndup(name, (size_t)(end - name)), slot, ncpus, e);
}

static int parse_hosts(const char *at, struct exec_host *h, struct err *e)
{
    for (;;) {
        if (parse_host(&at, h, e) < 0)
            return -1;
        if (!*at)
            return 0;
        if (*at != '+')
            return err_set(e, PBSE_BADATVAL, "exec_host: '+' is expected at \"%.40s\"", at);
        at++;
    }
}

struct exec_host *exec_host_parse(const char *text, struct err *e)
{
    struct exec_host *h = exec_host_create(e);

    if (h && parse_hosts(text, h, e) < 0) {
        exec_host_destroy(h);
        return NULL;
    }
    return h;
}

int exec_host_format(const struct exec_host *h, struct strbuf *out)
{
    size_t i;

    for (i = 0; i < h->n; i++) {
        strbuf_addf(out, "%s%s/%u", i ? "+" : "", h->part[i].host, h->part[i].slot);
        if (h->part[i].ncpus != 1)
            strbuf_addf(out, "*%u", h->part[i].ncpus);
    }
    return strbuf_ok(out) ? 0 : -1;
}
