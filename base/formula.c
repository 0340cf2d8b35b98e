/* Expressions. See formula.h.
 *
 * The parser descends by precedence, one function a level, and leaves a tree of nodes in one array; a node
 * names its parts by index. The binary operators of one level are rows of a table, so a level is a loop
 * over its rows. Depth is bounded while parsing, so evaluation may recurse.
 *
 * An error while parsing is told once, the first; from then on nodes are NONE and every level returns. An
 * error while evaluating is kept in the run, and the values that follow are 0: so no function returns two
 * things. */
#include "formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DEPTH_MAX keeps the recursion far below the stack of a thread; a formula that a person writes nests less than ten deep. */
enum { DEPTH_MAX = 100, NODES_MAX = FORMULA_TEXT_MAX, ARGS_MAX = 16, NONE = -1 };

enum op {
    OP_NUMBER,
    OP_NAME,
    OP_NEGATE,
    OP_NOT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_FLOOR_DIV,
    OP_MOD,
    OP_POWER,
    OP_LESS,
    OP_MORE,
    OP_NOT_MORE,
    OP_NOT_LESS,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_AND,
    OP_OR,
    OP_IF,
    OP_CALL
};

/* One part of the tree. What a, b and c are follows from op. */
struct formula_node {
    enum op op;
    double number;
    int a, b, c; /* parts; of a call: its first argument; of a name: its index */
    int next;    /* of an argument: the one behind it */
    int fn;
};

struct formula {
    struct formula_node *nodes;
    int n, root;
    const char *names[FORMULA_NAMES_MAX];
    size_t n_names;
};

struct parser {
    struct formula *f;
    const char *text, *at;
    int depth;
    struct err *e;
    bool failed;
};

/* --- functions --------------------------------------------------------------------------------------- */

static double formula_f_min(const double *a, int n)
{
    double x = a[0];

    for (int i = 1; i < n; i++)
        x = a[i] < x ? a[i] : x;
    return x;
}
static double formula_f_max(const double *a, int n)
{
    double x = a[0];

    for (int i = 1; i < n; i++)
        x = a[i] > x ? a[i] : x;
    return x;
}
/* Halves go to the even neighbour, as Python rounds. */
static double formula_f_round(const double *a, int n)
{
    double scale = n > 1 ? pow(10, a[1]) : 1;

    return nearbyint(a[0] * scale) / scale;
}
static double formula_f_log(const double *a, int n)
{
    return n > 1 ? log(a[0]) / log(a[1]) : log(a[0]);
}
static double formula_f_bool(const double *a, int n)
{
    return a[0] != 0;
}
static double formula_f_same(const double *a, int n)
{
    return a[0];
}
static double formula_f_degrees(const double *a, int n)
{
    return a[0] * 180 / M_PI;
}
static double formula_f_radians(const double *a, int n)
{
    return a[0] * M_PI / 180;
}

#define ONE(name, ...)                                                                                       \
    {                                                                                                        \
#name, 1, 1, .one = __VA_ARGS__                                                                      \
    }
#define TWO(name, ...)                                                                                       \
    {                                                                                                        \
#name, 2, 2, .two = __VA_ARGS__                                                                      \
    }
