/* Shares. See fairshare.h.
 *
 * `used` of a node is its usage less the 1 that each entity begins with; a group's is the sum of its children's, kept so
 * by every change of a leaf going up the path. So no order of changes can bring them apart, and decay, which is the
 * one change of all, makes the sums again from the leaves.
 *
 * Children hang on their parent in a list. A new tree is checked in rows first; only a whole one is planted: every
 * node is taken off its parent, and hung where the rows say, or below unknown. */
#include "fairshare.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "intern.h"
#include "mem.h"
#include "units.h"
#include "words.h"

enum { ROOT_NUMBER, UNKNOWN_NUMBER }; /* PBS's numbers of the two entities that are always there */

struct share {
    const char *name; /* interned */
    int number, depth;
    int64_t shares, sum; /* sum: of its children's shares */
    double fraction, used, expected, unsaved, saving;
    struct share *group, *child, *last, *next; /* first and last child; sibling */
    UT_hash_handle hh;
};

struct fairshare {
    struct share *all, *root, *unknown;
    bool is_expected; /* the `expected` of some entity is not 0 */
};

/* In the table, and on no parent yet. */
static struct share *fairshare_make(struct fairshare *f, const char *name, int number)
{
    struct share *s = mem_new(1, sizeof *s);

    s->name = mem_intern(name);
    s->number = number;
    HASH_ADD_KEYPTR(hh, f->all, s->name, strlen(s->name), s);
    return s;
}

/* As the last child. Fractions are wrong until share_out. */
static void hang(struct share *s, struct share *group, int64_t shares)
{
    s->group = group;
    s->shares = shares;
    s->depth = group->depth + 1;
    if (group->last)
        group->last->next = s;
    else
        group->child = s;
    group->last = s;
    group->sum += shares;
}

/* Each child has its part of what its parent has, down to the leaves. */
static void share_out(struct share *s)
{
    for (struct share *c = s->child; c; c = c->next) {
        c->fraction = s->sum ? s->fraction * (double)c->shares / (double)s->sum : 0;
        share_out(c);
    }
}

struct fairshare *fairshare_create(void)
{
    struct fairshare *f = mem_new(1, sizeof *f);

    f->root = fairshare_make(f, "TREEROOT", ROOT_NUMBER);
    f->root->fraction = 1;
    f->unknown = fairshare_make(f, "unknown", UNKNOWN_NUMBER);
    hang(f->unknown, f->root, 0);
    return f;
}

void fairshare_destroy(struct fairshare *f)
{
    if (!f)
        return;
    for (struct share *s = f->all, *next; s; s = next) {
        next = s->hh.next;
        HASH_DEL(f->all, s);
        intern_unref(s->name);
        free(s);
    }
    free(f);
}

struct share *fairshare_find(const struct fairshare *f, const char *name)
{
    struct share *s;

    HASH_FIND_STR(f->all, strcmp(name, "root") == 0 ? "TREEROOT" : name, s);
    return s;
}

/* Fractions below unknown are the only ones that a new leaf changes. */
struct share *fairshare_entity(struct fairshare *f, const char *name)
{
    struct share *s = fairshare_find(f, name);

    if (s)
        return s;
    s = fairshare_make(f, name, FAIRSHARE_NO_NUMBER);
    hang(s, f->unknown, 1);
    share_out(f->unknown);
    return s;
}

struct share *fairshare_next(const struct fairshare *f, const struct share *after)
{
    if (!after)
        return f->root;
    if (after->child)
        return after->child;
    while (after && !after->next)
        after = after->group;
    return after ? after->next : NULL;
}

/* --- resource_group ---------------------------------------------------------------------------------- */

struct fairshare_row {
    char *name, *group;
    int number;
    int64_t shares;
    int depth, group_row; /* -1: below the root */
};

struct rows {
    struct fairshare_row *a;
    size_t n, cap;
    int line;
};

static void rows_fini(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->a[i].name);
        free(r->a[i].group);
    }
    free(r->a);
}

static int find_row(const struct rows *r, const char *name)
{
    for (size_t i = r->n; i > 0; i--)
        if (strcmp(r->a[i - 1].name, name) == 0)
            return (int)i - 1;
    return -1;
}

static bool is_root(const char *name)
{
    return strcmp(name, "root") == 0 || strcmp(name, "TREEROOT") == 0;
}

