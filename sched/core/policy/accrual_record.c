/* A hash by job. See accrual_record.h. */
#include "accrual_record.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "intern.h"
#include "mem.h"

struct row {
    struct counted_job job; /* first, so that one is the other */
    UT_hash_handle hh;
};

struct counted {
    struct row *all;
};

struct counted *counted_create(void)
{
    return mem_new(1, sizeof(struct counted));
}

void counted_drop(struct counted *c, struct counted_job *x)
{
    struct row *r = (struct row *)x;

    HASH_DEL(c->all, r);
    intern_unref(r->job.id);
    free(r);
}

void counted_clear(struct counted *c)
{
    while (c->all)
        counted_drop(c, &c->all->job);
}

void counted_destroy(struct counted *c)
{
    if (!c)
        return;
    counted_clear(c);
    free(c);
}

struct counted_job *counted_find(const struct counted *c, const char *id)
{
    struct row *r;

    HASH_FIND_STR(c->all, id, r);
    return r ? &r->job : NULL;
}

struct counted_job *counted_add(struct counted *c, const char *id)
{
    struct counted_job *x = counted_find(c, id);
    struct row *r;

    if (x)
        return x;
    r = mem_new(1, sizeof *r);
    r->job.id = mem_intern(id);
    HASH_ADD_KEYPTR(hh, c->all, r->job.id, strlen(r->job.id), r);
    return &r->job;
}

struct counted_job *counted_next(const struct counted *c, const struct counted_job *after)
{
    struct row *r = after ? ((const struct row *)after)->hh.next : c->all;

    return r ? &r->job : NULL;
}
