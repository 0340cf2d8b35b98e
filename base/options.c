/* A program's command line as rows: see options.h.
 *
 * Operands are moved behind the options by rotating argv, so the order of both stays. Nothing is copied:
 * values are the words of argv, or what follows a letter or = in them. */
#include "options.h"

#include <errno.h>
#include <stdbool.h>

#include "strbuf.h"
#include "words.h"

enum { USAGE_WIDTH = 78 };

struct options_scan {
    const struct options *o;
    char **argv;
    int argc, at; /* the word looked at */
    void *context;
    struct err *e;
};

static const struct option_row *find_letter(const struct options *o, char letter)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i].letter == letter)
            return &o->rows[i];
    return NULL;
}

static const struct option_row *find_name(const struct options *o, const char *name, size_t n)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i].name && !strncmp(o->rows[i].name, name, n) && !o->rows[i].name[n])
            return &o->rows[i];
    return NULL;
}

/* An error of the row gets the option as it was written in front of it. */
static int options_take(struct options_scan *s, const struct option_row *row, const char *value,
                        const char *shown, size_t n)
{
    if (row->take(s->context, row, value, s->e) == 0)
        return 0;
    return err_prefix(s->e, "option %.*s", (int)n, shown);
}

/* The next word as a value, or NULL with e. */
static const char *next_word(struct options_scan *s, const char *shown, size_t n)
{
    if (s->at + 1 < s->argc)
        return s->argv[++s->at];
    err_set(s->e, EINVAL, "option %.*s needs a value", (int)(n < 60 ? n : 60), shown);
    return NULL;
}

static int options_take_long(struct options_scan *s)
{
    const char *word = s->argv[s->at];
    size_t n = strcspn(word, "=");
    const struct option_row *row = find_name(s->o, word + 2, n - 2);
    const char *value = word[n] ? word + n + 1 : NULL;

    if (!row)
        return err_set(s->e, EINVAL, "there is no option %.*s", (int)(n < 60 ? n : 60), word);
    if (row->takes == OPTION_ALONE && value)
        return err_set(s->e, EINVAL, "option %.*s takes no value", (int)n, word);
    if (row->takes == OPTION_VALUE && !value && !(value = next_word(s, word, n)))
        return -1;
    return options_take(s, row, value, word, n);
}

/* Letters may be joined; the first that takes a value takes the rest of the word. */
static int options_take_letters(struct options_scan *s)
{
    const char *p = s->argv[s->at] + 1;

    for (; *p; p++) {
        const struct option_row *row = find_letter(s->o, *p);
        char shown[3] = {'-', *p, '\0'};
        const char *value;

        if (!row)
            return err_set(s->e, EINVAL, "there is no option %s", shown);
        if (row->takes == OPTION_VALUE) {
            value = p[1] ? p + 1 : next_word(s, shown, 2);
            return value ? options_take(s, row, value, shown, 2) : -1;
        }
        if (options_take(s, row, NULL, shown, 2) < 0)
            return -1;
    }
    return 0;
}

/* Move words [from, to) in front of the `n` operands before them. */
static void move_before(char **argv, int from, int to, int n)
{
    for (; from < to; from++) {
        char *word = argv[from];

        memmove(argv + from - n + 1, argv + from - n, (size_t)n * sizeof *argv);
        argv[from - n] = word;
    }
}

static bool is_operand(const char *word)
{
    return word[0] != '-' || !word[1];
}

int options_parse(const struct options *o, int argc, char *argv[], int *first, void *context, struct err *e)
{
    struct options_scan s = {.o = o, .argv = argv, .argc = argc, .at = 1, .context = context, .e = e};
    int operands = 0; /* seen so far; they are right before argv[s.at] */

    for (; s.at < argc; s.at++) {
        int from = s.at, rc;
        bool last = !strcmp(argv[from], "--");

        if (is_operand(argv[from])) {
            if (o->order == OPTIONS_FIRST)
                break;
            operands++;
            continue;
        }
        if (last && operands && o->dashes_first)
            return err_set(s.e, EINVAL, "\"--\" is not allowed behind \"%.100s\"", argv[from - 1]);
        rc = last ? 0 : argv[from][1] == '-' ? options_take_long(&s) : options_take_letters(&s);
        if (rc < 0)
            return -1;
        move_before(argv, from, s.at + 1, operands);
        if (last) {
            s.at++;
            break;
        }
    }
    *first = s.at - operands;
    return 0;
}

/* As a command line of its own, in which only options may be. */
int options_parse_text(const struct options *o, const char *text, void *context, struct err *e)
{
    struct options anywhere = *o;
    struct words l;
    int first, rc;

    words_init(&l);
    rc = words_add(&l, o->program, e);
    if (rc == 0)
        rc = words_parse(text, " \t\r\n", WORDS_QUOTES | WORDS_BACKSLASH, &l, e);
    anywhere.order = OPTIONS_FIRST;
    if (rc == 0)
        rc = options_parse(&anywhere, (int)l.n, l.w, &first, context, e);
    if (rc == 0 && (size_t)first < l.n)
        rc = err_set(e, EINVAL, "\"%.100s\" is not an option", l.w[first]);
    words_fini(&l);
    return rc;
}

/* --- usage --- */

/* Add a piece, on a new line if it would pass the width. */
static void add_piece(struct strbuf *out, size_t *line_start, const char *piece)
{
    if (out->len - *line_start + 1 + strlen(piece) > USAGE_WIDTH) {
        strbuf_add(out, "\n       ");
        *line_start = out->len - 7;
    }
    strbuf_addf(out, " %s", piece);
}

static const char *options_value_of(const struct option_row *row)
{
    return row->takes == OPTION_ALONE ? "" : row->value ? row->value : "value";
}

static void options_name_of(const struct option_row *row, struct strbuf *out)
{
    const char *gap = row->takes == OPTION_ALONE ? "" : row->letter ? " " : "=";

    if (row->letter)
        strbuf_addf(out, "-%c%s%s", row->letter, gap, options_value_of(row));
    else
        strbuf_addf(out, "--%s%s%s", row->name, gap, options_value_of(row));
}

static void add_help(const struct options *o, struct strbuf *out, struct strbuf *piece)
{
    for (size_t i = 0; i < o->n_rows; i++) {
        const struct option_row *row = &o->rows[i];

        if (!row->help)
            continue;
        strbuf_reset(piece);
        options_name_of(row, piece);
        if (row->letter && row->name)
            strbuf_addf(piece, ", --%s", row->name);
        strbuf_addf(out, "  %-24s  %s\n", strbuf_str(piece), row->help);
    }
}

/* The options in the order of their rows, folded at USAGE_WIDTH. */
int options_usage(const struct options *o, struct strbuf *out)
{
    size_t line_start = out->len;
    struct strbuf piece;

    strbuf_init(&piece, 1000);
    strbuf_addf(out, "usage: %s", o->program);
    for (size_t i = 0; i < o->n_rows; i++) {
        strbuf_reset(&piece);
        strbuf_add_char(&piece, '[');
        options_name_of(&o->rows[i], &piece);
        strbuf_add_char(&piece, ']');
        add_piece(out, &line_start, strbuf_str(&piece));
    }
    if (o->operands && *o->operands)
        add_piece(out, &line_start, o->operands);
    strbuf_add_char(out, '\n');
    add_help(o, out, &piece);
    strbuf_fini(&piece);
    return strbuf_ok(out) ? 0 : -1;
}
