/* Sets of indices. See array_map.h.
 *
 * Three sets of indices are kept: queued, live, failed; an index in none of them has ended. A fourth holds the
 * numbers of the pages whose ends the store does not have yet. A set costs nothing for whole and empty pages,
 * and most are: subjobs run from the lowest index up. Nothing here knows of jobs.
 *
 * queued/arrays.c moves indices; the store's batch takes dirty pages (array_map_take_dirty) with what else the turn has changed, so the end
 * of a subjob and the page that says it are durable together. A restart reads pages first and the rows of live subjobs after
 * them: what has neither is queued. */
#include "array_map.h"

#include <stdlib.h>

#include "jobid.h"
#include "pbs_error.h"
#include "strbuf.h"

struct array_map {
    int64_t first, last, step;
    size_t size;
    struct idset *queued, *live, *failed, *dirty;
};

/* --- making ----------------------------------------------------------------------------------------- */

/* A number of at most ten digits; returns what follows it, NULL: there is none, or it is too large. */
static const char *read_number(const char *s, int64_t *out)
{
    char *end;

    if (*s < '0' || *s > '9' || strspn(s, "0123456789") > 10)
        return NULL;
    *out = strtoll(s, &end, 10);
    return *out > JOBID_MAX_INDEX ? NULL : end;
}

static bool read_range(struct array_map *m, const char *text)
{
    const char *s = read_number(text, &m->first);

    m->step = 1;
    if (!s || *s++ != '-')
        return false;
    s = read_number(s, &m->last);
    if (s && *s == ':')
        s = read_number(s + 1, &m->step);
    return s && !*s && m->first < m->last && m->step >= 1;
}

static int array_map_fill(struct array_map *m, struct err *e)
{
    m->queued = idset_create();
    m->live = idset_create();
    m->failed = idset_create();
    m->dirty = idset_create();
    if (m->queued && m->live && m->failed && m->dirty &&
        idset_add_range(m->queued, (uint32_t)m->first, (uint32_t)m->last, (uint32_t)m->step) == 0)
        return 0;
    return err_set(e, PBSE_SYSTEM, "no memory for an array of %zu subjobs", m->size);
}

struct array_map *array_map_create(const char *range, size_t max_size, struct err *e)
{
    struct array_map *m = calloc(1, sizeof *m);

    if (!m) {
        err_set(e, PBSE_SYSTEM, "no memory for an array");
        return NULL;
    }
    if (!read_range(m, range)) {
        err_set(e, PBSE_BADATVAL,
                "\"%.100s\" is not a range of indices X-Y or X-Y:Z with 0 <= X < Y and Z >= 1", range);
        array_map_destroy(m);
        return NULL;
    }
    m->size = (size_t)((m->last - m->first) / m->step) + 1;
    m->last = m->first + (int64_t)(m->size - 1) * m->step;
    if (m->size > max_size)
        err_set(e, PBSE_MaxArraySize,
                "Array job exceeds server or queue size limit: %zu subjobs, %zu allowed", m->size, max_size);
    else if (array_map_fill(m, e) == 0)
        return m;
    array_map_destroy(m);
    return NULL;
}

void array_map_destroy(struct array_map *m)
{
    if (!m)
        return;
    idset_destroy(m->queued);
    idset_destroy(m->live);
    idset_destroy(m->failed);
    idset_destroy(m->dirty);
    free(m);
}

/* --- conditions ------------------------------------------------------------------------------------- */

static bool array_map_has(const struct array_map *m, int64_t index)
{
    return index >= m->first && index <= m->last && (index - m->first) % m->step == 0;
}

enum array_index array_map_get(const struct array_map *m, int64_t index)
{
    if (!array_map_has(m, index))
        return ARRAY_NO_INDEX;
    if (idset_contains(m->queued, (uint32_t)index))
        return ARRAY_QUEUED;
    if (idset_contains(m->live, (uint32_t)index))
        return ARRAY_LIVE;
    return idset_contains(m->failed, (uint32_t)index) ? ARRAY_FAILED : ARRAY_ENDED;
}

static int mark(struct array_map *m, int64_t index)
{
    return idset_add(m->dirty, (uint32_t)(index / ARRAY_PAGE));
}