/* Words are PBS's. Parents come before their children, so a parent is looked for among the rows so far. */
static int check_row(const struct rows *r, struct fairshare_row *x, struct err *e)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->a[i].number == x->number || strcmp(r->a[i].name, x->name) == 0)
            return err_set(e, EINVAL, "resgroup: error on line %d. entity %s is not unique", r->line,
                           x->name);
    if (is_root(x->name) || strcmp(x->name, "unknown") == 0 || x->number <= UNKNOWN_NUMBER)
        return err_set(e, EINVAL, "resgroup: error on line %d. entity %s is not unique", r->line, x->name);
    x->group_row = find_row(r, x->group);
    if (x->group_row < 0 && !is_root(x->group))
        return err_set(e, EINVAL, "resgroup: error on line %d. Parent ginfo of %s doesnt exist.", r->line,
                       x->name);
    x->depth = x->group_row < 0 ? 1 : r->a[x->group_row].depth + 1;
    if (x->depth >= FAIRSHARE_DEPTH_MAX)
        return err_set(e, EINVAL, "resgroup: error on line %d. %s is deeper than %d", r->line, x->name,
                       FAIRSHARE_DEPTH_MAX);
    return 0;
}

static int take_row(struct rows *r, const struct words *w, struct err *e)
{
    int64_t number, shares;
    struct fairshare_row x;

    if (w->n != 4 || units_parse_int(w->w[1], 0, INT_MAX, &number, NULL) < 0 ||
        units_parse_int(w->w[3], 0, INT_MAX, &shares, NULL) < 0)
        return err_set(e, EINVAL, "resgroup: error on line %d. It should be: NAME NUMBER PARENT SHARES",
                       r->line);
    x = (struct fairshare_row){.name = w->w[0], .group = w->w[2], .number = (int)number, .shares = shares};
    if (check_row(r, &x, e) < 0)
        return -1;
    x.name = mem_text(x.name);
    x.group = mem_text(x.group);
    r->a = mem_room(r->a, r->n, &r->cap, sizeof *r->a);
    r->a[r->n++] = x;
    return 0;
}

static int fairshare_read_rows(struct rows *r, const char *text, struct err *e)
{
    struct words lines, w;
    int rc;

    words_init(&lines);
    rc = words_parse(text, "\n", WORDS_EMPTY, &lines, e);
    for (size_t i = 0; rc == 0 && i < lines.n; i++) {
        r->line = (int)i + 1;
        lines.w[i][strcspn(lines.w[i], "#")] = '\0';
        words_init(&w);
        rc = words_parse(lines.w[i], " \t\r", WORDS_PLAIN, &w, e);
        if (rc == 0 && w.n > 0)
            rc = take_row(r, &w, e);
        words_fini(&w);
    }
    words_fini(&lines);
    return rc;
}

/* Sums of used amounts from the leaves up. */
static void sum_up(struct share *s)
{
    if (!s->child)
        return;
    s->used = 0;
    for (struct share *c = s->child; c; c = c->next) {
        sum_up(c);
        s->used += c->used;
    }
}

/* Every entity loses its place; leaves keep what they have used. */
static void uproot(struct fairshare *f)
{
    for (struct share *s = f->all; s; s = s->hh.next) {
        if (s->child)
            s->used = 0;
        s->child = s->last = s->next = s->group = NULL;
        s->sum = 0;
        s->expected = 0;
    }
    f->is_expected = false;
}

static void plant_rows(struct fairshare *f, const struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct fairshare_row *x = &r->a[i];
        struct share *s = fairshare_find(f, x->name);
        if (!s)
            s = fairshare_make(f, x->name, x->number);
        s->number = x->number;
        hang(s, x->group_row < 0 ? f->root : fairshare_find(f, x->group), x->shares);
    }
}

/* An entity that the new tree leaves out goes below unknown, with its usage: jobs have its address. */
int fairshare_plant(struct fairshare *f, const char *text, int64_t unknown_shares, struct err *e)
{
    struct rows r = {0};
    int rc = fairshare_read_rows(&r, text, e);

    if (rc == 0) {
        uproot(f);
        plant_rows(f, &r);
        hang(f->unknown, f->root, unknown_shares);
        for (struct share *s = f->all; s; s = s->hh.next)
            if (!s->group && s != f->root) {
                s->number = FAIRSHARE_NO_NUMBER;
                hang(s, f->unknown, 1);
            }
        share_out(f->root);
        sum_up(f->root);
    }
    rows_fini(&r);
    return rc;
}

/* --- usage ------------------------------------------------------------------------------------------- */

/* Up the path, so that a group's sum is right after every change. */
static void fairshare_add(struct share *s, double amount)
{
    for (; s; s = s->group)
        s->used += amount;
}

void fairshare_use(struct share *s, double amount)
{
    fairshare_add(s, amount);
    s->unsaved += amount;
}

void fairshare_set(struct share *s, double usage)
{
    fairshare_add(s, (usage > 1 ? usage - 1 : 0) - s->used);
}

