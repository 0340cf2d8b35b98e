/* A set of numbers: see idset.h.
 *
 * All members are `rest` more than a multiple of `step`; member number k of that progression is rest + k * step, and k is
 * its ordinal. The ordinals lie in pages of 4096, sorted by number; a page has its count, and bits unless it is full.
 * Empty pages do not exist. A member that does not fit makes the step smaller (the greatest common divisor), and the
 * ordinals are made again: at most 32 times, since each new step divides the last one. */
#include "idset.h"

#include <errno.h>

#include "strbuf.h"

/* idset_parse_part: so many numbers may be named twice beside the size of the range, that a list of a small array may
 * name some twice */
enum { PART_SPARE = 1000 };

enum { PAGE_SHIFT = 12, PAGE_IDS = 1 << PAGE_SHIFT, PAGE_WORDS = PAGE_IDS / 64 };

struct idset_page {
    uint32_t number; /* ordinal >> PAGE_SHIFT */
    uint32_t count;  /* 1 .. PAGE_IDS */
    uint64_t *bits;  /* NULL: full */
};

struct idset {
    struct idset_page *pages;
    size_t n_pages, cap, count;
    uint64_t step; /* 0: the set has no members; NO_STEP: it has one */
    uint32_t rest; /* below step */
};

#define NO_STEP (UINT64_C(1) << 32) /* above every number: only the ordinal 0 exists */

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

