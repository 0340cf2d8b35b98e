#ifndef QMGR_LINE_H
#define QMGR_LINE_H
/* One line of qmgr, parsed: command object [names] [attribute[.resource] OP value, ...].
 *
 * Commands and objects may be abbreviated; the first that fits in the order of the manual is meant. Pure: no server
 * is asked. */
#include <stddef.h>

#include "attrs.h"

/* Commands beside enum mgr_cmd. */
enum { QMGR_NOTHING = MGR_CMD_LAST + 1, QMGR_HELP, QMGR_QUIT, QMGR_HISTORY, QMGR_DIFF, QMGR_APPLY };

struct qmgr_name {
    char *name;   /* "": every object of that server */
    char *server; /* "": the active servers */
};

struct qmgr_line {
    int command; /* enum mgr_cmd, or one of the above; QMGR_NOTHING: a blank line or a comment */
    int object;  /* enum mgr_obj; MGR_OBJ_NONE: none */
    size_t n;    /* names; 0: the active ones */
    struct qmgr_name *names;
    struct attrs attrs;
    const char *rest; /* HELP, HISTORY, DIFF, APPLY: what follows; points into the line */
};

/* What is wrong with a line; the numbers are qmgr's exit codes for -n. */
enum qmgr_line_error_kind { QMGR_BAD_COMMAND = 1, QMGR_BAD_OBJECT, QMGR_BAD_NAME, QMGR_BAD_ATTRIBUTE };

struct qmgr_line_error {
    enum qmgr_line_error_kind kind;
    size_t at;      /* character of the line */
    char word[128]; /* the word that is wrong; "" it is missing */
};

/* Return 0, or -1 and *f; `out` is to be freed in both cases. */
int qmgr_line_parse(const char *line, struct qmgr_line *out, struct qmgr_line_error *f);
void qmgr_line_fini(struct qmgr_line *l);

/* "server", "queue", ... */
const char *qmgr_line_object(int object);

/* Return the meaning of a word of n characters, which may be abbreviated; -1: none. */
int qmgr_line_find_command(const char *word, size_t n);
int qmgr_line_find_object(const char *word, size_t n);

/* Call `fn` for each of them, with its value; of words with the same meaning for one. */
typedef void qmgr_line_word_fn(void *arg, const char *word, int value);
void qmgr_line_commands(qmgr_line_word_fn *fn, void *arg);
void qmgr_line_objects(qmgr_line_word_fn *fn, void *arg);

#endif
