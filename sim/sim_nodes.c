/* Vnodes of one line share one list of attributes: a node's `attrs` borrows that of its kind, and the kinds
 * are freed once. A hundred thousand vnodes are then little more than their names. */
#include "sim_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hostlist.h"
#include "sim_file.h"
#include "words.h"

struct sim_nodes_kind { /* nodes of a line share their attributes */
    struct sim_nodes_kind *next;
    wire_attrs attrs;
};

struct sim_nodes {
    struct sim_nodes_kind *kinds;
    exec_node *nodes;
    size_t n, room;
};

struct sim_nodes *sim_nodes_create(void)
{
    return calloc(1, sizeof(struct sim_nodes));
}

void sim_nodes_destroy(struct sim_nodes *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        free(c->nodes[i].name);
    for (struct sim_nodes_kind *k = c->kinds, *next; k; k = next) {
        next = k->next;
        xdr_free((xdrproc_t)xdr_wire_attrs, (char *)&k->attrs);
        free(k);
    }
    free(c->nodes);
    free(c);
}

/* "ncpus=4" as resources_available.ncpus. */
static int set_amount(wire_attr *a, const char *text, struct err *e)
{
    const char *eq = strchr(text, '=');

    if (!eq || eq == text || !eq[1])
        return err_set(e, EINVAL, "\"%s\" is not RESOURCE=AMOUNT", text);
    a->name = strdup("resources_available");
    a->resource = strndup(text, (size_t)(eq - text));
    a->value = strdup(eq + 1);
    return a->name && a->resource && a->value ? 0 : err_no_memory(e);
}

static int make_kind(struct sim_nodes *c, const char *const *amounts, size_t n, struct sim_nodes_kind **out,
                     struct err *e)
{
    struct sim_nodes_kind *k = calloc(1, sizeof *k);

    if (!k || !(k->attrs.wire_attrs_val = calloc(n ? n : 1, sizeof(wire_attr)))) {
        free(k);
        return err_no_memory(e);
    }
    k->next = c->kinds;
    c->kinds = k;
    for (size_t i = 0; i < n; i++) {
        k->attrs.wire_attrs_len++;
        if (set_amount(&k->attrs.wire_attrs_val[i], amounts[i], e) < 0)
            return -1;
    }
    *out = k;
    return 0;
}

static int sim_nodes_make_room(struct sim_nodes *c, size_t more, struct err *e)
{
    exec_node *nodes;

    if (c->n + more > EXEC_NODES_MAX)
        return err_set(e, E2BIG, "more than %d vnodes", EXEC_NODES_MAX);
    if (c->n + more <= c->room)
        return 0;
    nodes = realloc(c->nodes, (c->n + more) * sizeof *nodes);
    if (!nodes)
        return err_no_memory(e);
    c->nodes = nodes;
    c->room = c->n + more;
    return 0;
}

int sim_nodes_add(struct sim_nodes *c, const char *names, const char *const *amounts, size_t n, struct err *e)
{
    struct words w;
    struct sim_nodes_kind *k = NULL;
    int rc = -1;

    words_init(&w);
    if (hostlist_parse(names, &w, e) == 0 && make_kind(c, amounts, n, &k, e) == 0 &&
        sim_nodes_make_room(c, w.n, e) == 0)
        rc = 0;
    for (size_t i = 0; rc == 0 && i < w.n; i++) {
        char *name = strdup(w.w[i]);

        if (!name)
            rc = err_no_memory(e);
        else
            c->nodes[c->n++] = (exec_node){.name = name, .attrs = k->attrs};
    }
    words_fini(&w);
    return rc;
}

static int sim_nodes_parse_line(void *context, const struct words *w, struct err *e)
{
    return sim_nodes_add(context, w->w[0], (const char *const *)w->w + 1, w->n - 1, e);
}

int sim_nodes_read(struct sim_nodes *c, const char *path, struct err *e)
{
    return sim_file_read(path, sim_nodes_parse_line, c, e);
}

exec_node *sim_nodes_get(const struct sim_nodes *c, size_t *n)
{
    *n = c->n;
    return c->nodes;
}