/* Out of one set, into another; both as before when there is no memory. */
static int array_map_move(struct idset *from, struct idset *to, int64_t index)
{
    if (idset_add(to, (uint32_t)index) < 0)
        return -1;
    if (idset_remove(from, (uint32_t)index) == 0)
        return 0;
    (void)idset_remove(to, (uint32_t)index);
    return -1;
}

int array_map_start(struct array_map *m, int64_t index)
{
    return array_map_move(m->queued, m->live, index);
}

int array_map_back(struct array_map *m, int64_t index)
{
    return array_map_move(m->live, m->queued, index);
}

int array_map_end(struct array_map *m, int64_t index, bool failed)
{
    struct idset *from = idset_contains(m->live, (uint32_t)index) ? m->live : m->queued;

    if (mark(m, index) < 0)
        return -1;
    return failed ? array_map_move(from, m->failed, index) : idset_remove(from, (uint32_t)index);
}

/* Page by page: a million at once must not cost a million steps. */
static int64_t end_all_queued(struct array_map *m)
{
    int64_t n = (int64_t)idset_count(m->queued);

    for (int64_t i = idset_next(m->queued, 0); i >= 0;
         i = idset_next(m->queued, (i / ARRAY_PAGE + 1) * ARRAY_PAGE))
        if (mark(m, i) < 0)
            return -1;
    idset_clear(m->queued);
    return n;
}

int64_t array_map_end_queued(struct array_map *m, const struct idset *these)
{
    int64_t n = 0, i = idset_next(m->queued, 0);

    if (!these)
        return end_all_queued(m);
    while (i >= 0) {
        int64_t wanted = idset_next(these, i);

        if (wanted == i && array_map_end(m, i, false) < 0)
            return -1;
        n += wanted == i;
        i = wanted < 0 ? -1 : idset_next(m->queued, wanted > i ? wanted : i + 1);
    }
    return n;
}

int array_map_keep(struct array_map *m, const char *ranges, struct err *e)
{
    struct idset *kept = NULL, *others = idset_dup(m->queued);
    int rc = -1;

    if (!others || idset_parse(ranges, (uint32_t)m->last, m->size, &kept, NULL) < 0 || idset_count(kept) == 0)
        err_set(e, others ? PBSE_BADATVAL : PBSE_SYSTEM, "\"%s\" are not indices of the array", ranges);
    else if (idset_subtract(others, kept) < 0)
        err_set(e, PBSE_SYSTEM, "no memory for an array");
    else if (idset_count(others) + idset_count(kept) != m->size)
        err_set(e, PBSE_BADATVAL, "\"%s\" are not indices of the array", ranges);
    else if (array_map_end_queued(m, others) < 0)
        err_set(e, PBSE_SYSTEM, "no memory for an array");
    else
        rc = 0;
    idset_destroy(kept);
    idset_destroy(others);
    return rc;
}

static bool have_common(const struct idset *a, const struct idset *b)
{
    int64_t i = idset_next(a, 0), k = i < 0 ? i : idset_next(b, i);

    while (i >= 0 && k >= 0 && i != k) {
        i = idset_next(a, k);
        k = i < 0 ? i : idset_next(b, i);
    }
    return i >= 0 && i == k;
}

bool array_map_has_open(const struct array_map *m, const struct idset *these)
{
    return have_common(m->queued, these) || have_common(m->live, these);
}

struct idset_range array_map_range(const struct array_map *m)
{
    return (struct idset_range){(uint32_t)m->first, (uint32_t)m->last, (uint32_t)m->step};
}

/* --- walking and counting --------------------------------------------------------------------------- */

int64_t array_map_next(const struct array_map *m, int64_t from)
{
    if (from <= m->first)
        return m->first;
    from = m->first + (from - m->first + m->step - 1) / m->step * m->step;
    return from <= m->last ? from : ARRAY_NONE;
}

int64_t array_map_next_other(const struct array_map *m, int64_t from)
{
    int64_t i = array_map_next(m, from);

    while (i != ARRAY_NONE && idset_contains(m->queued, (uint32_t)i))
        i = array_map_next(m, i + 1);
    return i;
}

size_t array_map_size(const struct array_map *m)
{
    return m->size;
}