static const struct function {
    const char *name;
    int least, most; /* arguments */
    double (*one)(double);
    double (*two)(double, double);
    double (*any)(const double *a, int n);
} functions[] = {
    ONE(sqrt, sqrt),
    ONE(exp, exp),
    ONE(log10, log10),
    ONE(log2, log2),
    ONE(log1p, log1p),
    ONE(expm1, expm1),
    ONE(floor, floor),
    ONE(ceil, ceil),
    ONE(trunc, trunc),
    ONE(int, trunc),
    ONE(fabs, fabs),
    ONE(abs, fabs),
    ONE(sin, sin),
    ONE(cos, cos),
    ONE(tan, tan),
    ONE(asin, asin),
    ONE(acos, acos),
    ONE(atan, atan),
    ONE(sinh, sinh),
    ONE(cosh, cosh),
    ONE(tanh, tanh),
    ONE(asinh, asinh),
    ONE(acosh, acosh),
    ONE(atanh, atanh),
    ONE(erf, erf),
    ONE(erfc, erfc),
    ONE(gamma, tgamma),
    ONE(lgamma, lgamma),
    TWO(pow, pow),
    TWO(fmod, fmod),
    TWO(atan2, atan2),
    TWO(hypot, hypot),
    TWO(copysign, copysign),
    {"min", 1, ARGS_MAX, .any = formula_f_min},
    {"max", 1, ARGS_MAX, .any = formula_f_max},
    {"round", 1, 2, .any = formula_f_round},
    {"log", 1, 2, .any = formula_f_log},
    {"bool", 1, 1, .any = formula_f_bool},
    {"float", 1, 1, .any = formula_f_same},
    {"degrees", 1, 1, .any = formula_f_degrees},
    {"radians", 1, 1, .any = formula_f_radians},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", M_PI}, {"e", M_E}, {"True", 1}, {"False", 0}};

/* --- reading ----------------------------------------------------------------------------------------- */

/* The first error stays, with the place at which it was seen. */
static int formula_fail(struct parser *p, int code, const char *what)
{
    if (!p->failed)
        (void)err_set(p->e, code, "%s at character %d: \"%.40s\"", what, (int)(p->at - p->text) + 1, p->at);
    p->failed = true;
    return NONE;
}

static int formula_add(struct parser *p, struct formula_node x)
{
    if (p->failed)
        return NONE;
    if (p->f->n >= NODES_MAX)
        return formula_fail(p, E2BIG, "it is too long");
    x.next = NONE;
    p->f->nodes[p->f->n] = x;
    return p->f->n++;
}

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool formula_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A sign, or a word that ends there. */
static bool formula_take(struct parser *p, const char *token)
{
    size_t n = strlen(token);

    skip(p);
    if (strncmp(p->at, token, n) != 0 || (formula_is_word(*token) && formula_is_word(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static int parse_choice(struct parser *p);
static int formula_parse_unary(struct parser *p);

/* Each name once: values are asked for by index. */
static int find_name(struct parser *p, const char *word)
{
    struct formula *f = p->f;

    for (size_t i = 0; i < f->n_names; i++)
        if (strcmp(f->names[i], word) == 0)
            return (int)i;
    if (f->n_names == FORMULA_NAMES_MAX)
        return formula_fail(p, E2BIG, "too many names");
    f->names[f->n_names] = strdup(word);
    if (!f->names[f->n_names])
        return formula_fail(p, ENOMEM, "no memory");
    return (int)f->n_names++;
}

/* Behind "WORD(". Arguments hang together by `next`, since nodes have three places only. */
static int parse_call(struct parser *p, const char *word)
{
    int fn = 0, n = 0, first = NONE, last = NONE;

    while (fn < N_FUNCTIONS && strcmp(functions[fn].name, word) != 0)
        fn++;
    if (fn == N_FUNCTIONS)
        return formula_fail(p, EINVAL, "there is no such function before this");
    while (!formula_take(p, ")")) {
        if (n > 0 && !formula_take(p, ","))
            return formula_fail(p, EINVAL, "a comma or ) is missing");
        int arg = parse_choice(p);
        if (arg == NONE)
            return NONE;
        if (last == NONE)
            first = arg;
        else
            p->f->nodes[last].next = arg;
        last = arg;
        n++;
    }
    if (n < functions[fn].least || n > functions[fn].most)
        return formula_fail(p, EINVAL, "a function has too few or too many arguments before this");
    return formula_add(p, (struct formula_node){.op = OP_CALL, .fn = fn, .a = first});
}

/* A reserved word cannot be a value; then a call, a constant, or a name whose value is asked for. */
static int parse_word(struct parser *p)
{
    static const char *const reserved[] = {"and", "or", "not", "if", "else"};
    char word[256];
    size_t n = 0;

    while (formula_is_word(p->at[n]))
        n++;
    if (n >= sizeof word)
        return formula_fail(p, E2BIG, "a name is too long");
    memcpy(word, p->at, n);
    word[n] = '\0';
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(reserved[i], word) == 0)
            return formula_fail(p, EINVAL, "a value is missing");
    p->at += n;
    if (formula_take(p, "("))
        return parse_call(p, word);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(constants[i].name, word) == 0)
            return formula_add(p, (struct formula_node){.op = OP_NUMBER, .number = constants[i].value});
    return formula_add(p, (struct formula_node){.op = OP_NAME, .a = find_name(p, word)});
}

/* A number, a word, or something in brackets. */
static int parse_atom(struct parser *p)
{
    char *end;

    skip(p);
    if (formula_take(p, "(")) {
        int inner = parse_choice(p);
        return inner != NONE && !formula_take(p, ")") ? formula_fail(p, EINVAL, "a ) is missing") : inner;
    }
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1]))) {
        double number = strtod(p->at, &end);
        p->at = end;
        return formula_is_word(*end) || !isfinite(number)
                   ? formula_fail(p, EINVAL, "a number is malformed")
                   : formula_add(p, (struct formula_node){.op = OP_NUMBER, .number = number});
    }
    return formula_is_word(*p->at) ? parse_word(p) : formula_fail(p, EINVAL, "a value is missing");
}

