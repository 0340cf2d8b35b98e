#ifndef SCHED_REQUEST_H
#define SCHED_REQUEST_H
/* What a job wants of vnodes: its select and place, with resource numbers instead of names.
 *
 * The server has checked both texts; what cannot be understood here is left out. Jobs with the same texts
 * share one request (their class owns it).
 */
#include <stdbool.h>
#include <stddef.h>

#include "amounts.h"
#include "catalogue.h"
#include "nonconsumable.h"

struct chunk {
    int64_t count;
    const char *text;     /* as it was asked for, interned: "2:ncpus=1" */
    struct amounts use;   /* what one chunk uses up on a vnode */
    struct amounts least; /* numbers that the vnode must have at least; no job uses them up */
    struct nonconsumables nonconsumables;
    const char *host, *vnode; /* asked for by name, or NULL; interned */
};

enum arrange { ARRANGE_FREE, ARRANGE_PACK, ARRANGE_SCATTER, ARRANGE_VSCATTER };
enum sharing { SHARING_UNSAID, SHARING_SHARED, SHARING_EXCL, SHARING_EXCLHOST };

struct request {
    struct chunk *chunks;
    size_t n;
    int64_t n_chunks;     /* sum of counts */
    struct amounts total; /* sum of all chunks' `use` */
    enum arrange arrange;
    enum sharing sharing;
    const char *group; /* place=group=RES: interned, or NULL */
};

/* Parse. Never fails: an empty select is one chunk of one cpu. */
struct request *request_parse(struct catalogue *c, const char *select, const char *place);
void request_destroy(struct request *r);
enum sharing request_sharing(const char *place); /* what a place says of it; NULL: nothing */

/* One vnode's part of an exec_vnode. */
struct alloc_part_text {
    const char *vnode; /* interned; the caller's reference */
    struct amounts use;
    bool joined; /* belongs to the same chunk as the one before it */
};
/* Cut "(v1:ncpus=2+v2:ncpus=1)+(v3:mem=1kb)" into its parts, in order; *parts is heap memory.
 * Returns how many. */
size_t request_parse_exec(const struct catalogue *c, const char *exec_vnode, struct alloc_part_text **out);

void request_free_exec(struct alloc_part_text *parts, size_t n);

/* One resource of an object: into the numbers or the labels, as its type says. */
void request_take(const struct resource *r, res_id res, const char *value, struct amounts *numbers,
                  struct nonconsumables *nonconsumables);

#endif
