/* A set of numbers: see idset.h.
 *
 * Pages of 4096 ids, sorted by number; a page has its count, and bits unless it is full. Empty pages
 * are not there. */
#include "idset.h"

#include <errno.h>

#include "strbuf.h"

enum { PAGE_SHIFT = 12, PAGE_IDS = 1 << PAGE_SHIFT, PAGE_WORDS = PAGE_IDS / 64 };

struct page {
    uint32_t number; /* id >> PAGE_SHIFT */
    uint32_t count;  /* 1 .. PAGE_IDS */
    uint64_t *bits;  /* NULL: full */
};

struct idset {
    struct page *pages;
    size_t n_pages, cap, count;
};

struct idset *idset_create(void)
{
    return calloc(1, sizeof(struct idset));
}

void idset_clear(struct idset *s)
{
    for (size_t i = 0; i < s->n_pages; i++)
        free(s->pages[i].bits);
    free(s->pages);
    *s = (struct idset){0};
}

void idset_destroy(struct idset *s)
{
    if (!s)
        return;
    idset_clear(s);
    free(s);
}

static uint64_t *bits_dup(const uint64_t *from)
{
    uint64_t *bits = malloc(PAGE_WORDS * sizeof *bits);

    if (bits)
        memcpy(bits, from, PAGE_WORDS * sizeof *bits);
    return bits;
}

struct idset *idset_dup(const struct idset *s)
{
    struct idset *copy = idset_create();

    if (!copy || !s->n_pages)
        return copy;
    copy->pages = malloc(s->n_pages * sizeof *copy->pages);
    if (!copy->pages) {
        free(copy);
        return NULL;
    }
    copy->cap = s->n_pages;
    copy->count = s->count;
    for (; copy->n_pages < s->n_pages; copy->n_pages++) {
        struct page *to = &copy->pages[copy->n_pages];

        *to = s->pages[copy->n_pages];
        if (to->bits && !(to->bits = bits_dup(to->bits))) {
            idset_destroy(copy);
            return NULL;
        }
    }
    return copy;
}