/* Binds tighter than a sign before it, looser than one behind it: -2**-2 is -(2**(-2)). */
static int parse_power(struct parser *p)
{
    int left = parse_atom(p);

    if (left == NONE || !formula_take(p, "**"))
        return left;
    int right = formula_parse_unary(p);
    return formula_add(p, (struct formula_node){.op = OP_POWER, .a = left, .b = right});
}

static int formula_parse_unary(struct parser *p)
{
    int inner;

    if (++p->depth > DEPTH_MAX)
        return formula_fail(p, E2BIG, "it is too deep");
    if (formula_take(p, "-")) {
        inner = formula_parse_unary(p);
        inner = formula_add(p, (struct formula_node){.op = OP_NEGATE, .a = inner});
    } else if (formula_take(p, "+"))
        inner = formula_parse_unary(p);
    else
        inner = parse_power(p);
    p->depth--;
    return inner;
}

struct sign {
    const char *text;
    enum op op;
};
/* A longer sign comes before the signs that it begins with. */
static const struct sign products[] = {
    {"//", OP_FLOOR_DIV}, {"*", OP_MUL}, {"/", OP_DIV}, {"%", OP_MOD}, {NULL, 0}};
static const struct sign sums[] = {{"+", OP_ADD}, {"-", OP_SUB}, {NULL, 0}};
static const struct sign comparisons[] = {
    {"<=", OP_NOT_MORE}, {">=", OP_NOT_LESS}, {"==", OP_EQUAL}, {"!=", OP_UNEQUAL},
    {"<", OP_LESS},      {">", OP_MORE},      {NULL, 0}};

static const struct sign *take_sign(struct parser *p, const struct sign *row)
{
    for (; row->text; row++)
        if (formula_take(p, row->text))
            return row;
    return NULL;
}

/* Left to right: a - b - c is (a - b) - c. */
static int parse_row(struct parser *p, const struct sign *row, int (*below)(struct parser *p))
{
    const struct sign *sign;
    int left = below(p);

    while (left != NONE && (sign = take_sign(p, row)) != NULL) {
        int right = below(p);
        left = formula_add(p, (struct formula_node){.op = sign->op, .a = left, .b = right});
    }
    return left;
}

static int formula_parse_product(struct parser *p)
{
    return parse_row(p, products, formula_parse_unary);
}

static int parse_sum(struct parser *p)
{
    return parse_row(p, sums, formula_parse_product);
}

/* a < b < c is a < b and b < c. */
static int parse_comparison(struct parser *p)
{
    const struct sign *sign;
    int left = parse_sum(p), all = NONE;

    while (left != NONE && (sign = take_sign(p, comparisons)) != NULL) {
        int right = parse_sum(p);
        int one = formula_add(p, (struct formula_node){.op = sign->op, .a = left, .b = right});
        all = all == NONE ? one : formula_add(p, (struct formula_node){.op = OP_AND, .a = all, .b = one});
        left = right;
    }
    return left == NONE ? NONE : all == NONE ? left : all;
}

static int formula_parse_not(struct parser *p)
{
    int inner;

    if (!formula_take(p, "not"))
        return parse_comparison(p);
    if (++p->depth > DEPTH_MAX)
        return formula_fail(p, E2BIG, "it is too deep");
    inner = formula_parse_not(p);
    p->depth--;
    return formula_add(p, (struct formula_node){.op = OP_NOT, .a = inner});
}

static int formula_parse_and(struct parser *p)
{
    static const struct sign row[] = {{"and", OP_AND}, {NULL, 0}};

    return parse_row(p, row, formula_parse_not);
}

static int parse_or(struct parser *p)
{
    static const struct sign row[] = {{"or", OP_OR}, {NULL, 0}};

    return parse_row(p, row, formula_parse_and);
}

/* X if C else Y, right to left, as in Python. */
static int parse_choice(struct parser *p)
{
    int yes, condition, no;

    if (++p->depth > DEPTH_MAX)
        return formula_fail(p, E2BIG, "it is too deep");
    yes = parse_or(p);
    if (yes != NONE && formula_take(p, "if")) {
        condition = parse_or(p);
        if (condition != NONE && !formula_take(p, "else"))
            return formula_fail(p, EINVAL, "an else is missing");
        no = parse_choice(p);
        yes = formula_add(p, (struct formula_node){.op = OP_IF, .a = condition, .b = yes, .c = no});
    }
    p->depth--;
    return yes;
}

