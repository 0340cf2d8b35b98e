/* Where a job runs. See exec_vnode.h.
 *
 * A flat array of parts, each with the number of its chunk, rather than chunks of parts: almost all callers walk all
 * parts in order, and a caller that needs chunks compares two numbers. When the parser fails it points at the faulty
 * character, which the error names. Arrays double at powers of two, so no capacity is kept. */
#include "exec_vnode.h"

#include <ctype.h>
#include <stdbool.h>

#include "pbs_error.h"
#include "strbuf.h"

static void *exec_vnode_no_memory(struct err *e)
{
    err_set(e, PBSE_SYSTEM, "no memory for the list of a job's hosts");
    return NULL;
}

/* Room for one more of `size` bytes in an array that doubles at powers of two. */
static int exec_vnode_make_room(void **array, size_t n, size_t size)
{
    void *more;

    if (n & (n - 1))
        return 0;
    more = realloc(*array, (n ? 2 * n : 1) * size);
    if (!more)
        return -1;
    *array = more;
    return 0;
}

struct exec_vnode *exec_vnode_create(struct err *e)
{
    struct exec_vnode *v = calloc(1, sizeof *v);

    if (!v)
        exec_vnode_no_memory(e);
    return v;
}

void exec_vnode_destroy(struct exec_vnode *v)
{
    size_t i;

    if (!v)
        return;
    for (i = 0; i < v->n; i++) {
        free(v->part[i].vnode);
        amounts_text_fini(&v->part[i].res);
    }
    free(v->part);
    free(v);
}

static struct exec_vnode_part *exec_vnode_add_part(struct exec_vnode *v, const char *vnode, size_t len,
                                                   size_t chunk, struct err *e)
{
    void *array = v->part;
    char *name = strndup(vnode, len);

    if (!name || v->n >= EXEC_VNODE_PARTS_MAX || exec_vnode_make_room(&array, v->n, sizeof *v->part) < 0) {
        free(name);
        return exec_vnode_no_memory(e);
    }
    v->part = array;
    v->part[v->n] = (struct exec_vnode_part){.vnode = name, .chunk = chunk};
    v->n_chunks = chunk + 1;
    return &v->part[v->n++];
}

struct exec_vnode_part *exec_vnode_add(struct exec_vnode *v, const char *vnode, size_t chunk, struct err *e)
{
    return exec_vnode_add_part(v, vnode, strlen(vnode), chunk, e);
}

int exec_vnode_copy_part(struct exec_vnode *to, const struct exec_vnode_part *part, bool joined,
                         struct err *e)
{
    size_t chunk = joined && to->n_chunks ? to->n_chunks - 1 : to->n_chunks;
    struct exec_vnode_part *p = exec_vnode_add(to, part->vnode, chunk, e);

    for (size_t i = 0; p && i < part->res.n; i++)
        if (amounts_text_add(&p->res, part->res.a[i].name, part->res.a[i].value, e) < 0)
            return -1;
    return p ? 0 : -1;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("-_.@[]/", c));
}

/* "name" or "name:res=value:..."; *at is then at what follows, or at the faulty character. */
static int parse_part(const char **at, struct exec_vnode *v, size_t chunk, struct err *e)
{
    const char *name = *at;
    struct exec_vnode_part *p;

    while (is_name_char(**at))
        (*at)++;
    if (*at == name)
        return err_set(e, PBSE_BADATVAL, "the name of a vnode is expected");
    p = exec_vnode_add_part(v, name, (size_t)(*at - name), chunk, e);
    if (!p)
        return -1;
    if (**at != ':')
        return 0;
    (*at)++;
    return amounts_text_parse(at, "+)", &p->res, e);
}

/* "(part+part)" or "part" */
static int parse_chunk(const char **at, struct exec_vnode *v, struct err *e)
{
    size_t chunk = v->n_chunks;

    if (**at != '(')
        return parse_part(at, v, chunk, e);
    do {
        (*at)++;
        if (parse_part(at, v, chunk, e) < 0)
            return -1;
    } while (**at == '+');
    if (**at != ')')
        return err_set(e, PBSE_BADATVAL, "')' is expected");
    (*at)++;
    return 0;
}

static int parse_chunks(const char **at, struct exec_vnode *v, struct err *e)
{
    for (;;) {
        if (parse_chunk(at, v, e) < 0)
            return -1;
        if (!**at)
            return 0;
        if (**at != '+')
            return err_set(e, PBSE_BADATVAL, "'+' is expected");
        (*at)++;
    }
}

struct exec_vnode *exec_vnode_parse(const char *text, struct err *e)
{
    struct exec_vnode *v = exec_vnode_create(e);
    const char *at = text;
    struct err why;

    if (!v || !parse_chunks(&at, v, &why))
        return v;
    if (why.code == PBSE_BADATVAL)
        err_set(e, why.code, "%s (at character %zu of \"%s\")", why.text, (size_t)(at - text) + 1, text);
    else
        err_set(e, why.code, "%s", why.text);
    exec_vnode_destroy(v);
    return NULL;
}

int exec_vnode_format(const struct exec_vnode *v, struct strbuf *out)
{
    size_t i;

    for (i = 0; i < v->n; i++) {
        bool first = !i || v->part[i - 1].chunk != v->part[i].chunk;
        bool last = i + 1 == v->n || v->part[i + 1].chunk != v->part[i].chunk;

        strbuf_addf(out, "%s%s%s%s", i ? "+" : "", first ? "(" : "", v->part[i].vnode,
                    v->part[i].res.n ? ":" : "");
        amounts_text_format(&v->part[i].res, out);
        strbuf_add(out, last ? ")" : "");
    }
    return strbuf_ok(out) ? 0 : -1;
}