/* The first page whose number is >= `number`; n_pages if none. */
static size_t page_from(const struct idset *s, uint32_t number)
{
    size_t low = 0, high = s->n_pages;

    if (high && s->pages[high - 1].number < number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->pages[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct page *page_find(const struct idset *s, uint32_t number)
{
    size_t at = page_from(s, number);

    return at < s->n_pages && s->pages[at].number == number ? &s->pages[at] : NULL;
}

/* The page, made empty (count 0) if it was not there; NULL: no memory. */
static struct page *page_make(struct idset *s, uint32_t number)
{
    size_t at = page_from(s, number);
    uint64_t *bits;

    if (at < s->n_pages && s->pages[at].number == number)
        return &s->pages[at];
    if (s->n_pages == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        struct page *pages = realloc(s->pages, cap * sizeof *pages);

        if (!pages)
            return NULL;
        s->pages = pages;
        s->cap = cap;
    }
    bits = calloc(PAGE_WORDS, sizeof *bits);
    if (!bits)
        return NULL;
    memmove(s->pages + at + 1, s->pages + at, (s->n_pages - at) * sizeof *s->pages);
    s->pages[at] = (struct page){.number = number, .bits = bits};
    s->n_pages++;
    return &s->pages[at];
}

/* After a change: a full page needs no bits, an empty one does not exist. */
static void page_settle(struct idset *s, struct page *p)
{
    if (p->count && p->count < PAGE_IDS)
        return;
    free(p->bits);
    p->bits = NULL;
    if (p->count)
        return;
    s->n_pages--;
    memmove(p, p + 1, (size_t)(s->pages + s->n_pages - p) * sizeof *p);
}

static bool page_has(const struct page *p, uint32_t id)
{
    return !p->bits || p->bits[id % PAGE_IDS / 64] >> (id % 64) & 1;
}

bool idset_contains(const struct idset *s, uint32_t id)
{
    const struct page *p = page_find(s, id >> PAGE_SHIFT);

    return p && page_has(p, id);
}

int idset_add(struct idset *s, uint32_t id)
{
    struct page *p = page_make(s, id >> PAGE_SHIFT);

    if (!p)
        return -1;
    if (page_has(p, id))
        return 0;
    p->bits[id % PAGE_IDS / 64] |= UINT64_C(1) << (id % 64);
    p->count++;
    s->count++;
    page_settle(s, p);
    return 0;
}

int idset_remove(struct idset *s, uint32_t id)
{
    struct page *p = page_find(s, id >> PAGE_SHIFT);

    if (!p || !page_has(p, id))
        return 0;
    if (!p->bits) {
        p->bits = malloc(PAGE_WORDS * sizeof *p->bits);
        if (!p->bits)
            return -1;
        memset(p->bits, 0xff, PAGE_WORDS * sizeof *p->bits);
    }
    p->bits[id % PAGE_IDS / 64] &= ~(UINT64_C(1) << (id % 64));
    p->count--;
    s->count--;
    page_settle(s, p);
    return 0;
}

/* A whole page at once. */
static int fill_page(struct idset *s, uint32_t number)
{
    struct page *p = page_make(s, number);

    if (!p)
        return -1;
    s->count += PAGE_IDS - p->count;
    p->count = PAGE_IDS;
    page_settle(s, p);
    return 0;
}

int idset_add_range(struct idset *s, uint32_t first, uint32_t last, uint32_t step)
{
    uint64_t id = first;

    while (id <= last) {
        bool whole = step == 1 && id % PAGE_IDS == 0 && last - id >= PAGE_IDS - 1;
        int rc = whole ? fill_page(s, (uint32_t)(id >> PAGE_SHIFT)) : idset_add(s, (uint32_t)id);

        if (rc < 0)
            return -1;
        id += whole ? PAGE_IDS : step;
    }
    return 0;
}

int idset_unite(struct idset *s, const struct idset *other)
{
    for (int64_t id = idset_next(other, 0); id >= 0; id = idset_next(other, id + 1))
        if (idset_add(s, (uint32_t)id) < 0)
            return -1;
    return 0;
}

int idset_subtract(struct idset *s, const struct idset *other)
{
    for (int64_t id = idset_next(other, 0); id >= 0; id = idset_next(other, id + 1))
        if (idset_remove(s, (uint32_t)id) < 0)
            return -1;
    return 0;
}

bool idset_is_equal(const struct idset *a, const struct idset *b)
{
    if (a->count != b->count || a->n_pages != b->n_pages)
        return false;
    for (size_t i = 0; i < a->n_pages; i++) {
        const struct page *p = &a->pages[i], *q = &b->pages[i];

        if (p->number != q->number || p->count != q->count)
            return false;
        if (p->bits && memcmp(p->bits, q->bits, PAGE_WORDS * sizeof *p->bits))
            return false;
    }
    return true;
}

size_t idset_count(const struct idset *s)
{
    return s->count;
}

/* The first member of the page at `from` (0 .. PAGE_IDS - 1) or behind; PAGE_IDS if none. */
static uint32_t page_next(const struct page *p, uint32_t from)
{
    uint32_t word = from / 64;
    uint64_t bits;

    if (!p->bits)
        return from;
    bits = p->bits[word] & ~UINT64_C(0) << (from % 64);
    while (!bits && ++word < PAGE_WORDS)
        bits = p->bits[word];
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : PAGE_IDS;
}

int64_t idset_next(const struct idset *s, int64_t from)
{
    uint32_t start = from < 0 ? 0 : (uint32_t)from, within = start % PAGE_IDS;
    size_t at;

    if (from > UINT32_MAX)
        return IDSET_NONE;
    for (at = page_from(s, start >> PAGE_SHIFT); at < s->n_pages; at++) {
        const struct page *p = &s->pages[at];
        uint32_t found = page_next(p, p->number == start >> PAGE_SHIFT ? within : 0);

        if (found < PAGE_IDS)
            return (int64_t)p->number * PAGE_IDS + found;
    }
    return IDSET_NONE;
}

int64_t idset_last(const struct idset *s)
{
    const struct page *p = s->n_pages ? &s->pages[s->n_pages - 1] : NULL;
    uint32_t word = PAGE_WORDS - 1;

    if (!p)
        return IDSET_NONE;
    if (!p->bits)
        return (int64_t)p->number * PAGE_IDS + PAGE_IDS - 1;
    while (!p->bits[word])
        word--;
    return (int64_t)p->number * PAGE_IDS + word * 64 + 63 - __builtin_clzll(p->bits[word]);
}

/* --- text --- */

struct range {
    uint32_t first, last, step;
};

static int read_id(const char **p, uint32_t max, uint32_t *out)
{
    uint64_t n = 0;

    if (**p < '0' || **p > '9')
        return EINVAL;
    for (; **p >= '0' && **p <= '9'; ++*p)
        if ((n = n * 10 + (uint64_t)(**p - '0')) > max)
            return ERANGE;
    *out = (uint32_t)n;
    return 0;
}

/* a, a-b or a-b:step; 0 or an errno value. */
static int read_range(const char **p, uint32_t max_id, struct range *r)
{
    int code = read_id(p, max_id, &r->first);

    r->last = r->first;
    r->step = 1;
    if (code || **p != '-')
        return code;
    ++*p;
    code = read_id(p, max_id, &r->last);
    if (!code && **p == ':') {
        ++*p;
        code = read_id(p, UINT32_MAX, &r->step);
    }
    return code ? code : r->last < r->first || !r->step ? EINVAL : 0;
}

static int parse_into(struct idset *s, const char *text, uint32_t max_id, size_t max_count, struct err *e)
{
    const char *p = text;
    size_t written = 0; /* ids named so far, so that overlapping ranges cost nothing unbounded either */

    while (*p) {
        const char *at = p;
        struct range r;
        int code = read_range(&p, max_id, &r);

        if (!code && ((*p && *p != ',') || (*p == ',' && !p[1])))
            code = EINVAL;
        if (code == ERANGE)
            return err_set(e, ERANGE, "a number in \"%.100s\" is above %lu", at, (unsigned long)max_id);
        if (code)
            return err_set(e, EINVAL, "\"%.100s\" is no list of ranges like 1-5,7,10-20:2", at);
        written += (r.last - r.first) / r.step + 1;
        if (written > max_count)
            return err_set(e, ERANGE, "\"%.100s\" names more than %zu numbers", text, max_count);
        if (idset_add_range(s, r.first, r.last, r.step) < 0)
            return err_set(e, ENOMEM, "no memory for a set of numbers");
        p += *p == ',';
    }
    return 0;
}

int idset_parse(const char *text, uint32_t max_id, size_t max_count, struct idset **out, struct err *e)
{
    struct idset *s = idset_create();

    if (!s)
        return err_set(e, ENOMEM, "no memory for a set of numbers");
    if (parse_into(s, text, max_id, max_count, e) < 0) {
        idset_destroy(s);
        return -1;
    }
    *out = s;
    return 0;
}

/* The range that begins at member `first`: a run, or at least three at one distance, or the member alone. */
static struct range range_at(const struct idset *s, uint32_t first)
{
    struct range r = {first, first, 1};
    int64_t next = idset_next(s, (int64_t)first + 1);
    size_t members = 1;

    if (next < 0)
        return r;
    r.step = (uint32_t)(next - first);
    while (next - r.last == r.step) {
        r.last = (uint32_t)next;
        members++;
        next = idset_next(s, next + 1);
    }
    return r.step > 1 && members < 3 ? (struct range){first, first, 1} : r;
}

int idset_format(const struct idset *s, struct strbuf *out)
{
    const char *sep = "";

    for (int64_t id = idset_next(s, 0); id >= 0; sep = ",") {
        struct range r = range_at(s, (uint32_t)id);

        strbuf_addf(out, "%s%lu", sep, (unsigned long)r.first);
        if (r.last > r.first)
            strbuf_addf(out, "-%lu", (unsigned long)r.last);
        if (r.step > 1)
            strbuf_addf(out, ":%lu", (unsigned long)r.step);
        id = idset_next(s, (int64_t)r.last + 1);
    }
    return strbuf_ok(out) ? 0 : -1;
}