/* Usage fades to 1 and not below. What is not saved fades with it, as it is part of it. */
void fairshare_decay(struct fairshare *f, double factor)
{
    for (struct share *s = f->all; s; s = s->hh.next)
        if (!s->child) {
            double usage = (s->used + 1) * factor;
            s->used = usage > 1 ? usage - 1 : 0;
            s->unsaved *= factor;
            s->saving *= factor;
        }
    sum_up(f->root);
}

void fairshare_trim(struct fairshare *f)
{
    for (struct share *s = f->unknown->child; s; s = s->next)
        fairshare_set(s, 1);
}

void fairshare_forget(struct fairshare *f)
{
    for (struct share *s = f->all; s; s = s->hh.next)
        s->used = 0;
}

void fairshare_expect(struct fairshare *f, struct share *s, double amount)
{
    for (; s; s = s->group)
        s->expected += amount;
    f->is_expected = true;
}

void fairshare_forget_expected(struct fairshare *f)
{
    if (!f->is_expected)
        return;
    for (struct share *s = f->all; s; s = s->hh.next)
        s->expected = 0;
    f->is_expected = false;
}

void fairshare_saving(struct fairshare *f)
{
    for (struct share *s = f->all; s; s = s->hh.next) {
        s->saving = s->unsaved;
        s->unsaved = 0;
    }
}

void fairshare_saved(struct fairshare *f, bool done)
{
    for (struct share *s = f->all; s; s = s->hh.next) {
        if (!done)
            s->unsaved += s->saving;
        s->saving = 0;
    }
}

void fairshare_add_unsaved(struct fairshare *f)
{
    for (struct share *s = f->all; s; s = s->hh.next)
        if (s->unsaved != 0)
            fairshare_add(s, s->unsaved);
}

/* --- looking ----------------------------------------------------------------------------------------- */

const char *fairshare_name(const struct share *s)
{
    return s->name;
}

int fairshare_number(const struct share *s)
{
    return s->number;
}

int fairshare_group_number(const struct share *s)
{
    return s->group ? s->group->number : FAIRSHARE_NO_NUMBER;
}

const struct share *fairshare_group(const struct share *s)
{
    return s->group;
}

int fairshare_depth(const struct share *s)
{
    return s->depth;
}

bool fairshare_is_leaf(const struct share *s)
{
    return !s->child;
}

int64_t fairshare_shares(const struct share *s)
{
    return s->shares;
}

double fairshare_usage(const struct share *s)
{
    return s->used + 1;
}

double fairshare_fraction(const struct share *s)
{
    return s->fraction;
}

static const struct share *root_of(const struct share *s)
{
    while (s->group)
        s = s->group;
    return s;
}

/* More than its fraction of what all have used together. */
bool fairshare_is_over(const struct share *s)
{
    return fairshare_usage(root_of(s)) * s->fraction < fairshare_usage(s);
}

/* Its own part of all usage, moved towards that of its group by its part of the group's shares. */
double fairshare_tree_usage(const struct share *s)
{
    double own = fairshare_usage(s) / fairshare_usage(root_of(s));

    if (!s->group || !s->group->group)
        return own;
    if (s->group->sum == 0)
        return own;
    return own + (fairshare_tree_usage(s->group) - own) * (double)s->shares / (double)s->group->sum;
}

double fairshare_factor(const struct share *s)
{
    return s->fraction > 0 ? pow(2, -fairshare_tree_usage(s) / s->fraction) : 0;
}

/* The smaller, the sooner. An entity without shares comes last. */
static double fairshare_due(const struct share *s)
{
    return s->fraction > 0 ? (s->used + s->expected + 1) / s->fraction : INFINITY;
}

static int fairshare_path_of(const struct share *s, const struct share *path[static FAIRSHARE_DEPTH_MAX + 2])
{
    int n = s->depth;

    for (int i = n; s; s = s->group)
        path[i--] = s;
    return n;
}

/* From the root down to where the paths part; there the groups, or leaves, are compared. */
int fairshare_compare(const struct share *a, const struct share *b)
{
    const struct share *pa[FAIRSHARE_DEPTH_MAX + 2], *pb[FAIRSHARE_DEPTH_MAX + 2];
    int na, nb;

    if (a == b)
        return 0;
    na = fairshare_path_of(a, pa);
    nb = fairshare_path_of(b, pb);
    for (int i = 1; i <= na && i <= nb; i++) {
        double x = pa[i] == pb[i] ? 0 : fairshare_due(pa[i]), y = pa[i] == pb[i] ? 0 : fairshare_due(pb[i]);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}