/* n_pages counts up, so that what was copied can be freed when memory ends. */
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
    copy->step = s->step;
    copy->rest = s->rest;
    for (; copy->n_pages < s->n_pages; copy->n_pages++) {
        struct idset_page *to = &copy->pages[copy->n_pages];

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

static struct idset_page *page_find(const struct idset *s, uint32_t number)
{
    size_t at = page_from(s, number);

    return at < s->n_pages && s->pages[at].number == number ? &s->pages[at] : NULL;
}

/* The page, made empty (count 0) if it was not there; NULL: no memory. */
static struct idset_page *page_make(struct idset *s, uint32_t number)
{
    size_t at = page_from(s, number);
    uint64_t *bits;

    if (at < s->n_pages && s->pages[at].number == number)
        return &s->pages[at];
    if (s->n_pages == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        struct idset_page *pages = realloc(s->pages, cap * sizeof *pages);

        if (!pages)
            return NULL;
        s->pages = pages;
        s->cap = cap;
    }
    bits = calloc(PAGE_WORDS, sizeof *bits);
    if (!bits)
        return NULL;
    memmove(s->pages + at + 1, s->pages + at, (s->n_pages - at) * sizeof *s->pages);
    s->pages[at] = (struct idset_page){.number = number, .bits = bits};
    s->n_pages++;
    return &s->pages[at];
}

/* After a change: a full page needs no bits, an empty one does not exist. */
static void page_settle(struct idset *s, struct idset_page *p)
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

static bool page_has(const struct idset_page *p, uint32_t ordinal)
{
    return !p->bits || p->bits[ordinal % PAGE_IDS / 64] >> (ordinal % 64) & 1;
}

/* --- ordinals ---------------------------------------------------------------------------------------- */

static bool idset_fits(const struct idset *s, uint32_t id)
{
    return s->step && id % s->step == s->rest;
}

static uint32_t ordinal_of(const struct idset *s, uint32_t id)
{
    return (uint32_t)(id / s->step);
}

static int64_t id_of(const struct idset *s, uint32_t ordinal)
{
    return (int64_t)(s->rest + ordinal * s->step);
}

/* A page that becomes full gives its bits back. */
static int ordinal_add(struct idset *s, uint32_t ordinal)
{
    struct idset_page *p = page_make(s, ordinal >> PAGE_SHIFT);

    if (!p)
        return -1;
    if (page_has(p, ordinal))
        return 0;
    p->bits[ordinal % PAGE_IDS / 64] |= UINT64_C(1) << (ordinal % 64);
    p->count++;
    s->count++;
    page_settle(s, p);
    return 0;
}

/* A whole page at once. */
static int fill_page(struct idset *s, uint32_t number)
{
    struct idset_page *p = page_make(s, number);

    if (!p)
        return -1;
    s->count += PAGE_IDS - p->count;
    p->count = PAGE_IDS;
    page_settle(s, p);
    return 0;
}

/* Whole pages at once, where the range covers them. */
static int ordinals_add(struct idset *s, uint64_t at, uint64_t last, uint64_t step)
{
    while (at <= last) {
        bool whole = step == 1 && at % PAGE_IDS == 0 && last - at >= PAGE_IDS - 1;
        int rc = whole ? fill_page(s, (uint32_t)(at >> PAGE_SHIFT)) : ordinal_add(s, (uint32_t)at);

        if (rc < 0)
            return -1;
        at += whole ? PAGE_IDS : step;
    }
    return 0;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The end of the run of ordinals that begins at the member `at`. */
static uint64_t run_end(const struct idset *s, uint64_t at);

/* The same members with a smaller step, which divides the one of now. Runs stay runs where they were single members. */
static int change_step(struct idset *s, uint64_t step)
{
    struct idset other = {.step = step, .rest = (uint32_t)(s->rest % step)};

    for (int64_t id = idset_next(s, 0); id >= 0;) {
        uint64_t last = run_end(s, ordinal_of(s, (uint32_t)id));

        if (ordinals_add(&other, (uint64_t)id / step, (uint64_t)id_of(s, (uint32_t)last) / step,
                         s->step / step) < 0) {
            idset_clear(&other);
            return -1;
        }
        id = idset_next(s, id_of(s, (uint32_t)last) + 1);
    }
    idset_clear(s);
    *s = other;
    return 0;
}

/* Make the set such that id, id + step ... fit; step NO_STEP: only this one. */
static int make_fit(struct idset *s, uint32_t id, uint64_t step)
{
    uint64_t rest, common;

    if (!s->count) {
        idset_clear(s);
        s->step = step;
        s->rest = (uint32_t)(id % step);
        return 0;
    }
    rest = id > s->rest ? id - s->rest : s->rest - id;
    common = divisor(s->step == NO_STEP ? 0 : s->step, step == NO_STEP ? 0 : step);
    common = divisor(common, rest);
    if (!common) /* the only member, once more */
        common = NO_STEP;
    return common == s->step ? 0 : change_step(s, common);
}

/* A number that is not of the progression is not a member, whatever the bits say. */
bool idset_contains(const struct idset *s, uint32_t id)
{
    const struct idset_page *p = idset_fits(s, id) ? page_find(s, ordinal_of(s, id) >> PAGE_SHIFT) : NULL;

    return p && page_has(p, ordinal_of(s, id));
}

int idset_add(struct idset *s, uint32_t id)
{
    if (!idset_fits(s, id) && make_fit(s, id, NO_STEP) < 0)
        return -1;
    return ordinal_add(s, ordinal_of(s, id));
}

/* A full page has no bits, and needs them now. */
int idset_remove(struct idset *s, uint32_t id)
{
    struct idset_page *p = idset_fits(s, id) ? page_find(s, ordinal_of(s, id) >> PAGE_SHIFT) : NULL;
    uint32_t ordinal;

    if (!p || !page_has(p, ordinal_of(s, id)))
        return 0;
    if (!p->bits) {
        p->bits = malloc(PAGE_WORDS * sizeof *p->bits);
        if (!p->bits)
            return -1;
        memset(p->bits, 0xff, PAGE_WORDS * sizeof *p->bits);
    }
    ordinal = ordinal_of(s, id);
    p->bits[ordinal % PAGE_IDS / 64] &= ~(UINT64_C(1) << (ordinal % 64));
    p->count--;
    s->count--;
    page_settle(s, p);
    return 0;
}

/* The last member of the range may lie before `last`. One of a single number has no step of its own. */
int idset_add_range(struct idset *s, uint32_t first, uint32_t last, uint32_t step)
{
    uint64_t distance = last > first && step <= last - first ? step : NO_STEP;

    if (first > last)
        return 0;
    if (make_fit(s, first, distance) < 0)
        return -1;
    if (distance == NO_STEP)
        return ordinal_add(s, ordinal_of(s, first));
    last = first + (last - first) / step * step;
    return ordinals_add(s, ordinal_of(s, first), ordinal_of(s, last), step / s->step);
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

/* One by one: the same members may be kept with another step. */
static bool members_are_equal(const struct idset *a, const struct idset *b)
{
    int64_t i = idset_next(a, 0), k = idset_next(b, 0);

    while (i >= 0 && i == k) {
        i = idset_next(a, i + 1);
        k = idset_next(b, k + 1);
    }
    return i == k;
}

bool idset_is_equal(const struct idset *a, const struct idset *b)
{
    if (a->count != b->count)
        return false;
    if (a->step != b->step || a->rest != b->rest)
        return members_are_equal(a, b);
    if (a->n_pages != b->n_pages)
        return false;
    for (size_t i = 0; i < a->n_pages; i++) {
        const struct idset_page *p = &a->pages[i], *q = &b->pages[i];

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

/* The first ordinal of the page at `from` (0 .. PAGE_IDS - 1) or behind that is a member (or, `flip` all ones, is none);
 * PAGE_IDS if none. */
static uint32_t page_next(const struct idset_page *p, uint32_t from, uint64_t flip)
{
    uint32_t word = from / 64;
    uint64_t bits;

    if (!p->bits)
        return flip ? PAGE_IDS : from;
    bits = (p->bits[word] ^ flip) & ~UINT64_C(0) << (from % 64);
    while (!bits && ++word < PAGE_WORDS)
        bits = p->bits[word] ^ flip;
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : PAGE_IDS;
}

static uint64_t run_end(const struct idset *s, uint64_t at)
{
    uint32_t number = (uint32_t)(at >> PAGE_SHIFT), from = at % PAGE_IDS;

    for (size_t i = page_from(s, number); i < s->n_pages && s->pages[i].number == number; i++, number++) {
        uint32_t end = page_next(&s->pages[i], from, ~UINT64_C(0));

        if (end < PAGE_IDS)
            return (uint64_t)number * PAGE_IDS + end - 1;
        from = 0;
    }
    return (uint64_t)number * PAGE_IDS - 1;
}

/* The ordinal of the first number at or above `from` that would fit. */
static uint64_t ordinal_from(const struct idset *s, int64_t from)
{
    return from <= (int64_t)s->rest ? 0 : ((uint64_t)from - s->rest + s->step - 1) / s->step;
}

int64_t idset_next(const struct idset *s, int64_t from)
{
    uint64_t start;

    if (from > UINT32_MAX || !s->count)
        return IDSET_NONE;
    start = ordinal_from(s, from);
    if (start > UINT32_MAX)
        return IDSET_NONE;
    for (size_t at = page_from(s, (uint32_t)(start >> PAGE_SHIFT)); at < s->n_pages; at++) {
        const struct idset_page *p = &s->pages[at];
        uint32_t found = page_next(p, p->number == start >> PAGE_SHIFT ? start % PAGE_IDS : 0, 0);

        if (found < PAGE_IDS)
            return id_of(s, p->number * PAGE_IDS + found);
    }
    return IDSET_NONE;
}

/* --- text --- */

/* Decimal digits, bounded while they are read. */
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
static int read_range(const char **p, uint32_t max_id, struct idset_range *r)
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

/* Called with each range of a text. 0, or -1 with an error. */
typedef int take_range_fn(void *arg, struct idset_range r, struct err *e);

/* The whole text, range by range; `take` may refuse one. */
static int parse_ranges(const char *text, uint32_t max_id, take_range_fn *take, void *arg, struct err *e)
{
    const char *p = text;

    while (*p) {
        const char *at = p;
        struct idset_range r;
        int code = read_range(&p, max_id, &r);

        if (!code && ((*p && *p != ',') || (*p == ',' && !p[1])))
            code = EINVAL;
        if (code == ERANGE)
            return err_set(e, ERANGE, "a number in \"%.100s\" is above %lu", at, (unsigned long)max_id);
        if (code)
            return err_set(e, EINVAL, "\"%.100s\" is not a list of ranges like 1-5,7,10-20:2", at);
        if (take(arg, r, e) < 0)
            return -1;
        p += *p == ',';
    }
    return 0;
}

struct parse {
    const char *text;
    struct idset *s;
    struct idset_range in;
    uint64_t named, most; /* numbers named so far: overlapping ranges must not cost without bound either */
};

static int idset_parse_take_cb(void *arg, struct idset_range r, struct err *e)
{
    struct parse *p = arg;

    p->named += (uint64_t)(r.last - r.first) / r.step + 1;
    if (p->named > p->most)
        return err_set(e, ERANGE, "\"%.100s\" names more than %llu numbers", p->text,
                       (unsigned long long)p->most);
    if (idset_add_range(p->s, r.first, r.last, r.step) < 0)
        return err_set(e, ENOMEM, "no memory for a set of numbers");
    return 0;
}

static int idset_parse_take_part_cb(void *arg, struct idset_range r, struct err *e)
{
    struct parse *p = arg;

    return idset_range_meet(&r, &p->in) ? idset_parse_take_cb(p, r, e) : 0;
}

static int idset_parse_skip_cb(void *arg, struct idset_range r, struct err *e)
{
    return 0;
}

static int parse_set(const char *text, uint32_t max_id, take_range_fn *take, struct parse *p,
                     struct idset **out, struct err *e)
{
    p->text = text;
    p->s = idset_create();
    if (!p->s)
        return err_set(e, ENOMEM, "no memory for a set of numbers");
    if (parse_ranges(text, max_id, take, p, e) < 0) {
        idset_destroy(p->s);
        return -1;
    }
    *out = p->s;
    return 0;
}

int idset_parse(const char *text, uint32_t max_id, size_t max_count, struct idset **out, struct err *e)
{
    struct parse p = {.most = max_count};

    return parse_set(text, max_id, idset_parse_take_cb, &p, out, e);
}

int idset_parse_part(const char *text, uint32_t max_id, struct idset_range in, struct idset **out,
                     struct err *e)
{
    struct parse p = {.in = in, .most = 2 * ((uint64_t)(in.last - in.first) / in.step + 1) + PART_SPARE};

    return parse_set(text, max_id, idset_parse_take_part_cb, &p, out, e);
}

int idset_check(const char *text, uint32_t max_id, struct err *e)
{
    return parse_ranges(text, max_id, idset_parse_skip_cb, NULL, e);
}

/* x with a * x = 1 modulo m; a and m have no common divisor. */
static int64_t inverse(int64_t a, int64_t m)
{
    int64_t r = m, next_r = a % m, t = 0, next_t = 1, q, keep;

    while (next_r) {
        q = r / next_r;
        keep = r - q * next_r;
        r = next_r;
        next_r = keep;
        keep = t - q * next_t;
        t = next_t;
        next_t = keep;
    }
    return t < 0 ? t + m : t;
}

bool idset_range_meet(struct idset_range *r, const struct idset_range *with)
{
    int64_t low = r->first > with->first ? r->first : with->first;
    int64_t high = r->last < with->last ? r->last : with->last;
    int64_t common = (int64_t)divisor(r->step, with->step), apart = (int64_t)with->first - r->first;
    int64_t m = with->step / common, both = r->step * m, k, x;

    if (low > high || apart % common)
        return false;
    /* r->first + k * r->step is the first number that lies in both progressions: k below m */
    k = (apart / common % m + m) % m * inverse(r->step / common, m) % m;
    x = r->first + k * r->step;
    if (x < low)
        x += (low - x + both - 1) / both * both;
    if (x > high)
        return false;
    *r = (struct idset_range){(uint32_t)x, (uint32_t)(x + (high - x) / both * both),
                              x + both > high ? 1 : (uint32_t)both};
    return true;
}

/* The range that begins at member `first`: a run, or at least three at one distance, or the member alone. */
static struct idset_range range_at(const struct idset *s, uint32_t first)
{
    struct idset_range r = {first, first, 1};
    int64_t next = idset_next(s, (int64_t)first + 1);
    size_t members = 1;

    if (next < 0)
        return r;
    r.step = (uint32_t)(next - first);
    if (r.step == s->step) { /* ordinals without a gap: by words, not one by one */
        r.last = (uint32_t)id_of(s, (uint32_t)run_end(s, ordinal_of(s, first)));
        members = (r.last - first) / r.step + 1;
        next = NO_STEP;
    }
    while (next - r.last == r.step) {
        r.last = (uint32_t)next;
        members++;
        next = idset_next(s, next + 1);
    }
    return r.step > 1 && members < 3 ? (struct idset_range){first, first, 1} : r;
}

int idset_format(const struct idset *s, struct strbuf *out)
{
    const char *sep = "";

    for (int64_t id = idset_next(s, 0); id >= 0; sep = ",") {
        struct idset_range r = range_at(s, (uint32_t)id);

        strbuf_addf(out, "%s%lu", sep, (unsigned long)r.first);
        if (r.last > r.first)
            strbuf_addf(out, "-%lu", (unsigned long)r.last);
        if (r.step > 1)
            strbuf_addf(out, ":%lu", (unsigned long)r.step);
        id = idset_next(s, (int64_t)r.last + 1);
    }
    return strbuf_ok(out) ? 0 : -1;
}
