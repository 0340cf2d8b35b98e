/* The texts of select and place, and of an exec_vnode, taken apart. Each `res=value` of a chunk goes one of
 * four ways: used up on a vnode (flags n, f), a number that the vnode must have at least, a text that is
 * compared, or thrown away (flag u). host and vnode are names and are kept apart.
 *
 * Nothing is refused here: a chunk or a word that cannot be read is left out. An unknown resource in a select
 * is expected of the catalogue, which notes it; in an exec_vnode it is passed over. */
#include "sched_request.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"
#include "units.h"
#include "words.h"

void request_take(const struct resource *r, res_id res, const char *value, struct amounts *numbers,
                  struct nonconsumables *nonconsumables)
{
    bool yes;

    if (res_is_numeric(r))
        amounts_set(numbers, res, res_parse(r, value));
    else if (r->type == RES_BOOLEAN)
        nonconsumables_add(nonconsumables, res,
                           units_parse_bool(value, &yes, NULL) == 0 && yes ? "True" : "False");
    else
        nonconsumables_add(nonconsumables, res, value);
}

/* One "res=value" of a chunk. */
static void take_need(struct catalogue *c, struct chunk *k, const char *name, const char *value)
{
    res_id res = catalogue_expect(c, name);
    const struct resource *r = catalogue_get(c, res);

    if (!r || (r->flags & RES_UNCHECKED))
        return;
    if (res == RES_HOSTNAME)
        k->host = mem_intern(value);
    else if (res == RES_VNODENAME)
        k->vnode = mem_intern(value);
    else
        request_take(r, res, value, r->flags & RES_VNODE ? &k->use : &k->least, &k->nonconsumables);
}

/* "2:ncpus=1:mem=1gb" */
static void take_chunk(struct catalogue *c, struct request *q, const char *text)
{
    struct words parts;
    struct chunk *k = &q->chunks[q->n];

    words_init(&parts);
    if (words_parse(text, ":", WORDS_QUOTES, &parts, NULL) == 0 && parts.n > 0) {
        k->count = 1;
        k->text = mem_intern(text);
        for (size_t i = 0; i < parts.n; i++) {
            char *equals = strchr(parts.w[i], '=');
            if (equals) {
                *equals = '\0';
                take_need(c, k, parts.w[i], equals + 1);
            } else if (i == 0)
                k->count = strtoll(parts.w[i], NULL, 10);
        }
        amounts_add_times(&q->total, &k->use, k->count);
        q->n_chunks += k->count;
        q->n++;
    }
    words_fini(&parts);
}

static void take_place(struct request *q, const char *place)
{
    struct words parts;

    words_init(&parts);
    words_parse(place, ":", WORDS_PLAIN, &parts, NULL);
    for (size_t i = 0; i < parts.n; i++) {
        const char *w = parts.w[i];
        if (strcmp(w, "pack") == 0)
            q->arrange = ARRANGE_PACK;
        else if (strcmp(w, "scatter") == 0)
            q->arrange = ARRANGE_SCATTER;
        else if (strcmp(w, "vscatter") == 0)
            q->arrange = ARRANGE_VSCATTER;
        else if (strcmp(w, "excl") == 0)
            q->sharing = SHARING_EXCL;
        else if (strcmp(w, "exclhost") == 0)
            q->sharing = SHARING_EXCLHOST;
        else if (strcmp(w, "shared") == 0 || strcmp(w, "share") == 0)
            q->sharing = SHARING_SHARED;
        else if (strncmp(w, "group=", 6) == 0)
            q->group = mem_intern(w + 6);
    }
    words_fini(&parts);
}

enum sharing request_sharing(const char *place)
{
    struct request q = {.sharing = SHARING_UNSAID};

    if (place)
        take_place(&q, place);
    intern_unref(q.group);
    return q.sharing;
}

struct request *request_parse(struct catalogue *c, const char *select, const char *place)
{
    struct request *q = mem_new(1, sizeof *q);
    struct words chunks;

    words_init(&chunks);
    words_parse(select && *select ? select : "1:ncpus=1", "+", WORDS_QUOTES | WORDS_KEEP, &chunks, NULL);
    q->chunks = mem_new(chunks.n, sizeof *q->chunks);
    for (size_t i = 0; i < chunks.n; i++)
        take_chunk(c, q, chunks.w[i]);
    words_fini(&chunks);
    if (place)
        take_place(q, place);
    return q;
}

void request_destroy(struct request *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->n; i++) {
        amounts_fini(&q->chunks[i].use);
        amounts_fini(&q->chunks[i].least);
        nonconsumables_fini(&q->chunks[i].nonconsumables);
        intern_unref(q->chunks[i].text);
        intern_unref(q->chunks[i].host);
        intern_unref(q->chunks[i].vnode);
    }
    amounts_fini(&q->total);
    intern_unref(q->group);
    free(q->chunks);
    free(q);
}

/* "v1:ncpus=2:mem=1kb" */
static struct alloc_part_text request_part_of(const struct catalogue *c, char *text)
{
    struct alloc_part_text p = {0};
    struct words parts;
    struct nonconsumables ignored = {0};

    words_init(&parts);
    words_parse(text, ":", WORDS_QUOTES, &parts, NULL);
    if (parts.n > 0)
        p.vnode = mem_intern(parts.w[0]);
    for (size_t i = 1; i < parts.n; i++) {
        char *equals = strchr(parts.w[i], '=');
        if (!equals)
            continue;
        *equals = '\0';
        res_id res = catalogue_find(c, parts.w[i]);
        if (res != RES_NONE)
            request_take(catalogue_get(c, res), res, equals + 1, &p.use, &ignored);
    }
    nonconsumables_fini(&ignored);
    words_fini(&parts);
    return p;
}

size_t request_parse_exec(const struct catalogue *c, const char *exec_vnode, struct alloc_part_text **out)
{
    struct words chunks, parts;
    size_t n = 0, cap = 0;

    *out = NULL;
    words_init(&chunks);
    words_init(&parts);
    words_parse(exec_vnode, "()", WORDS_QUOTES | WORDS_KEEP, &chunks, NULL);
    for (size_t i = 0; i < chunks.n; i++) {
        size_t first = parts.n;
        words_parse(chunks.w[i], "+", WORDS_QUOTES | WORDS_KEEP, &parts, NULL);
        for (size_t k = first; k < parts.n; k++) {
            *out = mem_room(*out, n, &cap, sizeof **out);
            (*out)[n] = request_part_of(c, parts.w[k]);
            (*out)[n].joined = k > first;
            n += (*out)[n].vnode != NULL;
        }
    }
    words_fini(&parts);
    words_fini(&chunks);
    return n;
}

void request_free_exec(struct alloc_part_text *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        intern_unref(parts[i].vnode);
        amounts_fini(&parts[i].use);
    }
    free(parts);
}
