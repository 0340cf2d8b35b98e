#ifndef QMGR_EDIT_H
#define QMGR_EDIT_H
/* Lines typed at a terminal: prompt, editing, completion by the tabulator key, history kept in ~/.pbs_qmgr_history. */
#include <stdio.h>

struct qmgr_edit;

/* ^ The names of all objects of a kind (enum mgr_obj), for the tabulator key. */
typedef void qmgr_edit_names_fn(void *arg, int object, void (*found)(void *to, const char *name), void *to);

/* NULL: no memory, or the terminal cannot be used. */
struct qmgr_edit *qmgr_edit_create(qmgr_edit_names_fn *names, void *arg);
void qmgr_edit_destroy(struct qmgr_edit *e); /* writes the history */

/* Read one line without its newline, borrowed until the next call; NULL: the end. "!n" has become line n of the
 * history; a wrong number gets a message, and the line is then "". */
const char *qmgr_edit_line(struct qmgr_edit *e, const char *prompt);

void qmgr_edit_history(struct qmgr_edit *e, FILE *f, int n); /* the last n lines; 0: all */

#endif
