/* Error texts by number: a table made from errors.def, indexed by the distance from PBSE_. See errors.h.
 *
 * The texts are those of PBS, with the blanks and colons at their ends, since commands print names behind them.
 * Numbers that have no row have no text. errors_set puts the client text in front of the caller's words, so that each
 * occurs once. */
#include "errors.h"

#include <stdbool.h>
#include <string.h>

struct errors_row {
    const char *name, *text;
};

static const struct errors_row rows[] = {
#define ERROR(name, text) [PBSE_##name - PBSE_] = {"PBSE_" #name, text},
#include "errors.def"
#undef ERROR
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const struct errors_row *errors_find(int code)
{
    static const struct errors_row none;
    int i = code - PBSE_;

    return i > 0 && i < N_ROWS ? &rows[i] : &none;
}

/* The texts end in blanks where commands print a name behind them; here they are trimmed into `out`. */
static const char *trimmed(const char *text, char *out, size_t size)
{
    size_t n = strlen(text);

    while (n && text[n - 1] == ' ')
        n--;
    if (n && text[n - 1] == ':')
        n--;
    snprintf(out, size, "%.*s", (int)n, text);
    return out;
}

const char *errors_text(int code)
{
    return errors_find(code)->text;
}

int errors_set(struct err *e, int code, const char *fmt, ...)
{
    const char *text = errors_find(code)->text;
    char head[160];
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return text ? err_prefix(e, "%s", trimmed(text, head, sizeof head)) : -1;
}

/* With these numbers the caller's words are the whole text. */
static bool has_own_words(int code)
{
    static const int codes[] = {PBSE_HOOKERROR,         PBSE_RESCUNAV, PBSE_NEEDQUET,
                                PBSE_FORCE_QSUB_UPDATE, PBSE_INTERNAL, PBSE_RESVAUTH_U};

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
}

void errors_complete(struct err *e)
{
    const char *text = errors_find(e->code)->text;
    char head[160];

    if (!text || has_own_words(e->code) || strchr(text, '%'))
        return;
    trimmed(text, head, sizeof head);
    if (!*e->text)
        err_set(e, e->code, "%s", text);
    else if (!strcasestr(e->text, head))
        err_prefix(e, "%s", head);
}