static void parse_all(struct parser *p)
{
    p->f->root = parse_choice(p);
    skip(p);
    if (!p->failed && *p->at)
        formula_fail(p, EINVAL, "it should end");
}

struct formula *formula_parse(const char *text, struct err *e)
{
    struct parser p = {.text = text, .at = text, .e = e};

    if (strlen(text) > FORMULA_TEXT_MAX) {
        (void)err_set(e, E2BIG, "a formula has at most %d characters", FORMULA_TEXT_MAX);
        return NULL;
    }
    p.f = calloc(1, sizeof *p.f);
    if (p.f) /* each node has a character of its own */
        p.f->nodes = calloc(2 * strlen(text) + 1, sizeof *p.f->nodes);
    if (!p.f || !p.f->nodes)
        (void)formula_fail(&p, ENOMEM, "no memory");
    else
        parse_all(&p);
    if (!p.failed)
        return p.f;
    formula_destroy(p.f);
    return NULL;
}

void formula_destroy(struct formula *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_names; i++)
        free((char *)(uintptr_t)f->names[i]);
    free(f->nodes);
    free(f);
}

size_t formula_names(const struct formula *f, const char *const **names)
{
    *names = f->names;
    return f->n_names;
}

/* --- evaluating -------------------------------------------------------------------------------------- */

struct run {
    const struct formula *f;
    formula_value_fn *value;
    void *arg;
    const char *wrong; /* NULL: nothing so far */
};

static double wrong(struct run *r, const char *why)
{
    if (!r->wrong)
        r->wrong = why;
    return 0;
}

static double eval(struct run *r, int at);

/* Errors of the C library show as values that are not finite. */
static double eval_call(struct run *r, const struct formula_node *x)
{
    const struct function *fn = &functions[x->fn];
    double a[ARGS_MAX] = {0}, out;
    int n = 0;

    for (int at = x->a; at != NONE; at = r->f->nodes[at].next)
        a[n++] = eval(r, at);
    if (r->wrong)
        return 0;
    out = fn->one ? fn->one(a[0]) : fn->two ? fn->two(a[0], a[1]) : fn->any(a, n);
    return isfinite(out) ? out : wrong(r, "math domain error");
}

/* As Python divides: // and % go towards minus infinity. */
static double divide(struct run *r, enum op op, double a, double b)
{
    if (b == 0)
        return wrong(r, "division by zero");
    if (op == OP_DIV)
        return a / b;
    return op == OP_FLOOR_DIV ? floor(a / b) : a - b * floor(a / b);
}

static double eval_two(struct run *r, const struct formula_node *x)
{
    double a = eval(r, x->a), b = eval(r, x->b);

    if (r->wrong)
        return 0;
    switch ((int)x->op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_POWER:
        return pow(a, b);
    case OP_LESS:
        return a < b;
    case OP_MORE:
        return a > b;
    case OP_NOT_MORE:
        return a <= b;
    case OP_NOT_LESS:
        return a >= b;
    case OP_EQUAL:
        return a == b;
    case OP_UNEQUAL:
        return a != b;
    }
    return divide(r, x->op, a, b);
}

static double eval(struct run *r, int at)
{
    const struct formula_node *x = &r->f->nodes[at];
    double a;

    if (r->wrong)
        return 0;
    switch ((int)x->op) {
    case OP_NUMBER:
        return x->number;
    case OP_NAME:
        return r->value(r->arg, (size_t)x->a);
    case OP_NEGATE:
        return -eval(r, x->a);
    case OP_NOT:
        return eval(r, x->a) == 0;
    case OP_AND:
        a = eval(r, x->a);
        return a == 0 ? a : eval(r, x->b);
    case OP_OR:
        a = eval(r, x->a);
        return a != 0 ? a : eval(r, x->b);
    case OP_IF:
        return eval(r, eval(r, x->a) != 0 ? x->b : x->c);
    case OP_CALL:
        return eval_call(r, x);
    }
    a = eval_two(r, x);
    return isfinite(a) ? a : wrong(r, "Result too large");
}

/* A value of the caller's may not be finite either. */
int formula_eval(const struct formula *f, formula_value_fn *value, void *arg, double *out, struct err *e)
{
    struct run r = {.f = f, .value = value, .arg = arg};
    double x = eval(&r, f->root);

    if (!r.wrong && !isfinite(x))
        wrong(&r, "a value is not finite");
    if (r.wrong)
        return err_set(e, EDOM, "%s", r.wrong);
    *out = x;
    return 0;
}