size_t array_map_count(const struct array_map *m, enum array_index what)
{
    switch (what) {
    case ARRAY_QUEUED:
        return idset_count(m->queued);
    case ARRAY_LIVE:
        return idset_count(m->live);
    case ARRAY_FAILED:
        return idset_count(m->failed);
    case ARRAY_ENDED:
        return m->size - idset_count(m->queued) - idset_count(m->live) - idset_count(m->failed);
    case ARRAY_NO_INDEX:
        break;
    }
    return 0;
}

bool array_map_is_over(const struct array_map *m)
{
    return idset_count(m->queued) == 0 && idset_count(m->live) == 0;
}

int array_map_format_queued(const struct array_map *m, const struct idset *more, struct strbuf *out)
{
    struct idset *both;
    int rc;

    if (idset_count(m->queued) == 0 && (!more || idset_count(more) == 0))
        return strbuf_add(out, "-");
    if (!more || idset_count(more) == 0)
        return idset_format(m->queued, out);
    both = idset_dup(m->queued);
    rc = both && idset_unite(both, more) == 0 ? idset_format(both, out) : -1;
    idset_destroy(both);
    return rc;
}

/* --- the store -------------------------------------------------------------------------------------- */

bool array_map_is_dirty(const struct array_map *m)
{
    return idset_count(m->dirty) > 0;
}

int64_t array_map_take_dirty(struct array_map *m)
{
    int64_t page = idset_next(m->dirty, 0);

    if (page < 0)
        return ARRAY_NONE;
    return idset_remove(m->dirty, (uint32_t)page) == 0 ? page : ARRAY_NONE;
}

static int array_map_add_part(const struct idset *s, int64_t page, struct idset *to)
{
    int64_t end = (page + 1) * ARRAY_PAGE;
    int rc = 0;

    for (int64_t i = idset_next(s, page * ARRAY_PAGE); rc == 0 && i >= 0 && i < end; i = idset_next(s, i + 1))
        rc = idset_add(to, (uint32_t)i);
    return rc;
}

/* The members of both sets that lie in this page. */
static int format_part(const struct idset *a, const struct idset *b, int64_t page, struct strbuf *out)
{
    struct idset *part = idset_create();
    int rc = part && array_map_add_part(a, page, part) == 0 && (!b || array_map_add_part(b, page, part) == 0)
                 ? 0
                 : -1;

    if (rc == 0)
        rc = idset_format(part, out);
    idset_destroy(part);
    return rc;
}

int array_map_format_page(const struct array_map *m, int64_t page, struct strbuf *remaining,
                          struct strbuf *failed)
{
    return format_part(m->queued, m->live, page, remaining) < 0 ? -1
                                                                : format_part(m->failed, NULL, page, failed);
}

/* Whatever the text names and the array has not is left out: a row cannot add subjobs. */
static int read_part(const struct array_map *m, struct idset *to, const char *text, struct err *e)
{
    struct idset *part;
    int rc = 0;

    if (idset_parse(text, JOBID_MAX_INDEX, ARRAY_PAGE, &part, e) < 0)
        return -1;
    for (int64_t i = idset_next(part, 0); rc == 0 && i >= 0; i = idset_next(part, i + 1))
        if (array_map_has(m, i))
            rc = idset_add(to, (uint32_t)i);
    idset_destroy(part);
    return rc < 0 ? err_set(e, PBSE_SYSTEM, "no memory for the indices %.100s", text) : 0;
}

int array_map_read_page(struct array_map *m, int64_t page, const char *remaining, const char *failed,
                        struct err *e)
{
    int64_t end = (page + 1) * ARRAY_PAGE, next;

    for (int64_t i = idset_next(m->queued, page * ARRAY_PAGE); i >= 0 && i < end; i = next) {
        if (idset_remove(m->queued, (uint32_t)i) < 0)
            return err_set(e, PBSE_SYSTEM, "no memory for an array");
        next = idset_next(m->queued, i + 1);
    }
    if (read_part(m, m->queued, remaining, e) == 0 && read_part(m, m->failed, failed, e) == 0)
        return 0;
    return err_prefix(e, "page %lld of the array", (long long)page);
}

int array_map_read_live(struct array_map *m, int64_t index)
{
    if (!array_map_has(m, index) || idset_add(m->live, (uint32_t)index) < 0)
        return -1;
    return idset_remove(m->queued, (uint32_t)index);
}
