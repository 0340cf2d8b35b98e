#ifndef CMD_H
#define CMD_H
/* What makes a command: a name, rows of options, a usage text and a function.
 *
 * cmds/ROOM/NAME.c defines one `const struct cmd command`; main.c is the same for all and hands it to cmd_main. An
 * option's `take` stores into the command's settings, which begin with a struct cmd_args. A bad value is reported at
 * once by cmd_bad_value, so that one call shows all mistakes; run is then not called.
 *
 * A command does as little as it can before its one call: it opens no file, asks no resolver and loads no locale that
 * it does not need. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "err.h"
#include "options.h"

struct cmd {
    struct options options; /* .program is the command's name */
    const char *usage;      /* whole lines, for stderr */
    int usage_exit;         /* exit code of a bad command line: 2, or 1 for most commands of administrators */
    bool admin;             /* which words connection errors have (conn_pool.c) */
    size_t size;            /* bytes of its settings, which come zeroed and begin with a struct cmd_args */
    /* Do the work. operands is NULL-terminated. Return the exit code; 256 and above is a PBSE_ number. */
    int (*run)(void *settings, int n, char *operands[]);
    void (*fini)(void *settings); /* called at the end, also when run was not called; NULL: nothing to free */
};

struct cmd_args {
    const struct cmd *cmd;
    char **argv; /* the command line as it was typed, NULL at its end */
    int errors;  /* number of bad values */
};

extern const struct cmd command; /* of the program that this is linked into */

/* Parse the options, run the command, flush. `--version` as the only argument prints the version, `--help` the usage
 * and the options' sentences. Return what main returns. */
int cmd_main(const struct cmd *c, int argc, char *argv[]);

/* Print "NAME: illegal -X value", which scripts know, and what is allowed; count the error. Always return 0, so that
 * a `take` can end with it and the rest of the command line is still read. */
int cmd_bad_value(struct cmd_args *a, const struct option_row *row);

/* The two halves of cmd_bad_value, for a caller that prints something between them. */
void cmd_illegal_value(struct cmd_args *a, const struct option_row *row);
void cmd_hint_row(const struct option_row *row);

/* Print a hint for people, indented, on a line of its own after a message whose words are fixed. */
void cmd_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print "NAME: TEXT" on stderr. Return -1. */
int cmd_error(const struct cmd_args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Print the usage. Return the exit code that goes with it. */
int cmd_usage(const struct cmd_args *a);

/* Options that do not go together, a row each; a command gives each option that matters a bit. A rule is broken when every option of `all`
 * is given, one of `any` and two of `two` (0: not asked), and none of `none`. */
struct cmd_rule {
    unsigned all, any, two, none;
    const char *text;
};
/* The text of the first rule that these options break, or NULL. */
const char *cmd_rule_broken(const struct cmd_rule *rules, size_t n, unsigned given);

static inline const char *cmd_name(const struct cmd_args *a)
{
    return a->cmd->options.program;
}

/* `take` functions for the simplest options. row->id is the offset of the field in the settings. */
int cmd_take_flag(void *settings, const struct option_row *row, const char *value, struct err *e); /* bool */
int cmd_take_text(void *settings, const struct option_row *row, const char *value,
                  struct err *e); /* const char * */

/* -F json or -F default, in any case: a bool, "is a document wanted". */
int cmd_take_format(void *settings, const struct option_row *row, const char *value, struct err *e);

#define CMD_FLAG(letter, type, field, help)                                                                  \
    {                                                                                                        \
        letter, NULL, OPTION_ALONE, NULL, help, cmd_take_flag, (int)offsetof(type, field)                    \
    }
#define CMD_TEXT(letter, type, field, value, help)                                                           \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, cmd_take_text, (int)offsetof(type, field)                   \
    }
#define CMD_FORMAT(type, field)                                                                              \
    {                                                                                                        \
        'F', NULL, OPTION_VALUE, "json|default", "json: a document", cmd_take_format,                        \
            (int)offsetof(type, field)                                                                       \
    }
#define CMD_ROWS(rows) .rows = rows, .n_rows = sizeof rows / sizeof rows[0]

#endif
