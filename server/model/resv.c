/* The table of reservations. See resv.h.
 *
 * A reservation has no fields of its own in the store: all is attributes, written again as a whole by each resvs_touch(), since it changes
 * a few times in its life. The kind of a reservation is the first letter of its name. */
#include "resv.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

struct resvs {
    struct change *change;
    struct resv *table;  /* in order of creation */
    struct resv *by_job; /* hh_job */
};

static void resv_destroy(struct object *o)
{
    resc_free(((struct resv *)o)->charged);
    free(((struct resv *)o)->refused_by);
    free(((struct resv *)o)->of_job);
    object_fini(o);
    free(o);
}

const struct object_kind resv_kind = {
    .kind = CHANGE_RESV, .name = "resv", .attrs = OF_RESV, .destroy = resv_destroy};

struct resvs *resvs_create(struct change *c)
{
    struct resvs *rs = calloc(1, sizeof *rs);

    if (rs)
        rs->change = c;
    return rs;
}

void resvs_destroy(struct resvs *rs)
{
    if (!rs)
        return;
    while (rs->table)
        resvs_remove(rs, rs->table);
    free(rs);
}

int resvs_add(struct resvs *rs, const char *name, struct resv **out, struct err *e)
{
    struct resv *r;

    if (resvs_find(rs, name))
        return err_set(e, PBSE_RESVEXIST, "Reservation with requested ID already exists: %s", name);
    r = calloc(1, sizeof *r);
    if (!r || object_init(&r->obj, &resv_kind, name) < 0 || attr_list_set_defaults(&r->obj.attrs, e) < 0) {
        free(r);
        return err_set(e, PBSE_SYSTEM, "no memory for reservation %s", name);
    }
    HASH_ADD_KEYPTR(hh, rs->table, r->obj.name, strlen(r->obj.name), r);
    resvs_touch(rs, r);
    *out = r;
    return 0;
}

void resvs_add_of_job(struct resvs *rs, struct resv *r, const char *job)
{
    struct resv *first = resvs_find_of_job(rs, job);

    r->of_job = strdup(job);
    if (!r->of_job)
        abort();
    if (!first) {
        HASH_ADD_KEYPTR(hh_job, rs->by_job, r->of_job, strlen(r->of_job), r);
        return;
    }
    while (first->next_of_job)
        first = first->next_of_job;
    first->next_of_job = r;
}

struct resv *resvs_find_of_job(const struct resvs *rs, const char *job)
{
    struct resv *r;

    HASH_FIND(hh_job, rs->by_job, job, strlen(job), r);
    return r;
}

static void resvs_remove_of_job(struct resvs *rs, struct resv *r)
{
    struct resv *x = r->of_job ? resvs_find_of_job(rs, r->of_job) : NULL, *next = r->next_of_job;

    if (x == r) {
        HASH_DELETE(hh_job, rs->by_job, r);
        if (next)
            HASH_ADD_KEYPTR(hh_job, rs->by_job, next->of_job, strlen(next->of_job), next);
    } else if (x) {
        while (x->next_of_job != r)
            x = x->next_of_job;
        x->next_of_job = next;
    }
    r->next_of_job = NULL;
}

void resvs_remove(struct resvs *rs, struct resv *r)
{
    change_gone(rs->change, &r->obj.change, r->obj.name);
    HASH_DEL(rs->table, r);
    resvs_remove_of_job(rs, r);
    r->obj.gone = true;
    object_unref(&r->obj);
}

struct resv *resvs_find(const struct resvs *rs, const char *name)
{
    struct resv *r;

    HASH_FIND_STR(rs->table, name, r);
    return r;
}

struct resv *resvs_first(const struct resvs *rs)
{
    return rs->table;
}

struct resv *resvs_next(const struct resv *r)
{
    return r->hh.next;
}

void resvs_touch(struct resvs *rs, struct resv *r)
{
    if (!r->obj.gone)
        change_touch(rs->change, &r->obj.change, PART_ALL);
}

int64_t resv_number(const struct resv *r, int index)
{
    return attr_list_number(&r->obj.attrs, index, 0);
}

void resv_set_number(struct resv *r, int index, int64_t n)
{
    if (attr_list_set_number(&r->obj.attrs, index, n, NULL) < 0)
        abort();
}

void resv_set_text(struct resv *r, int index, const char *text)
{
    if (attr_list_set_text(&r->obj.attrs, index, text, NULL) < 0)
        abort();
}

enum resv_states resv_state(const struct resv *r)
{
    return (enum resv_states)resv_number(r, RESV_ATTR_reserve_state);
}

enum resv_states resv_substate(const struct resv *r)
{
    return (enum resv_states)resv_number(r, RESV_ATTR_reserve_substate);
}

const char *resv_place(const struct resv *r)
{
    return value_text(attr_list_amount(&r->obj.attrs, RESV_ATTR_Resource_List, RESC_place));
}

bool resv_is_maintenance(const struct resv *r)
{
    return r->obj.name[0] == PBS_MNTNC_RESV_ID_CHAR;
}

bool resv_is_standing(const struct resv *r)
{
    return r->obj.name[0] == PBS_STDNG_RESV_ID_CHAR;
}
