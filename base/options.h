#ifndef OPTIONS_H
#define OPTIONS_H
/* A program's command line as rows.
 *
 * Letters as getopt reads them (-abc, -ovalue, -o value, -- ends options) and --long, --long=value, --long value. A
 * row says what it takes and what to do with it; the usage text is made from the rows too. Options are handled in the
 * order of the command line, each as often as it occurs. Nothing is printed here.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct strbuf;

enum option_takes {
    OPTION_ALONE, /* no value */
    OPTION_VALUE  /* a value must follow */
};

struct option_row {
    char letter;      /* 0: only the long form */
    const char *name; /* long form without --, or NULL */
    enum option_takes takes;
    const char *value; /* what the value is called in the usage: "destination"; NULL when ALONE */
    const char *help;  /* one line */
    /* Take it: `value` is NULL when ALONE and lives as long as argv; `context` is the caller's. -1 stops. */
    int (*take)(void *context, const struct option_row *row, const char *value, struct err *e);
    int id; /* the caller's own, for rows that share one `take` */
};

enum options_order {
    OPTIONS_ANYWHERE, /* operands and options may be mixed */
    OPTIONS_FIRST     /* the first operand ends the options (pbsdsh program args) */
};

struct options {
    const char *program;  /* for texts: "qsub" */
    const char *operands; /* for the usage: "[script | -- command args]" */
    const struct option_row *rows;
    size_t n_rows;
    enum options_order order;
    bool dashes_first; /* "--" behind an operand is refused: what follows it would not be that operand's */
};

/* Handle all options of argv[1..]. Operands are moved to the end of argv, in order; *first is the index of
 * the first of them, argc if none. A lone "-" is an operand. -1: EINVAL unknown option, value missing or not
 * wanted (the text names it), "--" behind an operand, or whatever a `take` said, prefixed with the option. */
int options_parse(const struct options *o, int argc, char *argv[], int *first, void *context, struct err *e);

/* The same for options in a text, as "#PBS -l ncpus=2 -N x" has them: operands are an error (EINVAL), and so is a bad
 * quote. */
int options_parse_text(const struct options *o, const char *text, void *context, struct err *e);

/* "usage: qsub [-a date] [-I] ... operands", broken at 78 columns, then one line of help a row. */
int options_usage(const struct options *o, struct strbuf *out);

#endif
