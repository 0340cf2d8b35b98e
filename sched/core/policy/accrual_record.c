/* A hash by job. See accrual_record.h. An entry is the first part of its row, so that callers see no
 * uthash. */
#include "accrual_record.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "intern.h"
#include "mem.h"

struct accrual_record_row {
    struct accrual_entry job; /* first, so that one is the other */
    UT_hash_handle hh;
};

struct accrual_record {
    struct accrual_record_row *all;
};

struct accrual_record *accrual_record_create(void)
{
    return mem_new(1, sizeof(struct accrual_record));
}

void accrual_record_drop(struct accrual_record *c, struct accrual_entry *x)
{
    struct accrual_record_row *r = (struct accrual_record_row *)x;

    HASH_DEL(c->all, r);
    intern_unref(r->job.id);
    free(r);
}

void accrual_record_clear(struct accrual_record *c)
{
    while (c->all)
        accrual_record_drop(c, &c->all->job);
}

void accrual_record_destroy(struct accrual_record *c)
{
    if (!c)
        return;
    accrual_record_clear(c);
    free(c);
}

struct accrual_entry *accrual_record_find(const struct accrual_record *c, const char *id)
{
    struct accrual_record_row *r;

    HASH_FIND_STR(c->all, id, r);
    return r ? &r->job : NULL;
}

struct accrual_entry *accrual_record_add(struct accrual_record *c, const char *id)
{
    struct accrual_entry *x = accrual_record_find(c, id);
    struct accrual_record_row *r;

    if (x)
        return x;
    r = mem_new(1, sizeof *r);
    r->job.id = mem_intern(id);
    HASH_ADD_KEYPTR(hh, c->all, r->job.id, strlen(r->job.id), r);
    return &r->job;
}

struct accrual_entry *accrual_record_next(const struct accrual_record *c, const struct accrual_entry *after)
{
    struct accrual_record_row *r = after ? ((const struct accrual_record_row *)after)->hh.next : c->all;

    return r ? &r->job : NULL;
}
